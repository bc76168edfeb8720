"""The command line: what it reads, writes and prints, and how it ends."""

import io
import json
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import nbformat
import pytest
from flows import check, random_flow, receipt
from nbclient import NotebookClient
from saved_figures import SVG

import normviz
from normviz.cli.main import main
from normviz.system import progress


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; return the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = main([*arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def saved(tmp_path):
    """A small flow in a file."""
    return str(random_flow().save(tmp_path / "small.normviz"))


def test_show_writes_a_page_and_prints_the_finding(shell, tmp_path):
    code, out, _ = shell("show", "The cat sat.", "--pair", "On a mat.", "--layer", "2")
    assert code == 0
    assert "of what attention moves" in out
    assert str(tmp_path / "normviz.html") in out
    assert '"layer":2' in (tmp_path / "normviz.html").read_text()


def test_show_reads_a_pipe_or_a_file(shell, tmp_path):
    (tmp_path / "text.txt").write_text("A text in a file.\n", encoding="utf-8")
    _, piped, _ = shell("show", "--json", stdin="A text in a pipe.\n")
    _, filed, _ = shell("show", "--json", "--file", "text.txt")
    titles = [json.loads(out)["title"] for out in (piped, filed)]
    assert titles == ["A text in a pipe.", "A text in a file."]


def test_json_is_one_object_that_a_script_can_read(shell):
    code, out, err = shell("show", "The cat sat.", "--json", "-o", "x.html")
    found = json.loads(out)
    assert code == 0
    assert found["receipt"]["ok"] is True
    assert found["shares"]["encoder"]["weight"]["[CLS]"][2] > 0.3
    assert found["path"].endswith("x.html")
    assert "cat" not in err


@pytest.mark.parametrize("ending", ["html", "svg", "png", "pdf", "normviz"])
def test_view_writes_what_the_ending_says(shell, saved, tmp_path, ending):
    code, out, _ = shell(
        "view", saved, "-o", f"out.{ending}", "--measure", "weight", "--token", "2"
    )
    assert code == 0
    assert f"out.{ending}" in out
    data = (tmp_path / f"out.{ending}").read_bytes()
    starts = {
        "html": b"<!doctype",
        "svg": b"<svg",
        "png": b"\x89PNG",
        "pdf": b"%PDF",
        "normviz": b"PK",
    }
    assert data.startswith(starts[ending])


def test_every_part_of_the_state_has_an_option(shell, saved, tmp_path):
    options = [
        "--view",
        "matrix",
        "--stream",
        "encoder",
        "--measure",
        "weight",
        "--compare",
        "weighted-norm",
        "--layer",
        "1",
        "--heads",
        "0",
        "2",
        "--token",
        "3",
        "--role",
        "key",
        "--normalize",
        "query",
        "--words",
        "--special",
        "hidden",
        "--threshold",
        "0.1",
        "--color-by",
        "overlap",
        "--target-row",
        "output",
        "--difference",
        "--theme",
        "dark",
        "--precision",
        "uint8",
        "--max-mb",
        "9",
    ]
    assert shell("view", saved, "-o", "page.html", *options)[0] == 0
    text = (tmp_path / "page.html").read_text()
    data = json.loads(text.split('<script type="application/json">')[1].split("</script>")[0])
    assert data["state"] == {
        "view": "matrix", "stream": "encoder", "measure": "weight", "compare": "weighted-norm",
        "layer": 1, "heads": [0, 2], "token": 3, "role": "key", "normalize": "query",
        "words": True, "special": "hidden", "threshold": 0.1, "color_by": "overlap",
        "target_row": "output", "difference": True, "theme": "dark",
    }  # fmt: skip
    assert '"dtype":"log8"' in text


def test_a_layer_can_be_compared_with(shell, saved, tmp_path):
    assert shell("view", saved, "-o", "two.svg", "--layer", "0", "--compare", "2")[0] == 0
    found = [node.text for node in ET.parse(tmp_path / "two.svg").iter(f"{SVG}text")]  # noqa: S314
    assert {"layer 0", "layer 2"} <= set(found)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show", "x", "-o", "x.doc"), "A file can be: .html, .svg, .png, .pdf, .normviz."),
        (("show", "", "-o", "x.html"), "normviz:"),
        (("show", "--file", "nowhere.txt"), "nowhere.txt"),
        (("view", "nowhere.normviz"), "There is no file 'nowhere.normviz'"),
        (("show", "x", "--layer", "99"), "There is no layer 99 here."),
        (("show", "x", "--measure", "wieght"), "There is no measure 'wieght' here."),
        (("show", "x", "--model", "no-such/model"), "no-such/model"),
    ],
)
def test_errors_are_printed_on_stderr_with_code_2(shell, tmp_path, arguments, sentence):
    code, out, err = shell(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("normviz: ")
    assert sentence in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("show", "word " * 600), "--max-tokens model"),
        (("show", "x", "--samples", "1"), "--samples is 1"),
        (("show", "x", "--view", "alignment"), "--stream cross"),
        (("show", "x", "--model", "demo-translator"), "--target …"),
    ],
)
def test_errors_name_the_options_of_the_shell(shell, arguments, option):
    code, _, err = shell(*arguments)
    assert code == 2
    assert option in err
    assert not re.search(r"\b[a-z_]+=", err)


