"""``python -m newsrec.pipeline.stopwords DATA OUT``, what `scripts/make_stopwords` calls.

Stop words are words that many texts share whatever these are about: frequent in sources of several
kinds (news, encyclopedia, health, everyday sentences). What such a list still holds of meaning
(people, government, school) is taken out by hand in English, and by dictionary elsewhere.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from newsrec.cluster.words import clean, fold, scan, slight
from newsrec.files import atomic_file
from newsrec.text.groups import SOURCES

#: Source -> kind of text; SIB-200 is FLORES.
KINDS = {
    "ntrex": "news", "flores": "encyclopedia", "sib": "encyclopedia", "tico19": "health",
    "tatoeba": "everyday", "wmt": "more news", "mafand": "african news", "stsb": "captions",
    "headlines": "headlines", "guarani": "guarani", "haitian": "haitian",
}  # fmt: skip
_TEXTS = 2500  # of one language and kind
_FEWEST = 250
_SHARE = 0.001  # of the texts of a kind, in two kinds at least
_LONGEST = 240  # words looked at
_SURE = 45  # the most frequent words stay without a dictionary's word for it
_SURE_ALONE = 25  # the same where there is one kind of text only

#: Frequent everywhere and not empty: English, by hand.
_MEANINGFUL = """
    people world children going country government school national police life food water city
    house home health united states state student students social president public group team
    family work working living big night help high large small women men man best never
    president men eat food car money care real important political service law market business
    war party research university military court death market games game play won win media
    economic minister girl boy dog music book london china chinese american america european
    europe russia russian germany german england english british france french india indian
    africa africans african covid virus pandemic disease patients vaccine hospital medical study
    risk data information area areas land road sea island river earth north south east west
    street town village room education child mother father parents friend friends power energy
    leader leaders security killed died dead cases company companies industry player players
    season club football league person number system history language hospital body head hand
    hands eyes white black red young job jobs order problem problems story site animals summer
    winter record phone doctor english trump cause safe travel community age deal final attack
    victory ready cost tax news internet train plane ship ice snow tree white cat horse guitar
    beach bike field baseball soccer ball
"""
MEANINGFUL = frozenset(_MEANINGFUL.split())
#: The same in other languages, where the dictionaries did not say it. Vietnamese writes syllables
#: apart, so half of a word must not count as a particle.
MEANINGFUL_IN = {
    "amh": "ሰዎች ሰው ቤት ቡድን",
    "cmn": "美国 中国 国家 比赛 建立 努力 地区 工作 政府 公司 警方 生活 世界",
    "fil": "bansa tao taong",
    "grn": "tetã aty tapicha táva marandu",
    "hau": "mutane",
    "ibo": "ọrụ mmadụ ụlọ akwụkwọ akụkọ",
    "jpn": "試合 ドル 反対 米国 世界 警察 政府 大統領 仕事",
    "kat": "ქვეყანა ქვეყნის",
    "kaz": "жер жұмыс адам",
    "lit": "žmonių",
    "som": "dadka dad",
    "swh": "marekani nchi nchini kura watu serikali",
    "tam": "முடிவு மக்கள்",
    "tur": "abd",
    "vie": "thể chính thời tiếng hiện nhật bảo phần sáng tối tìm nhận tiếp kết kế cuối gian điều "
    "thế sao tự thường xem biết công quốc học",
    "yor": "ọmọ ilé",
    "zul": "abantu",
}
#: Function words that the sources may have too rarely: English, by hand; so are days and numbers.
_EMPTY = """
    i me my mine myself you your yours yourself he him his himself she her hers herself it its
    itself we us our ours they them their theirs themselves this that these those who whom whose
    which what when where why how am is are was were be been being have has had having do does
    did doing will would shall should can could may might must ought cannot can't don't didn't
    doesn't isn't wasn't won't wouldn't couldn't i'm it's that's a an the and or but nor so yet
    if because as until while of at by for with about against between into through during before
    after above below to from up down in out on off over under again further then once here
    there all any both each few more most other others some such no not only own same than too
    very just now also although though however since per via among amid within without across
    along around behind beside besides beyond despite except inside near onto outside toward
    towards upon whether either neither none nothing something anything everything someone
    anyone everyone everybody another every several many much less least rather quite almost
    already always often sometimes usually still even ever perhaps maybe instead therefore thus
    hence meanwhile later soon ago yesterday today tomorrow tonight monday tuesday wednesday
    thursday friday saturday sunday january february march april june july august september
    october november december day days week weeks month months year years hour hours minute
    minutes morning evening afternoon time times one two three four five six seven eight nine
    ten eleven twelve hundred hundreds thousand thousands million millions billion half first
    second third last next new old good great way ways thing things lot part said say says
    saying told tell tells asked ask asks according make makes made making get gets got getting
    go goes went gone come comes came take takes took taken give gives gave given use used uses
    using become becomes became keep kept let put see seen saw know known want wants need needs
    think thinks find found show shows called call seem seems including included like likely
    well back away together early late long short end start started began begin begins different
    possible able due whose yes mr mrs ms
