"""The page in a real browser: what a reader sees, presses and hears."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from newsrec.cluster import Articles, Captions, Limits, view_of, write_page
from newsrec.types.clusters import ClusterTree
from tests.cluster.chromium import Browser, Page, browser, find_chromium
from tests.cluster.shown import generated_view, sample_view

HOSTILE = "<img src=x onerror=alert(1)>"
NASTY = [
    HOSTILE,
    "</script><script>document.title = 'taken'</script>",
    "{{script}} <!-- <script>",
    "\u202ereversed\u202c &lt;b&gt; \u2028",
]
TILES = "document.querySelectorAll('.layer:not([inert]) .tile')"


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile") / "chromium") as running:
        yield running


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEWSREC_DATA", str(folder))
        view = sample_view()
    write_page(folder / "sample.html", view, title="The sample")
    return folder / "sample.html"


def names(page: Page) -> list[str]:
    """Names on the tiles, in the order of the map."""
    found = page.run(f"[...{TILES}].map((t) => t.querySelector('.name')?.textContent ?? '')")
    return list(found)


def path(page: Page) -> list[str]:
    return list(page.run("[...document.querySelectorAll('#path li')].map((x) => x.textContent)"))


def focused(page: Page) -> str:
    return str(page.run("document.activeElement.querySelector?.('.name')?.textContent ?? ''"))


def search(page: Page, text: str) -> list[str]:
    """Names of what was found."""
    page.run("document.activeElement.blur(); document.getElementById('query').value = ''")
    page.key("/")
    page.type(text)
    return list(page.run("[...document.querySelectorAll('#found .name')].map((x) => x.innerText)"))


def test_the_page_loads_without_a_complaint_or_a_request(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    assert sorted(names(page)) == ["Culture", "Economy", "Life", "Politics", "Science", "Sport"]
    assert page.text("h1") == "The sample"
    said = page.text("#totals")
    assert "72 articles · 6 themes · 18 topics · 36 stories · 15 languages" in said
    assert page.run("document.querySelectorAll('#time path').length") >= 6
    assert page.complaints() == []


def test_a_click_zooms_in_and_every_way_back_leads_out(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    page.click(".tile")
    theme = path(page)[-1]
    assert path(page) == ["All news", theme]
    assert len(names(page)) == 3
    assert page.text("#panel h2") == theme
    page.click(".tile")
    assert len(path(page)) == 3
    assert len(names(page)) == 2
    page.click("#back")
    assert path(page) == ["All news", theme]
    page.run("history.back()")
    page.wait("document.querySelectorAll('#path li').length === 3")
    page.click("#path button")
    assert path(page) == ["All news"]
    assert page.run("document.getElementById('back').disabled")
    assert page.complaints() == []


def test_a_story_is_chosen_and_its_headlines_are_read(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    for _ in range(3):
        page.click(".tile")
    assert len(path(page)) == 3
    story = names(page)[0]
    assert page.text("#panel h2") == story
    assert page.run("document.querySelectorAll('.headlines > li').length") == 2
    assert page.run("document.querySelectorAll('.versions li').length") == 28
    assert page.run("document.querySelector('.tile.chosen .name').textContent") == story
    page.key("Escape")
    assert page.text("#panel h2") == path(page)[-1]


def test_the_map_is_walked_with_the_keyboard(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    page.run("document.querySelector('.tile').focus()")
    first = focused(page)
    page.key("ArrowRight")
    second = focused(page)
    assert second not in ("", first)
    assert page.text("#panel h2") == second
    page.key("ArrowLeft")
    assert focused(page) == first
    page.key("ArrowDown")
    assert focused(page) not in ("", first, second)
    page.key("Home")
    page.key("Enter")
    assert path(page) == ["All news", first]
    page.wait(f"document.getElementById('live').textContent.startsWith({json.dumps(first)})")
    assert focused(page) == names(page)[0]
    page.key("Backspace")
    assert path(page) == ["All news"]
    assert focused(page) == first
    outline = page.run("getComputedStyle(document.activeElement, '::after').borderTopStyle")
    assert outline == "solid"
    # Tab leaves the map in one step: the tiles are one stop.
    page.key("Tab")
    assert page.run("document.activeElement.closest('#map') === null")


def test_every_tile_is_reached_by_arrows(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    seen: set[str] = set()
    todo = [names(page)[0]]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
            page.run(
                f"[...{TILES}].find((t) => t.querySelector('.name').textContent"
                f" === {json.dumps(name)}).focus()"
            )
            page.key(key)
            todo.append(focused(page))
    assert seen == set(names(page))


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("決選", "決選"),
        ("மேயர்", "மேயர்"),
        ("ÉLÉCTIONS", None),
        ("ELECTIONS", "elections"),
        ("ｅｌｅｃｔｉｏｎｓ", "elections"),
        ("mayors presidential", "mayors"),
    ],
)
def test_search_finds_any_script_and_jumps(
    chrome: Browser, sample: Path, query: str, word: str | None
) -> None:
    page = chrome.open(sample)
    found = search(page, query)
    assert found
    if word:
        assert word in page.run(
            "[...document.querySelectorAll('#found mark')].map((x) => x.textContent.toLowerCase())"
        )
    page.wait("/found/.test(document.getElementById('live').textContent)")
    page.key("Enter")
    assert page.text("#panel h2") == found[0]
    assert page.run("document.getElementById('results').hidden")
    assert page.run("document.activeElement.classList.contains('tile')")
    assert page.complaints() == []


def test_what_was_found_in_a_language_is_read_in_it(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    search(page, "மேயர்")
    page.key("Enter")
    head = page.run(
        "(() => { const t = [...document.querySelectorAll('.headlines .title')]"
        ".find((x) => x.querySelector('mark')); return [t.lang, t.dir]; })()"
    )
    assert head == ["ta", "ltr"]


def test_search_is_moved_through_and_left_by_keys(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    found = search(page, "after")
    assert len(found) > 2
    page.key("ArrowDown")
    page.key("ArrowDown")
    page.key("ArrowUp")
    page.key("Enter")
    assert page.text("#panel h2") == found[1]
    assert search(page, "zzzz") == []
    assert page.text("#n_found") == "Nothing found"
    page.key("Escape")
    assert page.run("document.getElementById('results').hidden")


@pytest.mark.parametrize(("asked", "other"), [("light", "dark"), ("dark", "light")])
def test_light_and_dark_follow_the_system_and_the_button(
    chrome: Browser, sample: Path, asked: str, other: str
) -> None:
    page = chrome.open(sample, prefers_color_scheme=asked)
    paper = "getComputedStyle(document.body).backgroundColor"

    def mode() -> str:
        return "dark" if sum(map(int, re.findall(r"\d+", page.run(paper))[:3])) < 300 else "light"

    pressed = "document.getElementById('mode').getAttribute('aria-pressed')"
    assert (mode(), page.run(pressed)) == (asked, str(asked == "dark").lower())
    page.click("#mode")
    assert (mode(), page.run(pressed)) == (other, str(other == "dark").lower())
    page.click("#mode")
    assert mode() == asked
    page.run("localStorage.clear()")


CONTRAST = """(() => {
  const light = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return { y: 0.2126 * light(r / 255) + 0.7152 * light(g / 255) + 0.0722 * light(b / 255), a };
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const found = parse(getComputedStyle(e).backgroundColor);
      if (found.a === 1) return found.y;
    }
    return 1;
  };
  const bad = [];
  let n = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    const hidden = e.closest('script, noscript, [hidden], :disabled, details:not([open]) ul');
    if (!walker.currentNode.data.trim() || hidden) continue;
    const style = getComputedStyle(e);
    const [a, b] = [parse(e.closest('svg') ? style.fill : style.color).y, ground(e)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    n++;
    if (ratio < 4.5) bad.push([walker.currentNode.data.slice(0, 40), ratio]);
  }
  return { n, bad };
})()"""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_all_text_stands_out_from_its_ground(chrome: Browser, sample: Path, mode: str) -> None:
    """WCAG 2.2, 1.4.3: a contrast of at least 4.5."""
    page = chrome.open(sample, prefers_color_scheme=mode)
    for place in ("", "#0-1", "#1-4", "#2-9"):
        page.run(f"location.hash = {json.dumps(place)}")
        page.run("new Promise((done) => setTimeout(done, 60))")
        found = page.run(CONTRAST)
        assert found["n"] > 30
        assert found["bad"] == []


def test_the_colours_of_themes_differ_for_every_kind_of_sight() -> None:
    """Distances in OKLab, also as protanopes, deuteranopes and tritanopes see (Machado, Oliveira
    and Fernandes 2009); the limit is that of Okabe and Ito's palette."""
    source = Path(__file__).parents[2] / "newsrec/cluster/page/script/data.js"
    block = re.search(r"const COLOURS = \[(.*?)\]", source.read_text("utf-8"), re.S)
    assert block is not None
    hexes = re.findall(r"#([0-9a-f]{6})", block[1])
    srgb = np.array([[int(h[i : i + 2], 16) / 255 for i in (0, 2, 4)] for h in hexes])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    sights = [
        np.eye(3),
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]],
    ]  # fmt: skip
    for sight in sights:
        lab = oklab(np.clip(linear @ np.array(sight).T, 0, 1))
        apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)
        assert apart[~np.eye(len(lab), dtype=bool)].min() > 0.07


