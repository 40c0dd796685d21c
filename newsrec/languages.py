"""Languages by ISO 639-3 code, with the aliases that data sets and newsrooms use.

Sits below the stages, beside the nouns, because both the door (corpus) and the training corpora
(text) read codes.
"""

from __future__ import annotations

from difflib import get_close_matches

from newsrec.errors import ConfigError, DataError

#: The 14 languages of xMIND, after English (Iana et al. 2024, "Mind Your Language").
XMIND = (
    "fin", "grn", "hat", "ind", "jpn", "kat", "cmn",
    "ron", "som", "swh", "tam", "tha", "tur", "vie",
)  # fmt: skip

# code: (639-1 or "", English name)
_TABLE = """
afr af Afrikaans|als - Tosk Albanian|amh am Amharic|arb ar Arabic|asm as Assamese|ast - Asturian
azj az Azerbaijani|bak ba Bashkir|bam bm Bambara|bel be Belarusian|ben bn Bengali|bod bo Tibetan
bos bs Bosnian|bre br Breton|bul bg Bulgarian|cat ca Catalan|ceb - Cebuano|ces cs Czech
ckb - Central Kurdish|cmn zh Mandarin Chinese|crh - Crimean Tatar|cym cy Welsh|dan da Danish
deu de German|div dv Dhivehi|ell el Greek|eng en English|epo eo Esperanto|est et Estonian
eus eu Basque|ewe ee Ewe|fao fo Faroese|fas fa Persian|fij fj Fijian|fil tl Filipino
fin fi Finnish|fra fr French|fry fy Western Frisian|fuv ff Fulfulde|gla gd Scottish Gaelic
gle ga Irish|glg gl Galician|grn gn Guarani|guj gu Gujarati|hat ht Haitian Creole|hau ha Hausa
haw - Hawaiian|heb he Hebrew|hin hi Hindi|hmn - Hmong|hrv hr Croatian|hun hu Hungarian
hye hy Armenian|ibo ig Igbo|ilo - Ilocano|ind id Indonesian|isl is Icelandic|ita it Italian
jav jv Javanese|jpn ja Japanese|kab - Kabyle|kal kl Greenlandic|kan kn Kannada|kat ka Georgian
kaz kk Kazakh|khm km Khmer|kin rw Kinyarwanda|kir ky Kyrgyz|kmr ku Northern Kurdish|kon kg Kongo
kor ko Korean|lao lo Lao|lat la Latin|lav lv Latvian|lin ln Lingala|lit lt Lithuanian
ltz lb Luxembourgish|lug lg Ganda|luo - Luo|mai - Maithili|mal ml Malayalam|mar mr Marathi
mkd mk Macedonian|mlt mt Maltese|mon mn Mongolian|mri mi Maori|msa ms Malay|mya my Burmese
nep ne Nepali|nld nl Dutch|nno nn Norwegian Nynorsk|nob nb Norwegian Bokmål|nor no Norwegian
nso - Northern Sotho|nya ny Chichewa|oci oc Occitan|orm om Oromo|ory or Odia|pan pa Punjabi
pcm - Nigerian Pidgin|plt mg Malagasy|pol pl Polish|por pt Portuguese|prs - Dari|pus ps Pashto
quy qu Quechua|roh rm Romansh|ron ro Romanian|run rn Rundi|rus ru Russian|sag sg Sango
san sa Sanskrit|sin si Sinhala|slk sk Slovak|slv sl Slovenian|sme se Northern Sami|smo sm Samoan
sna sn Shona|snd sd Sindhi|som so Somali|sot st Southern Sotho|spa es Spanish|sqi sq Albanian
srd sc Sardinian|srp sr Serbian|ssw ss Swati|sun su Sundanese|swe sv Swedish|swh sw Swahili
tam ta Tamil|tat tt Tatar|tel te Telugu|tgk tg Tajik|tha th Thai|tir ti Tigrinya|ton to Tongan
tsn tn Tswana|tso ts Tsonga|tuk tk Turkmen|tur tr Turkish|twi ak Twi|uig ug Uyghur|ukr uk Ukrainian
urd ur Urdu|uzn uz Uzbek|ven ve Venda|vie vi Vietnamese|wol wo Wolof|xho xh Xhosa|yid yi Yiddish
yor yo Yoruba|yue - Cantonese|zul zu Zulu
"""

