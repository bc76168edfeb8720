"""The documentation is built from what the repository holds, leads nowhere wrong, loads nothing."""

import ast
import re
import sys

import nbformat
import pytest
from browser import INK
from playwright.sync_api import expect
from site_built import ROOT, Markup, broken, build, served, visiting

import normviz
from normviz.core.catalog import MEASURES

sys.path.insert(0, str(ROOT / "docs"))
from making import gallery, links, measures, readme, running, sources, stories

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CITED = re.compile(r"\]\(\.\./\.\./(tests/[\w/]+\.py|js/test/[\w./]+)(?:#(\w+))?\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site, built once and quickly: notebooks are not run for it."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


def pages(folder):
    """Every page of the site by its address, but for programs, which are all alike, and frames."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    return sorted(p for p in found if not p.startswith(("source/", "gallery/", "404")))


# --- the site as files ---------------------------------------------------------------------------


def test_every_part_of_the_repository_that_a_reader_needs_is_a_page(site):
    made = pages(site)
    sections = readme.pages((ROOT / "README.md").read_text())
    assert {page.replace(".md", ".html") for page in sections} <= {*made}
    assert {f"notebooks/{path.stem}.html" for path in NOTEBOOKS} <= {*made}
    others = "measures gallery checked changelog contributing benchmarks/index api/results"
    assert {f"{name}.html" for name in others.split()} <= {*made}


def test_no_link_leads_nowhere(site):
    assert broken(site) == []


def test_a_link_that_leads_nowhere_is_noticed(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">b</a> <img src="c.png"> <a href="#x">')
    (tmp_path / "b.html").write_text('<p id="there"></p>')
    found = [line.partition(": ")[2] for line in broken(tmp_path)]
    assert found == ["b.html#here (no such anchor)", "#x (no such anchor)", "c.png"]


def test_no_page_names_another_place_to_load_from(site):
    for page in site.rglob("*.html"):
        loads = Markup(page.read_text()).loads
        assert [url for url in loads if re.match(r"(https?:)?//", url)] == [], page


def test_no_page_says_where_it_was_made(site):
    for page in site.rglob("*.html"):
        assert str(ROOT) not in page.read_text(), page


def test_answers_of_exercises_are_folded_and_their_code_is_code(site):
    for path in NOTEBOOKS:
        text = (site / "notebooks" / f"{path.stem}.html").read_text()
        answers = re.findall(
            r"<details>\s*<summary>Answer</summary>(.*?)</details>", text, re.DOTALL
        )
        assert len(answers) == 3, path.stem
        assert all('<div class="language-python highlight">' in answer for answer in answers)


# --- in a browser --------------------------------------------------------------------------------


def test_nothing_is_loaded_from_elsewhere_and_nothing_goes_wrong(site, browser):
    """One page of each kind; what the others load is among what the test above reads."""
    kinds = {re.sub(r"/.*", "", page): page for page in pages(site)}
    with served(site) as address, visiting(browser, address) as opened:
        for page in [*kinds.values(), "source/tests/model/decompose/test_rules.py.html"]:
            tab = opened(page)
            expect(tab.locator("article h1").first).to_be_visible()
            tab.close()


def test_it_opens_from_disk_and_can_be_searched_there(site, browser):
    with visiting(browser, site.as_uri()) as opened:
        tab = opened("index.html")
        tab.locator("input.md-search__input").fill("null space")
        found = tab.locator(".md-search-result__item h1, .md-search-result__item h2")
        expect(found.filter(has_text="Effective attention").first).to_be_visible()


def test_the_frames_of_the_gallery_draw(site, browser):
    with served(site) as address, visiting(browser, address) as opened:
        tab = opened("gallery.html")
        assert tab.locator("iframe[loading=lazy]").count() == len(gallery.EXHIBITS)
        for exhibit in gallery.EXHIBITS:
            frame = tab.locator(f"iframe[src='gallery/{exhibit.name}.html']")
            frame.scroll_into_view_if_needed()
            inside = frame.content_frame
            expect(inside.locator(".nv-sentence, .nv-notice").first).not_to_be_empty()
            drawn = inside.locator("canvas, svg path, svg rect").first
            expect(drawn).to_be_visible()
            if inside.locator("canvas").count():
                assert inside.locator("canvas").first.evaluate(INK)["inked"] > 0, exhibit.name


@pytest.mark.parametrize("name", ["flow", "corpus"])
def test_a_reader_who_chooses_the_dark_has_it_dark_to_the_frames(site, browser, tmp_path, name):
    options = {"color_scheme": "light", "viewport": {"width": 400, "height": 900}}
    with served(site) as address, visiting(browser, address, **options) as opened:
        tab = opened("gallery.html")
        frame = tab.locator(f"iframe[src*='{name}.html']")
        frame.scroll_into_view_if_needed()
        picture = frame.content_frame.locator(".normviz").first
        for scheme, shade in (("default", "light"), ("slate", "dark"), ("default", "light")):
            while tab.locator("body").get_attribute("data-md-color-scheme") != scheme:
                tab.locator("form[data-md-component=palette] label:visible").click()
            expect(picture).to_have_attribute("data-shade", shade)
            assert (sum(tab.locator("h1").evaluate(COLOR)) > 383) == (shade == "dark")
            tab.screenshot(path=tmp_path / f"{shade}.png")
        assert (tmp_path / "dark.png").read_bytes() != (tmp_path / "light.png").read_bytes()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 400


COLOR = "e => getComputedStyle(e).color.match(/[\\d.]+/g).slice(0, 3).map(Number)"


# --- measures, reference, checks -----------------------------------------------------------------


def test_every_measure_has_its_entry_and_there_is_none_too_many():
    said = measures.entries()
    assert {*said} == {*MEASURES}
    for name, entry in said.items():
        assert {"formula", "papers", "cost", "beware"} <= {*entry}, name
        assert all(entry[key] for key in ("formula", "papers", "cost", "beware")), name


def test_the_page_of_measures_has_what_the_catalog_says(site):
    text = (site / "measures.html").read_text()
    for name, measure in MEASURES.items():
        section = text.partition(f'<h3 id="{name}">')[2].partition("<h3")[0]
        for said in (measure.label, measure.meaning[1:], measure.source[1:]):
            assert said.replace("&", "&amp;") in section, (name, said)
        assert re.findall(r"<code>(\w+)</code>", section.partition("<dd>")[2])[
            : len(measure.axes)
        ] == [*measure.axes]


def test_every_public_name_is_in_the_reference_with_its_signature(site):
    text = "".join(page.read_text() for page in (site / "api").glob("*.html"))
    sections = re.findall(r'<h2[^>]*"doc doc-heading">(.*?)</h2>(.*?)(?=<h[1-6])', text, re.DOTALL)
    # The name of a function may be that of its module, too, which has none.
    signed = {
        re.sub(r"<.*?>|#", "", heading).replace("&nbsp;", "").strip()
        for heading, below in sections
        if "doc-signature" in below
    }
    names = {f"normviz.{name}" for name in normviz.__all__} - {"normviz.studies"}
    # Without importing it, which would take torch along.
    tree = ast.parse((ROOT / "normviz" / "studies" / "__init__.py").read_text())
    names |= {f"normviz.studies.{name}" for name in ast.literal_eval(tree.body[-1].value)}
    assert names - signed == set()


def test_every_check_is_shown_by_tests_that_exist():
    text = (ROOT / "docs" / "pages" / "checked.md").read_text()
    lines = re.findall(r"^- .*(?:\n  .*)*", text, re.MULTILINE)
    without = [line for line in lines if not CITED.search(line)]
    assert without == ["- **Safari**, and screen readers by people who use them."]
    for path, name in CITED.findall(text):
        assert (ROOT / path).is_file(), path
        assert not name or name in defined(ROOT / path), f"{path} has no {name}"


def defined(path):
    """The names of all functions in a program."""
    found = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in found if isinstance(node, ast.FunctionDef)}


# --- how pages are made --------------------------------------------------------------------------

README = """# it

First. [Elsewhere](#more-of-it) and [a `file`](docs/hooks.py), `[not](a link)`.

## Two commands

```
# no heading
```

## A matter of its own

### More of it
"""


def test_sections_of_the_readme_become_pages_and_links_follow_them():
    made = readme.pages(README)
    assert [*made] == ["index.md", "guide/a-matter-of-its-own.md"]
    assert made["guide/a-matter-of-its-own.md"] == "# A matter of its own\n\n## More of it\n"
    assert "# no heading" in made["index.md"]
    rewriting = links.Links({}, readme.headings(made))
    home = rewriting.rewritten(made["index.md"], at="README.md", page="index.md")
    assert "[Elsewhere](guide/a-matter-of-its-own.md#more-of-it)" in home
    assert "[a `file`](source/docs/hooks.py.md), `[not](a link)`" in home
    assert rewriting.sources == {"docs/hooks.py"}


def test_a_link_to_a_file_that_is_not_there_stops_the_build():
    with pytest.raises(FileNotFoundError, match=r"README.md links to nowhere.md"):
        links.Links({}).rewritten("[x](nowhere.md)", at="README.md", page="index.md")


def test_programs_have_an_anchor_for_every_function_and_lose_nothing():
    text = (ROOT / "tests" / "corpus" / "test_sums.py").read_text()
    page = sources.page("tests/corpus/test_sums.py", text)
    assert '<a id="test_any_split_and_any_order_give_the_same"></a>' in page
    code = "".join(re.findall(r"~~~~~~python\n(.*?)~~~~~~\n", page, re.DOTALL))
    assert [*filter(str.strip, code.splitlines())] == [*filter(str.strip, text.splitlines())]


def notebook():
    """A small notebook with a badge and a picture."""
    cell = nbformat.v4.new_code_cell
    return nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(
                "# T\n\n[![Open in Colab](https://x.org/badge.svg)](https://x.org/t)"
            ),
            cell("import normviz\nflow = normviz.from_arrays([[[[1.0]]]], ['a'])\nflow"),
            cell(f"print('<b> {ROOT}/x')"),
        ]
    )


def test_a_notebook_that_is_run_shows_its_pictures_in_frames_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "KEPT", tmp_path / "kept")
    path = tmp_path / "t.ipynb"
    nbformat.write(notebook(), path)
    story = stories.told(running.ran(path), "t", ran=True)
    assert "badge.svg" not in story.markdown
    assert "[Open in Colab](https://x.org/t)" in story.markdown
    (frame,) = story.frames.values()
    assert "DecompressionStream" in frame
    page = stories.filled(story.markdown, story)
    assert 'src="t-0.html" loading="lazy"' in page
    assert "srcdoc" not in page
    assert "&lt;b&gt; x<" in page
    monkeypatch.setattr(running, "_run", lambda _: pytest.fail("nothing has changed"))
    assert running.ran(path).cells[2].outputs[0].text.startswith("<b>")


def test_a_notebook_is_run_again_when_what_it_depends_on_changes(tmp_path, monkeypatch):
    path = tmp_path / "t.ipynb"
    path.write_text("{}")
    first = running.key(path)
    assert running.key(path) == first
    monkeypatch.setattr(running, "depended_on", lambda: [b"a newer normviz"])
    assert running.key(path) != first
