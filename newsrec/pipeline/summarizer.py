"""Clusters with their summaries to a LoRA adapter, which ``--summarizer hf:FOLDER`` takes."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from newsrec.adapt.lora import Lora, Turn, finetune
from newsrec.cluster.summarise.frame import framed
from newsrec.cluster.summarise.local import chat_tokens, load_model, special_tokens
from newsrec.config import SummarizerConfig, load_summarizer
from newsrec.errors import DataError, NewsrecError
from newsrec.files import write_json
from newsrec.languages import canonical
from newsrec.types import Article


def train_summarizer(
    config: SummarizerConfig,
    train: Path,
    valid: Path,
    out: Path,
    *,
    seed: int = 0,
    device: str | None = None,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> float:
    """Fine-tune ``config.base_model`` and write the adapter to the folder ``out``.

    ``train`` and ``valid`` are JSONL, a line ``{"articles": [{"language": "fin", "title": …,
    "abstract": …, "body": …}, …], "summary": …, "language": "eng"}``. Examples are asked as
    summaries will be. Returns the lowest validation loss, in nats a token. Raises `DataError` with
    file and line.
    """
    tokenizer, model = load_model(config.base_model, device=device)
    special = special_tokens(tokenizer)

    def turns(path: Path) -> list[Turn]:
        found = []
        for articles, language, summary in read_examples(path):
            frame = framed(articles, language, task=config.task, special=special)
            answer = tokenizer(summary, add_special_tokens=False)["input_ids"]
            prompt = chat_tokens(tokenizer, frame.messages)
            found.append(Turn(tuple(prompt), (*answer, tokenizer.eos_token_id)))
        return found

    recipe = Lora(**config.lora.model_dump())
    best = finetune(
        model, turns(train), turns(valid), recipe, out,
        base=config.base_model, seed=seed, report=report,
    )  # fmt: skip
    said = {"config": config.model_dump(mode="json"), "seed": seed, "validation_loss": best}
    write_json(out / "recipe.json", said)
    return best


def read_examples(path: Path) -> list[tuple[list[Article], str, str]]:
    """Articles, language of the summary and summary of each line."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error})") from None
    found = [_example(line, f"{path}:{i}") for i, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise DataError(f"{path}: no examples, expected one JSON object a line")
    return found


def _example(line: str, where: str) -> tuple[list[Article], str, str]:
    try:
        value = json.loads(line)
        articles = [_article(row, one, where) for row, one in enumerate(value["articles"])]
        summary, language = value["summary"], value.get("language", "eng")
        if not articles or not isinstance(summary, str) or not summary.strip():
            raise ValueError("articles and summary must not be empty")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f'{where}: {type(error).__name__} {error}, expected {{"articles": [{{"language": '
            '"fin", "title": …, "abstract": …, "body": …}, …], "summary": …, "language": "eng"}'
        ) from None
    return articles, canonical(str(language), where), summary


def _article(row: int, fields: dict[str, Any], where: str) -> Article:
    parts = {key: fields.get(key) or "" for key in ("title", "abstract", "body")}
    if not all(isinstance(part, str) for part in parts.values()):
        raise TypeError(f"article {row}: title, abstract and body must be strings")
    return Article(row, canonical(str(fields["language"]), where), **parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line of `scripts/train_summarizer`."""
    about = "train the LoRA adapter of a summarizer"
    parser = argparse.ArgumentParser(prog="scripts/train_summarizer", description=about)
    parser.add_argument("--config", type=Path, default=Path("configs/summarizer_000.yaml"))
    parser.add_argument("--train", type=Path, required=True, help="JSONL of articles and summary")
    parser.add_argument("--valid", type=Path, required=True, help="the same, not trained on")
    parser.add_argument("--out", type=Path, required=True, help="the adapter's folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", help="cpu, cuda, cuda:1, …; default: CUDA where there is one")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    log = logging.getLogger("newsrec")
    try:
        train_summarizer(
            load_summarizer(given.config), given.train, given.valid, given.out,
            seed=given.seed, device=given.device,
            report=lambda step, loss: log.info("step %d: validation loss %.4f", step, loss),
        )  # fmt: skip
    except NewsrecError as error:
        parser.exit(error.exit_code, f"error: {error}\n")


if __name__ == "__main__":
    main()