@pytest.mark.parametrize("option", ["--max-mb", "--width-cm", "--dpi"])
def test_a_bad_size_is_refused_by_its_option(shell, capsys, option):
    with pytest.raises(SystemExit):
        shell("show", "x", f"{option}=0")
    err = capsys.readouterr().err
    assert f"{option} is 0" in err
    assert option.strip("-").replace("-", "_") not in err or option == "--dpi"


def test_a_long_text_can_be_truncated(shell, tmp_path):
    for value, tokens in (("8", 8), ("model", 512)):
        command = ("show", "word " * 600, "--max-tokens", value, "--measures", "weight")
        assert shell(*command, "-o", "x.normviz")[0] == 0
        assert len(normviz.load(tmp_path / "x.normviz").tokens) == tokens


@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_a_bad_number_of_tokens_is_refused_by_its_option(shell, capsys, value):
    with pytest.raises(SystemExit):
        shell("show", "x", f"--max-tokens={value}")
    err = capsys.readouterr().err
    assert (
        f"argument --max-tokens: expected a whole number of at least 1, or model, not {value!r}"
        in err
    )


def test_without_a_text_on_a_terminal_it_does_not_wait(shell, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    code, _, err = shell("show")
    assert code == 2
    assert "There is no text." in err


def test_a_flow_that_does_not_add_up_is_written_and_fails(shell, tmp_path):
    from dataclasses import replace

    broken = replace(random_flow(), receipt=receipt([check("encoder", 0, 0.5)]))
    path = str(broken.save(tmp_path / "broken.normviz"))
    code, out, _ = shell("view", path, "-o", "page.html")
    assert code == 1
    assert "✗" in out
    assert (tmp_path / "page.html").exists()


def test_check_prints_json_for_a_script(shell):
    code, out, _ = shell("check", "demo", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["ok"] is True
    assert len(found["checks"]) == 6


def test_help_has_examples():
    done = subprocess.run(
        [sys.executable, "-m", "normviz", "--help"], capture_output=True, text=True, check=True
    )
    assert 'normviz show "The cat sat." --pair "On a mat."' in done.stdout


@pytest.mark.parametrize(("looking", "shown"), [(True, True), (False, False)])
def test_progress_is_shown_to_those_who_look_and_not_in_a_pipe(
    monkeypatch, capsys, demo, looking, shown
):
    monkeypatch.setattr(progress, "DELAY", 0)
    monkeypatch.setattr(progress, "is_interactive", lambda: looking)
    normviz.analyze(demo[0], "The cat sat.", tokenizer=demo[1])
    assert ("attention layers" in capsys.readouterr().err) == shown


def test_a_pipe_is_not_interactive_even_where_notebooks_are_installed(monkeypatch):
    import ipykernel  # noqa: F401 - loaded, but no kernel runs here

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not progress.is_interactive()


def test_a_notebook_is_interactive(tmp_path):
    code = "from normviz.system.progress import is_interactive; print(is_interactive())"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, resources={"metadata": {"path": tmp_path}}).execute()
    assert notebook.cells[0].outputs[0].text == "True\n"


def test_the_effective_form_has_an_option(shell):
    command = ("show", "The cat sat.", "--measures", "effective-weight", "-o", "x.normviz")
    assert shell(*command, "--effective-form", "stochastic")[0] == 0
    assert any("form 'stochastic'" in note for note in normviz.load("x.normviz").receipt.notes)
