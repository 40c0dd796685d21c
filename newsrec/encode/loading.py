"""Loading a transformers model without noise, and with its doubts turned into errors."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformers.utils import logging as transformers_logging

from newsrec.errors import ConfigError, DataError, MissingExtra, NewsrecError, one_line


@contextmanager
def loading(folder: Path) -> Iterator[LoadReport]:
    """Turn what the libraries raise while they load ``folder`` into one `DataError` (`ConfigError`
    for code that is not trusted, `MissingExtra` for a package that is not there), and keep their
    bars and tables off the screen."""
    log = logging.getLogger("transformers.modeling_utils")
    level = log.level
    report = LoadReport(log.getEffectiveLevel())
    log.addFilter(report)
    # The report is a warning, and must be made even where warnings are not shown. At a level of
    # its own of WARNING or more, transformers 5.23 also complains that nothing was sharded.
    log.setLevel(logging.INFO)
    try:
        with quiet():
            yield report
    except NewsrecError:
        raise
    except ImportError as error:
        # As of 2026 optimum-onnx 0.1 does not fit transformers 5, sentencepiece may be missing, …
        raise MissingExtra(
            f"{folder}: a package that this model or backend needs is missing or does not fit the "
            f"others: {one_line(error)}"
        ) from error
    except Exception as error:  # the libraries raise whatever they like for a broken folder
        if "trust_remote_code" in str(error):
            raise ConfigError(
                f"{folder}: the model runs Python code from this folder. Read it, then ask for it "
                "with --trust-remote-code (trust_remote_code=True)"
            ) from None
        raise DataError(f"{folder}: not loadable: {report.first() or one_line(error)}") from error
    finally:
        log.removeFilter(report)
        log.setLevel(level)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries' bars and warnings off the screen."""
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if bars:
            transformers_logging.enable_progress_bar()


class LoadReport(logging.Filter):
    """Reads transformers' load report, a table of ``weight | STATUS | why``.

    transformers only logs weights that a file lacks or has in another shape, and goes on with
    random ones.
    """

    def __init__(self, shown: int = logging.WARNING) -> None:
        super().__init__()
        self._shown = shown
        self._problems: dict[str, str] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        if "LOAD REPORT" not in said:
            return record.levelno >= self._shown
        for line in said.splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) > 1 and any(s in cells[1] for s in ("MISSING", "MISMATCH")):
                why = cells[2] if len(cells) > 2 and cells[2] else "not in the weights"
                self._problems[cells[0]] = why
        return False

    def first(self, *, pooler: bool = True) -> str:
        """The first weight that is not from the file, or ""; without ``pooler`` those of the
        model's own pooler do not matter."""
        for weight, why in self._problems.items():
            if pooler or not weight.startswith("pooler."):
                return f"{weight}: {why}"
        return ""
