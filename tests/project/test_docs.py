"""The documentation is built from the repository, has no broken links, and loads nothing."""

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
from making import gallery, links, measures, models, readme, running, sources, stories

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CITED = re.compile(r"\]\(\.\./\.\./(tests/[\w/]+\.py|js/test/[\w./]+)(?:#(\w+))?\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site, built once, without running the notebooks."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


def pages(folder):
    """Return the paths of all pages except source files, which are all alike, and frames."""
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    return sorted(p for p in paths if not p.startswith(("source/", "gallery/", "404")))


# --- the site as files ---------------------------------------------------------------------------


def test_every_part_of_the_repository_that_a_reader_needs_is_a_page(site):
    built = pages(site)
    sections = readme.pages((ROOT / "README.md").read_text())
    assert {page.replace(".md", ".html") for page in sections} <= {*built}
    assert {f"notebooks/{path.stem}.html" for path in NOTEBOOKS} <= {*built}
    others = "measures models gallery checked architecture changelog contributing"
    others += " benchmarks/index api/results"
    assert {f"{name}.html" for name in others.split()} <= {*built}


def test_no_link_is_broken(site):
    assert broken(site) == []


def test_a_broken_link_is_detected(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">b</a> <img src="c.png"> <a href="#x">')
    (tmp_path / "b.html").write_text('<p id="there"></p>')
    links = [line.partition(": ")[2] for line in broken(tmp_path)]
    assert links == ["b.html#here (no such anchor)", "#x (no such anchor)", "c.png"]


def test_no_page_loads_from_another_host(site):
    for page in site.rglob("*.html"):
        loads = Markup(page.read_text()).loads
        assert [url for url in loads if re.match(r"(https?:)?//", url)] == [], page


def test_no_page_contains_a_local_path(site):
    for page in site.rglob("*.html"):
        assert str(ROOT) not in page.read_text(), page


def test_answers_to_exercises_are_folded_and_highlight_their_code(site):
    for path in NOTEBOOKS:
        text = (site / "notebooks" / f"{path.stem}.html").read_text()
        answers = re.findall(
            r"<details>\s*<summary>Answer</summary>(.*?)</details>", text, re.DOTALL
        )
        assert len(answers) == 3, path.stem
        assert all('<div class="language-python highlight">' in answer for answer in answers)


# --- in a browser --------------------------------------------------------------------------------


def test_nothing_is_loaded_from_elsewhere_and_nothing_goes_wrong(site, browser):
    """One page of each kind; a test above covers what the others load."""
    kinds = {re.sub(r"/.*", "", page): page for page in pages(site)}
    with served(site) as address, visiting(browser, address) as opened:
        for page in [*kinds.values(), "source/tests/model/decompose/test_rules.py.html"]:
            tab = opened(page)
            expect(tab.locator("article h1").first).to_be_visible()
            tab.close()


def test_it_opens_from_disk_and_can_be_searched(site, browser):
    with visiting(browser, site.as_uri()) as opened:
        tab = opened("index.html")
        tab.locator("input.md-search__input").fill("null space")
        results = tab.locator(".md-search-result__item h1, .md-search-result__item h2")
        expect(results.filter(has_text="Effective attention").first).to_be_visible()


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
def test_the_dark_theme_reaches_the_frames(site, browser, tmp_path, name):
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


def test_every_measure_has_exactly_one_entry():
    entries = measures.entries()
    assert {*entries} == {*MEASURES}
    for name, entry in entries.items():
        assert {"formula", "papers", "cost", "beware"} <= {*entry}, name
        assert all(entry[key] for key in ("formula", "papers", "cost", "beware")), name


def test_every_measure_is_in_one_group_of_the_page():
    grouped = [family for group in measures.GROUPS for family in group.families]
    assert sorted(grouped) == sorted({measure.family for measure in MEASURES.values()})


def test_the_page_of_measures_has_the_fields_of_the_catalog(site):
    text = (site / "measures.html").read_text()
    for name, measure in MEASURES.items():
        section = text.partition(f'<h3 id="{name}">')[2].partition("<h3")[0]
        for field in (measure.label, measure.meaning[1:], measure.source[1:]):
            assert field.replace("&", "&amp;") in section, (name, field)
        assert re.findall(r"<code>(\w+)</code>", section.partition("<dd>")[2])[
            : len(measure.axes)
        ] == [*measure.axes]


def test_the_page_of_models_has_every_type_and_why_it_fails(site):
    text = (site / "models.html").read_text()
    for name, row in models.read_outcomes().items():
        assert f"<code>{name}</code>" in text, name
        line = text.partition(f"<td><code>{name}</code></td>")[2].partition("</tr>")[0]
        signs = re.findall(r"<td[^>]*>([✓◐–])</td>", line)
        if row["attention"] == "none":
            assert line == "", name
            continue
        assert [sign == "✓" for sign in signs] == [row[f] == "pass" for f in models.FAMILIES], name
        assert "".join(signs) == "✓✓✓" or re.search(r"<td>\S.*</td>\s*$", line, re.DOTALL), name


def test_every_public_name_is_in_the_reference_with_its_signature(site):
    text = "".join(page.read_text() for page in (site / "api").glob("*.html"))
    sections = re.findall(r'<h2[^>]*"doc doc-heading">(.*?)</h2>(.*?)(?=<h[1-6])', text, re.DOTALL)
    # A function may have the name of its module, which has no signature.
    signed = {
        re.sub(r"<.*?>|#", "", heading).replace("&nbsp;", "").strip()
        for heading, below in sections
        if "doc-signature" in below
    }
    names = {f"normviz.{name}" for name in normviz.__all__}
    names -= {"normviz.alignment", "normviz.errors", "normviz.studies"}  # modules
    # Without importing it, which would import torch.
    tree = ast.parse((ROOT / "normviz" / "studies" / "__init__.py").read_text())
    names |= {f"normviz.studies.{name}" for name in ast.literal_eval(tree.body[-1].value)}
    assert names - signed == set()


def test_every_claim_cites_tests_that_exist():
    text = (ROOT / "docs" / "pages" / "checked.md").read_text()
    lines = re.findall(r"^- .*(?:\n  .*)*", text, re.MULTILINE)
    without = [line for line in lines if not CITED.search(line)]
    assert without == ["- **Safari**, and screen readers with people who use them."]
    for path, name in CITED.findall(text):
        assert (ROOT / path).is_file(), path
        assert not name or name in function_names(ROOT / path), f"{path} has no {name}"


def function_names(path):
    """Return the names of all functions and classes in a Python file."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_the_architecture_page_names_code_and_folders_that_exist():
    text = (ROOT / "docs" / "pages" / "architecture.md").read_text()
    cited = re.findall(r"\[`([\w./]+)`\]\(\.\./\.\./([\w./]+)(?:#(\w+))?\)", text)
    assert len(cited) > 25
    for name, path, anchor in cited:
        assert (ROOT / path).is_file(), path
        if path.endswith(".py") and anchor:
            assert anchor == name
            assert name in function_names(ROOT / path), f"{path} has no {name}"
        elif "." not in name:
            defined = rf"export (?:function|class|interface|type) {name}\b"
            assert re.search(defined, (ROOT / path).read_text()), f"{path} has no {name}"
    python, typescript = re.findall(r"```\n(\S+)\n(.*?)```", text, re.DOTALL)
    assert folders(*python) == {path.name for path in packages(ROOT / "normviz")}
    assert folders(*typescript) == {p.name for p in (ROOT / "js" / "src").iterdir() if p.is_dir()}


def folders(root, tree):
    """Return the folders at the first level of a tree in the text."""
    assert (ROOT / root).is_dir()
    return {*re.findall(r"^  (\w+)/", tree, re.MULTILINE)}


def packages(folder):
    """Return the packages directly inside a folder."""
    return [path for path in folder.iterdir() if (path / "__init__.py").is_file()]


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
    pages = readme.pages(README)
    assert [*pages] == ["index.md", "guide/a-matter-of-its-own.md"]
    assert pages["guide/a-matter-of-its-own.md"] == "# A matter of its own\n\n## More of it\n"
    assert "# no heading" in pages["index.md"]
    rewriter = links.Links({}, readme.headings(pages))
    home = rewriter.rewrite(pages["index.md"], source="README.md", page="index.md")
    assert "[Elsewhere](guide/a-matter-of-its-own.md#more-of-it)" in home
    assert "[a `file`](source/docs/hooks.py.md), `[not](a link)`" in home
    assert rewriter.sources == {"docs/hooks.py"}


def test_a_link_to_a_missing_file_stops_the_build():
    with pytest.raises(FileNotFoundError, match=r"README.md links to nowhere.md"):
        links.Links({}).rewrite("[x](nowhere.md)", source="README.md", page="index.md")


def test_source_pages_have_an_anchor_for_every_function_and_all_the_code():
    text = (ROOT / "tests" / "corpus" / "test_sums.py").read_text()
    page = sources.page("tests/corpus/test_sums.py", text)
    assert '<a id="test_any_split_and_any_order_give_the_same"></a>' in page
    code = "".join(re.findall(r"~~~~~~python\n(.*?)~~~~~~\n", page, re.DOTALL))
    assert [*filter(str.strip, code.splitlines())] == [*filter(str.strip, text.splitlines())]


def notebook():
    """Return a small notebook with a badge and a picture."""
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


def test_an_executed_notebook_shows_its_pictures_in_separate_frames(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "CACHE", tmp_path / "cache")
    path = tmp_path / "t.ipynb"
    nbformat.write(notebook(), path)
    story = stories.convert(running.run_notebook(path), "t", executed=True)
    assert "badge.svg" not in story.markdown
    assert "[Open in Colab](https://x.org/t)" in story.markdown
    (frame,) = story.frames.values()
    assert "DecompressionStream" in frame
    page = stories.insert_outputs(story.markdown, story)
    assert 'src="t-0.html" loading="lazy"' in page
    assert "srcdoc" not in page
    assert "&lt;b&gt; x<" in page
    monkeypatch.setattr(running, "_execute", lambda _: pytest.fail("nothing has changed"))
    assert running.run_notebook(path).cells[2].outputs[0].text.startswith("<b>")


def test_a_notebook_is_run_again_when_what_it_depends_on_changes(tmp_path, monkeypatch):
    path = tmp_path / "t.ipynb"
    path.write_text("{}")
    first = running.cache_key(path)
    assert running.cache_key(path) == first
    monkeypatch.setattr(running, "iterate_dependencies", lambda: [b"a newer normviz"])
    assert running.cache_key(path) != first