"""
EMPTY = frozenset(_EMPTY.split())


def shares(data: Path) -> dict[str, tuple[tuple[str, ...], dict[str, list[float]]]]:
    """Language -> kinds of text, and for every word its share of the texts of each kind."""
    texts: dict[str, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for name, kind in KINDS.items():
        for group in SOURCES[name].load(data / SOURCES[name].folder):
            for language, text in group:
                seen = texts[language][kind]
                if len(seen) < _TEXTS:
                    seen[text] = None
    found = {}
    for language, by_kind in texts.items():
        enough = {kind: seen for kind, seen in by_kind.items() if len(seen) >= _FEWEST}
        if sum(map(len, enough.values())) >= 4 * _FEWEST:
            columns = [_shares(seen, language) for seen in enough.values()]
            keys = set().union(*columns)
            found[language] = (
                tuple(enough),
                {key: [column.get(key, 0.0) for column in columns] for key in keys},
            )
    return found


def _shares(texts: Mapping[str, None], language: str) -> dict[str, float]:
    count: Counter[str] = Counter()
    for text in texts:
        keys = {word.key for word in scan(clean(text), language, None, ())}
        count.update(key for key in keys if not slight(key))
    return {key: n / len(texts) for key, n in count.items()}


def everywhere(found: Mapping[str, list[float]]) -> list[str]:
    """The words frequent in all kinds of text, by the geometric mean of their shares."""
    common = {
        word: float(np.exp(np.log(np.array(row) + _SHARE / 5).mean()))
        for word, row in found.items()
        if sum(share >= _SHARE for share in row) >= min(2, len(row))
    }
    return sorted(common, key=lambda word: (-common[word], word))[:_LONGEST]


def dictionary(data: Path) -> dict[str, dict[str, set[str]]]:
    """Language -> word -> its English translations, all folded."""
    table: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in ("muse", "wiktionary"):
        for group in SOURCES[name].load(data / SOURCES[name].folder):
            sides = dict(group)
            english = fold(sides.pop("eng"), "eng")
            for language, word in sides.items():
                table[language][fold(clean(word), language)].add(english)
    return table


def derive(data: Path) -> dict[str, list[str]]:
    """Language -> stop words, the most frequent first."""
    translations = dictionary(data)
    table = {}
    for language, (kinds, found) in shares(data).items():
        ranked = everywhere(found)
        if language == "eng":
            kept = [word for word in ranked if word not in MEANINGFUL]
            table[language] = kept + sorted(EMPTY.difference(kept))
            continue
        known = translations.get(language, {})
        meaningful = set(MEANINGFUL_IN.get(language, "").split())
        sure = _SURE if len(kinds) > 1 else _SURE_ALONE
        table[language] = [
            word
            for i, word in enumerate(ranked)
            if word not in meaningful and _is_empty(known.get(word), i < sure)
        ]
    return dict(sorted(table.items()))


def _is_empty(english: set[str] | None, sure: bool) -> bool:
    if not english:
        return sure
    return not english & MEANINGFUL and (sure or bool(english & EMPTY))


def rows(table: Mapping[str, list[str]]) -> Iterator[str]:
    yield "# Stop words by language (ISO 639-3), frequent ones first: scripts/make_stopwords"
    for language, found in table.items():
        yield f"{language} {' '.join(found)}"


def main(arguments: list[str]) -> None:
    """Derive the lists from the folder ``arguments[0]``, write them to ``arguments[1]``."""
    data, out = map(Path, arguments)
    lines = "\n".join(rows(derive(data))) + "\n"
    with atomic_file(out) as file:
        file.write(lines.encode("utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:])
