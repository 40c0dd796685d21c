"""Raw data in MIND's and xMIND's form, written for the tests; no text of any data set."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

ENTITY = '[{"Label": "Oslo", "Type": "G", "WikidataId": "Q585", "Confidence": 1.0}]'

NEWS = {
    "N1": 'N1\tsport\tski\t"Gold" on the last lap\tA sprint decided it.\thttps://x/1\t[]\t[]\n',
    "N2": f"N2\tnews\tcity\tTram line opens\tIt took ten years.\thttps://x/2\t{ENTITY}\t[]\n",
    "N3": f"N3\tnews\tcity\tRain until Friday\t\thttps://x/3\t[]\t{ENTITY}\n",
    "N4": "N4\tfood\tsoup\tA soup for March\tLeeks, cream.\thttps://x/4\t\t\n",
}
TRAIN = (
    "1\tU1\t11/13/2019 8:55:22 AM\tN1 N2\tN3-1 N4-0\n"
    "2\tU2\t11/13/2019 11:59:59 PM\t\tN3-0 N4-1\n"
    "3\tU1\t11/14/2019 12:00:00 AM\tN1 N2\tN1-0 N3-1\n"
)
DEV = "1\tU3\t11/15/2019 9:00:00 AM\tN4\tN1-1 N9-0\n2\tU2\t11/15/2019 9:30:00 AM\t\tN1-0 N2-1\n"
TEST = "1\tU1\t11/16/2019 9:00:00 AM\tN1\tN2 N4\n2\tU9\t11/17/2019 9:00:00 AM\t\tN2 N4\n"
FIN = "nid\ttitle\tabstract\nN1\tKultaa\tLoppukiri ratkaisi.\nN2\tRaitiotie avattiin\t\n"


def news(*ids: str) -> str:
    return "".join(NEWS[name] for name in ids)


def put(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write ``files``; a name that ends in ``.gz`` is compressed, ``a.zip!b`` is a member."""
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        archive, _, member = name.partition("!")
        path = root / archive
        path.parent.mkdir(parents=True, exist_ok=True)
        if member:
            with zipfile.ZipFile(path, "a") as zipped:
                zipped.writestr(member, data)
        elif name.endswith(".gz"):
            path.write_bytes(gzip.compress(data))
        else:
            path.write_bytes(data)
    return root


def mind(root: Path, **more: str | bytes) -> Path:
    """MINDsmall-shaped folders with train and dev."""
    files: dict[str, str | bytes] = {
        "MINDsmall_train/news.tsv": news("N1", "N2", "N3"),
        "MINDsmall_train/behaviors.tsv": TRAIN,
        "MINDsmall_dev/news.tsv": news("N1", "N4"),
        "MINDsmall_dev/behaviors.tsv": DEV,
    }
    return put(root, files | more)