def oklab(linear: np.ndarray) -> np.ndarray:
    """Ottosson 2020."""
    to_cone = np.array([[0.4122214708, 0.5363325363, 0.0514459929],
                        [0.2119034982, 0.6806995451, 0.1073969566],
                        [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
    to_lab = np.array([[0.2104542553, 0.7936177850, -0.0040720468],
                       [1.9779984951, -2.4285922050, 0.4505937099],
                       [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip
    return np.cbrt(linear @ to_cone.T) @ to_lab.T


def hostile_page(folder: Path, names_: list[str] | None = None) -> Path:
    """Four stories whose every text is hostile, in a language written from the right."""
    names_ = names_ or NASTY
    n = len(names_)
    labels = np.stack([np.zeros(n), np.arange(n)]).astype(np.int32)
    tree = ClusterTree(labels, (1, 1), (0.1, 0.2))
    urls = ["https://news.example/a?b=1&c=2", "javascript:alert(1)", "data:text/html,<b>", ""]
    articles = Articles(
        names_, np.full(n, np.datetime64("2026-03-01T10:00:00", "s")),
        {"arb": list(names_), "fin": ["", *names_[1:]]}, urls,
    )  # fmt: skip
    captions = Captions([[names_[0]], names_], [[names_], [names_] * n], [names_[:1], names_])
    write_page(folder / "page.html", view_of(tree, articles, captions), title=NASTY[1])
    return folder / "page.html"


def test_hostile_text_is_shown_as_it_is(chrome: Browser, tmp_path: Path) -> None:
    page = chrome.open(hostile_page(tmp_path))
    assert page.run("document.title") == NASTY[1]
    page.click(".tile")
    assert HOSTILE in path(page)
    assert HOSTILE in names(page)
    for i in range(4):
        page.run(f"{TILES}[{i}].click()")
        assert (
            page.run("document.querySelectorAll('img, iframe, object, #panel script').length") == 0
        )
    assert search(page, "<img src") != []
    assert HOSTILE in page.text("#found .name")
    page.key("Enter")
    assert page.text("#panel h2") == HOSTILE
    assert page.run("document.querySelector('#panel mark').textContent") in ("<img", "src")
    assert page.complaints() == []


def test_titles_carry_their_language_and_direction_and_only_links_are_links(
    chrome: Browser, tmp_path: Path
) -> None:
    page = chrome.open(hostile_page(tmp_path))
    page.click(".tile")
    page.run(f"{TILES}[0].click()")
    heads = "[...document.querySelectorAll('.headlines .title')]"
    assert page.run(f"{heads}.map((x) => [x.lang, x.dir])") == [["ar", "rtl"]]
    page.key("Escape")
    links = page.run(f"{heads}.filter((x) => x.href).map((x) => [x.href, x.rel])")
    assert links == [["https://news.example/a?b=1&c=2", "noopener noreferrer"]]


def test_no_date_is_shown_that_no_article_has(chrome: Browser, tmp_path: Path) -> None:
    labels = np.array([[0, 0, 0, 1], [0, 0, 1, 2]], np.int32)
    tree = ClusterTree(labels, (1, 1), (0.1, 0.2))
    days = ["1971-05-06", "2068-07-08", "2024-01-05", "2030-02-03"]
    articles = Articles(list("abcd"), np.array(days, "datetime64[s]"), {"eng": list("abcd")})
    captions = Captions([["first", "second"], ["one", "two", "three"]])
    for limits in (Limits(), Limits(listed=5, detailed=1, headlines=1)):
        write_page(tmp_path / "page.html", view_of(tree, articles, captions, limits=limits))
        page = chrome.open(tmp_path / "page.html")
        assert page.text("#totals").endswith(" · 6 May 1971 – 8 Jul 2068")
        said = page.run("document.querySelector('#time svg').getAttribute('aria-label')")
        assert " from 6 May 1971 to 8 Jul 2068; most 6 May 1971 – " in said
        said = page.run("document.getElementById('time').textContent")
        assert not re.search("1969|2069", said)
        page.run("location.hash = '#1-1'")
        page.wait("document.querySelector('#panel h2').textContent === 'two'")
        assert page.text("#panel .facts").endswith(" · 5 Jan 2024")
        assert page.complaints() == []


def test_no_script_but_its_own_can_run(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    page.run(
        "(() => { const s = document.createElement('script'); try { s.text = 'window.taken = 1' }"
        " catch {} document.body.append(s);"
        " try { document.body.setAttribute('onclick', 'taken = 1') } catch {}"
        " try { document.body.innerHTML += '<img src=x onerror=taken=1>' } catch {}"
        " document.body.click(); return fetch('https://news.example/').catch(() => 0); })()"
    )
    assert page.run("typeof window.taken") == "undefined"
    assert any("Content Security Policy" in text for text in page.complaints())


@pytest.mark.parametrize("width", [360, 768, 1280, 2200])
def test_nothing_is_wider_than_the_screen(chrome: Browser, sample: Path, width: int) -> None:
    page = chrome.open(sample, width=width, height=740)
    for _ in range(3):
        assert page.run("document.documentElement.scrollWidth") <= width
        outside = page.run(
            "[...document.querySelectorAll('header *, nav *, #panel *')].filter((e) =>"
            " e.getBoundingClientRect().right > innerWidth + 1 && e.checkVisibility() &&"
            " !e.closest('#live, #keys')).map((e) => e.outerHTML.slice(0, 80))"
        )
        assert outside == []
        page.run("document.querySelector('.tile').click()")
    assert page.complaints() == []


def test_tiles_are_large_enough_to_touch_on_a_phone(chrome: Browser, big: Path) -> None:
    """WCAG 2.2, 2.5.8: at least 24 by 24 pixels, or as much room."""
    page = chrome.open(big, width=360, height=740)
    sizes = page.run(f"[...{TILES}].map((t) => [t.offsetWidth, t.offsetHeight])")
    assert min(w * h for w, h in sizes) >= 24 * 24
    assert "smaller" in " ".join(names(page))


def test_the_map_is_drawn_anew_for_another_size(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample, width=1400)
    page.click(".tile")
    before = page.run(f"{TILES}[0].offsetWidth")
    page.resize(420, 800)
    page.wait(f"{TILES}[0].offsetWidth !== {before} && {TILES}.length === 3")
    assert len(path(page)) == 2


def test_it_moves_only_for_readers_who_want_that(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample, prefers_reduced_motion="reduce")
    page.run("document.querySelector('.tile').click()")
    assert page.run("document.getAnimations().length") == 0
    page = chrome.open(sample, prefers_reduced_motion="no-preference")
    page.run("document.querySelector('.tile').click()")
    assert page.run("document.querySelectorAll('.layer').length") == 2
    page.wait("document.querySelectorAll('.layer').length === 1")
    assert len(names(page)) == 3


def test_a_link_to_a_cluster_opens_it(chrome: Browser, sample: Path, tmp_path: Path) -> None:
    page = chrome.open(sample)
    page.click(".tile")
    page.click(".tile")
    place, name = page.run("location.hash"), page.text("#panel h2")
    page.run("location.hash = ''")
    page.wait("document.querySelectorAll('#path li').length === 1")
    page.run(f"location.hash = {json.dumps(place)}")
    page.wait("document.querySelectorAll('#path li').length === 3")
    assert page.text("#panel h2") == name
    for nowhere in ("#nothing-here", "#%", "#%E0%A4%A"):
        page.run(f"location.hash = {json.dumps(place)}")
        page.wait("document.querySelectorAll('#path li').length === 3")
        page.run(f"location.hash = {json.dumps(nowhere)}")
        page.wait("document.querySelectorAll('#path li').length === 1")


def test_it_prints_in_black_on_white(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample, prefers_color_scheme="dark")
    page.send("Emulation.setEmulatedMedia", media="print")
    white = "rgb(255, 255, 255)"
    assert page.run("getComputedStyle(document.body).backgroundColor") == white
    assert page.run("getComputedStyle(document.querySelector('.tile')).backgroundColor") == white
    assert page.run("document.getElementById('query').checkVisibility()") is False
    assert page.run("document.querySelector('#panel').checkVisibility()") is True


def test_a_language_is_chosen_to_read_in(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    page.click(".languages button[aria-label^='Finnish']")
    shown = page.run("[...document.querySelectorAll('.headlines .title')].map((x) => x.lang)")
    assert set(shown) == {"fi"}
    assert page.run("document.activeElement.getAttribute('aria-pressed')") == "true"
    page.wait("document.getElementById('live').textContent === 'Headlines in Finnish'")


def test_everything_that_acts_has_a_name_and_ids_are_unique(chrome: Browser, sample: Path) -> None:
    page = chrome.open(sample)
    page.click(".tile")
    tree = page.send("Accessibility.getFullAXTree")["nodes"]
    acting = [x for x in tree if x.get("role", {}).get("value") in ("button", "combobox", "link")]
    assert len(acting) > 10
    assert [x for x in acting if not x.get("name", {}).get("value")] == []
    ids = page.run("[...document.querySelectorAll('[id]')].map((x) => x.id)")
    assert len(ids) == len(set(ids))


def test_what_is_left_out_is_said_and_what_is_gathered_is_reached(
    chrome: Browser, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    n = 400
    story = np.arange(n) % 200
    labels = np.stack([story // 100, story]).astype(np.int32)
    labels[1, 390:] = -1
    tree = ClusterTree(labels, (1, 1), (0.1, 0.2))
    titles = {"eng": [f"headline {i} {rng.integers(9)}" for i in range(n)]}
    articles = Articles([f"N{i}" for i in range(n)], np.full(n, np.datetime64("NaT", "s")), titles)
    captions = Captions([["first", "second"], [f"story {i}" for i in range(200)]])
    view = view_of(tree, articles, captions, limits=Limits(listed=182, detailed=20))
    write_page(tmp_path / "page.html", view)
    page = chrome.open(tmp_path / "page.html")
    assert page.run("document.getElementById('time').hidden")
    page.run("location.hash = '#0-1'")
    page.wait("document.querySelectorAll('#path li').length === 2")
    said = page.text("#panel .note:last-child")
    assert "20 smaller stories are counted but not listed on this page." in said
    assert "10 articles are in no story." in said
    rest = f"[...{TILES}].find((t) => t.classList.contains('rest'))"
    before = set(names(page))
    page.run(f"{rest}.click()")
    assert "smaller" in path(page)[-1]
    assert set(names(page)) - before
    page.run(f"{TILES}[1].click()")
    assert "smaller" in path(page)[-1]
    page.key("Escape")
    page.key("Escape")
    assert len(path(page)) == 2
    # What is gathered is found too, and its tile holds it.
    assert search(page, "story 179")
    page.key("Enter")
    assert page.run("document.querySelectorAll('.tile.chosen').length") == 1
    assert page.complaints() == []


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("big") / "big.html"
    write_page(place, generated_view(100_000), title="A month")
    return place


def test_a_hundred_thousand_articles_stay_small_and_quick(chrome: Browser, big: Path) -> None:
    assert big.stat().st_size <= 8_200_000
    page = chrome.open(big)
    assert "100,000 articles" in page.text("#totals")
    elements = "document.querySelectorAll('*').length"
    assert page.run(elements) < 1500
    for _ in range(3):
        page.click(".tile")
        assert page.run(elements) < 1500
    found = search(page, "診療所")
    assert len(found) == 40
    page.key("Enter")
    assert page.text("#panel h2") == found[0]
    assert search(page, "துறைமுகம்")
    assert page.run(elements) < 2000
    assert page.complaints() == []


def test_the_same_view_is_the_same_page_and_nothing_else_is_left(tmp_path: Path) -> None:
    page = hostile_page(tmp_path)
    first = page.read_bytes()
    assert hostile_page(tmp_path).read_bytes() == first
    assert [x.name for x in tmp_path.iterdir()] == ["page.html"]
    assert b"http://" not in re.sub(rb"http://www\.w3\.org/2000/svg", b"", first)


@pytest.mark.parametrize(("wanted", "outcome"), [("required", "Failed"), ("", "Skipped")])
def test_a_missing_browser_fails_where_it_must_be_there(
    monkeypatch: pytest.MonkeyPatch, wanted: str, outcome: str
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CHROME", "")
    monkeypatch.setenv("NEWSREC_BROWSER", wanted)
    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception)) as raised:
        find_chromium()
    assert type(raised.value).__name__ == outcome