_ENTRIES = [entry.split(" ", 2) for entry in _TABLE.strip().replace("\n", "|").split("|")]
_TAGS = {code: code if short == "-" else short for code, short, _ in _ENTRIES}
_RIGHT_TO_LEFT = frozenset(
    ("arb", "ckb", "div", "fas", "heb", "prs", "pus", "snd", "uig", "urd", "yid")
)

#: ISO 639-3 code to English name.
NAMES: dict[str, str] = {code: name for code, _, name in _ENTRIES}

# Other spellings met in data: macro-language and 639-2/B codes, hub names, country habits.
_ALIASES = {
    "zho": "cmn", "chi": "cmn", "zh-cn": "cmn", "zh-tw": "cmn", "zh-hans": "cmn",
    "zh-hant": "cmn", "zho-cn": "cmn", "zho-tw": "cmn", "zho_hans": "cmn", "zho_hant": "cmn",
    "swa": "swh", "ara": "arb", "per": "fas", "pes": "fas", "ger": "deu", "fre": "fra",
    "dut": "nld", "gre": "ell", "rum": "ron", "mo": "ron", "cze": "ces", "slo": "slk",
    "alb": "sqi", "arm": "hye", "baq": "eus", "bur": "mya", "geo": "kat", "ice": "isl",
    "mac": "mkd", "mao": "mri", "may": "msa", "tib": "bod", "wel": "cym", "tgl": "fil",
    "gug": "grn", "aze": "azj", "uzb": "uzn", "mlg": "plt", "que": "quy", "kur": "kmr",
    "ori": "ory", "aka": "twi", "in": "ind", "iw": "heb", "khk": "mon", "zsm": "msa",
    "ekk": "est", "lvs": "lav", "pbt": "pus", "npi": "nep", "gaz": "orm", "ydd": "yid",
    "srp-cyrl": "srp", "jp": "jpn", "gr": "ell", "cn": "cmn", "mandarin": "cmn", "jap": "jpn",
}  # fmt: skip

_KNOWN: dict[str, str] = (
    {code: code for code in NAMES}
    | {short: code for code, short, _ in _ENTRIES if short != "-"}
    | {name.lower(): code for code, name in NAMES.items()}
    | _ALIASES
)


def canonical(code: str, where: str = "language") -> str:
    """ISO 639-3 code of ``code`` in any case: 639-1, 639-3, an alias or an English name.

    Script and region subtags are dropped (``fin_Latn``, ``pt-BR``). Raises `DataError`, or
    `ConfigError` when ``where`` is an option (``--lang``), that begins with ``where`` and names
    the nearest known code.
    """
    key = code.strip().lower()
    found = _KNOWN.get(key) or _KNOWN.get(key.replace("_", "-").split("-")[0])
    if found is not None:
        return found
    kind = ConfigError if where.startswith("--") else DataError
    if not key:
        raise kind(f"{where}: no language, expected an ISO 639-3 code such as fin")
    near = get_close_matches(key, list(_KNOWN), n=1, cutoff=0.0)[:1]
    target = _KNOWN[near[0]] if near else "eng"
    raise kind(
        f"{where}: unknown language {code!r}, expected an ISO 639-3 code; "
        f"nearest known: {target} ({NAMES[target]})"
    )


def name(code: str) -> str:
    """English name of an ISO 639-3 code."""
    return NAMES[canonical(code)]


def tag(code: str) -> str:
    """BCP 47 tag of an ISO 639-3 code, for ``lang=``: the shortest code, as RFC 5646 wants it."""
    return _TAGS[canonical(code)]


def direction(code: str) -> str:
    """``rtl`` for languages written from right to left, else ``ltr``; for ``dir=``."""
    return "rtl" if canonical(code) in _RIGHT_TO_LEFT else "ltr"
