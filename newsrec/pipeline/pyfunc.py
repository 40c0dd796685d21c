"""A trained ranker as MLflow loads it: a script that MLflow keeps with the model and runs.

Nothing of newsrec imports it; `newsrec.track.save_pyfunc` says what it takes and returns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
from mlflow.models import set_model
from mlflow.pyfunc import PythonModel

from newsrec.errors import DataError
from newsrec.pipeline.scoring import Scorer


class RankerModel(PythonModel):  # type: ignore[misc]
    """Articles in, scores out; see `newsrec.pipeline.scoring.score_rows`."""

    def load_context(self, context: Any) -> None:
        """Open the ranker's folder and load its encoder."""
        given = context.model_config or {}
        self._scorer = Scorer.open(
            Path(context.artifacts["ranker"]),
            device=given.get("device"),
            trust_remote_code=bool(given.get("trust_remote_code")),
        )

    def predict(
        self, context: Any, model_input: pandas.DataFrame, params: dict[str, Any] | None = None
    ) -> list[list[float]]:
        """A list of scores for each row of ``history`` and ``candidates``."""
        table = pandas.DataFrame(model_input)
        for column in ("history", "candidates"):
            if column not in table:
                have = ", ".join(map(str, table.columns)) or "none"
                raise DataError(f"no column {column!r}, expected history and candidates; {have}")
        rows = list(zip(table["history"], table["candidates"], strict=True))
        return [scores.tolist() for scores in self._scorer.score_rows(rows)]


set_model(RankerModel())
