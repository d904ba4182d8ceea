"""The site in a real browser: pages render, nothing is wider than the window, search finds words of both languages."""

import http.server
import shutil
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("material")
pytest.importorskip("latex2mathml")
pytest.importorskip("jieba")
api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("matplotlib")

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "docs")]

import run_tutorials  # noqa: E402 - in docs/
from site_build import ADDRESSES, build, copy  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path")
WIDTHS = {"desktop": 1280, "phone": 375}
DARK = ("", "tutorials/arrays/")  # looked at in both schemes: the style sheet is the same for all pages


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the small site, served from a thread."""
    folder = tmp_path_factory.mktemp("site")
    outputs = folder / "outputs"
    outputs.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_tutorials, "OUTPUTS", outputs)
        patch.chdir(folder)
        run_tutorials.run("arrays", is_quick=True)
    copy(folder / "docs", outputs)
    build(folder, folder / "docs", folder / "built")
    handler = partial(Quiet, directory=str(folder / "built"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="module")
def tabs(site):
    """A page of the browser for each scheme; the site remembers the first that it sees."""
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        pages = {scheme: browser.new_page(color_scheme=scheme) for scheme in ("light", "dark")}
        for page in pages.values():
            page.set_default_timeout(60_000)
        yield pages
        browser.close()


@pytest.fixture
def tab(tabs):
    """The light one; the test fails if a script of the site does."""
    faults, page = [], tabs["light"]
    page.on("pageerror", lambda error: faults.append(error))
    page.set_viewport_size({"width": 1280, "height": 800})
    yield page
    assert not faults


def settled_width(tab, width):
    """How wide the page is when menus that slide after a change of the window have come to rest."""
    for _ in range(100):
        wide = tab.evaluate("document.documentElement.scrollWidth")
        if wide <= width:
            break
        tab.wait_for_timeout(50)
    return wide


def look(tab, address):
    """Open a page, check that it fits at both widths, and return the colour of its background."""
    answer = tab.goto(address, wait_until="load")
    assert answer.status == 200 and tab.inner_text("h1").strip("¶\n ")
    for name, width in WIDTHS.items():
        tab.set_viewport_size({"width": width, "height": 800})
        wide = settled_width(tab, width)
        assert wide <= width, f"{address} is {wide} pixels wide on a {name} of {width}"
    return tab.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("language", ["", "zh/"])
def test_pages_render_and_fit_light_and_dark(site, tabs, tab, language):
    for address in ADDRESSES:
        light = look(tab, f"{site}{language}{address}")
        if address in DARK:
            assert look(tabs["dark"], f"{site}{language}{address}") != light, address


def test_the_outputs_of_a_tutorial_are_shown(site, tab):
    for language in ("", "zh/"):
        tab.goto(f"{site}{language}tutorials/arrays/", wait_until="load")
        assert "<NDArray 2x3 @cpu(0)>" in tab.inner_text(".output >> nth=0")
        picture = tab.locator("img.drawn").first
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("image => image.complete && image.naturalWidth") > 100
        assert tab.locator("math").count() >= 2


def test_the_gallery_has_a_card_for_each_tutorial(site, tab):
    tab.goto(f"{site}tutorials/", wait_until="domcontentloaded")
    assert tab.locator(".gallery a.card").count() == 17
    tab.click(".gallery >> text=Arrays")
    assert tab.inner_text("h1").startswith("Arrays")


def test_the_switch_makes_the_page_dark_and_the_other_leads_to_chinese(site, tab):
    tab.goto(f"{site}reference/gluon.nn/", wait_until="domcontentloaded")
    scheme = "document.body.getAttribute('data-md-color-scheme')"
    assert tab.evaluate(scheme) == "default"
    tab.click("label[for=__palette_1]")
    assert tab.evaluate(scheme) == "slate"
    tab.goto(tab.locator("a[hreflang=zh]").first.evaluate("link => link.href"), wait_until="domcontentloaded")
    assert "zh/reference/gluon.nn" in tab.url and "参数" in tab.inner_text("article")


def found_by_search(tab, words):
    """The first result. A query that was typed before the index was loaded is lost, so it is typed again."""
    field, found = tab.locator("[data-md-component=search-query]"), tab.locator(".md-search-result__item").first
    field.click()
    for _ in range(30):
        field.fill("")
        field.fill(words)
        field.dispatch_event("keyup")  # what the search listens to
        try:
            found.wait_for(timeout=3_000)
            return found.inner_text()
        except api.TimeoutError:
            continue
    pytest.fail(f"the search finds no {words}; it says {tab.inner_text('.md-search-result__meta')!r}")


@pytest.mark.parametrize("language, words", [("", "Conv2D"), ("zh/", "卷积")])
def test_search_finds(site, tab, language, words):
    tab.goto(f"{site}{language}", wait_until="load")
    assert words in found_by_search(tab, words)


def test_the_reference_links_to_the_source(site, tab):
    tab.goto(f"{site}reference/gluon.nn/", wait_until="domcontentloaded")
    address = tab.locator("a.source").first.evaluate("link => link.href")
    assert tab.goto(address, wait_until="domcontentloaded").status == 200
    line = tab.locator(f"[id='{address.partition('#')[2]}']")
    assert line.count() == 1 and "class" in tab.inner_text("body")
