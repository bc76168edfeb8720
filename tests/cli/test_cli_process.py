"""The command line from outside: what reaches the analysis, what is opened, how it ends."""

import io
import json
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from flows import WEIGHTS_ONLY, check, random_flow, receipt, two_streams

import normviz
from normviz.cli.main import main
from normviz.core.catalog import DEFAULT
from normviz.core.gradients import Gradients
from normviz.model import loading as models
from normviz.system import progress


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; return the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main([*arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def analysis(monkeypatch):
    """Replace the analysis, and keep its arguments."""
    calls = SimpleNamespace(model=None, options={}, flow=random_flow())

    def analyze(model, **options):
        calls.model, calls.options = model, options
        return calls.flow

    monkeypatch.setitem(vars(normviz), "analyze", analyze)
    return calls


@pytest.fixture
def windows(monkeypatch):
    """The URLs that a browser was asked to open."""
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return opened


def test_every_option_of_show_reaches_the_analysis(shell, analysis):
    code, *_ = shell(
        "show", "Guten Tag.", "--model", "m", "--tokenizer", "t", "--pair", "p",
        "--target", "Hello.", "--max-tokens", "64", "--measures", "weight", "value-norm",
        "--effective-form", "paper", "--samples", "8", "--seed", "3", "--norm", "frobenius",
        "--origin", "before-norm", "--rows", "raw",
    )  # fmt: skip
    assert code == 0
    assert analysis.model == "m"
    assert analysis.options == {
        "text": "Guten Tag.", "tokenizer": "t", "pair": "p", "target": "Hello.", "max_tokens": 64,
        "measures": ["weight", "value-norm"], "effective_form": "paper",
        "gradients": Gradients(samples=8, seed=3, origin="before-norm", rows="raw"),
    }  # fmt: skip
    shell("show", "A text.")
    assert analysis.model == "demo"
    assert analysis.options == {
        "text": "A text.", "tokenizer": None, "pair": None, "target": None, "max_tokens": None,
        "measures": list(DEFAULT), "effective_form": "bias", "gradients": None,
    }  # fmt: skip
    shell("show", "A text.", "--max-tokens", "model", "--norm", "spectral")
    assert analysis.options["max_tokens"] == "model"
    assert analysis.options["gradients"] == Gradients(norm="spectral")


def test_a_measure_that_is_drawn_is_computed(shell, analysis):
    shell("show", "A text.", "--measure", "layer-output", "--compare", "weight")
    assert analysis.options["measures"] == [*DEFAULT, "layer-output"]
    shell("show", "A text.", "--measures", "all")
    assert analysis.options["measures"] == "all"


def test_a_dash_reads_the_pipe(shell, analysis, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("From a pipe.\n"))
    assert shell("show", "-")[0] == 0
    assert analysis.options["text"] == "From a pipe."


def test_a_file_ends_where_its_words_end(shell, analysis, tmp_path):
    (tmp_path / "text.txt").write_text("\n From a file.\n\n", encoding="utf-8")
    assert shell("show", "--file", "text.txt")[0] == 0
    assert analysis.options["text"] == "From a file."


def test_the_tokenizer_reaches_the_check_and_a_failed_check_is_code_1(shell, monkeypatch):
    calls = []

    def check_model(model, *, tokenizer):
        calls.append((model, tokenizer))
        return SimpleNamespace(receipt=receipt([check("encoder", 0, 0.5)]))

    monkeypatch.setitem(vars(normviz), "check", check_model)
    code, out, _ = shell("check", "m", "--tokenizer", "t")
    assert (code, calls) == (1, [("m", "t")])
    assert "✗" in out
    code, out, _ = shell("check", "m", "--json")
    assert (code, json.loads(out)["ok"]) == (1, False)


def test_an_interrupted_command_says_so_on_stderr_with_code_130(shell, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setitem(vars(normviz), "analyze", interrupted)
    assert shell("show", "A text.") == (130, "", "normviz: interrupted\n")


def test_a_path_that_cannot_be_written_to_is_code_2(shell, analysis, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, out, err = shell("show", "A text.", "-o", "file/x.html")
    assert (code, out) == (2, "")
    assert err.startswith("normviz: ")
    assert "file" in err


@pytest.mark.parametrize("variable", ["DISPLAY", "WAYLAND_DISPLAY", None])
@pytest.mark.parametrize("command", [("show", "A text.", "-o", "x.html"), ("demo", "-o", "x.html")])
def test_the_picture_is_opened_where_there_is_a_display(
    shell, analysis, windows, monkeypatch, tmp_path, variable, command
):
    if variable:
        monkeypatch.setenv(variable, ":0")
    assert shell(*command)[0] == 0
    assert windows == []
    assert shell(*command, "--open")[0] == 0
    assert windows == ([(tmp_path / "x.html").as_uri()] if variable else [])


def test_the_demo_prints_the_whole_path_and_json_for_a_script(shell, analysis, tmp_path):
    _, out, _ = shell("demo")
    assert f"The picture: {tmp_path / 'demo.html'}\n" in out
    _, out, _ = shell("demo", "--json")
    found = json.loads(out)
    assert found["path"] == str(tmp_path / "demo.html")
    assert set(found) == {"path", "model", "title", "shares", "receipt"}


def test_view_prints_json_for_a_script_as_it_is_written(shell, tmp_path):
    flow = replace(random_flow(), title="Größe 漢字")
    saved = str(flow.save(tmp_path / "small.normviz"))
    code, out, err = shell("view", saved, "--json", "-o", "x.svg")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "path": str(tmp_path / "x.svg"),
        "model": "numbers from elsewhere",
        "title": "Größe 漢字",
        "shares": json.loads(out)["shares"],
        "receipt": {"ok": True, "headline": flow.receipt.headline()},
    }
    assert "Größe 漢字" in out
    weight = json.loads(out)["shares"]["encoder"]["weight"]
    assert len(next(iter(weight.values()))) == 3


def test_flows_without_a_finding_are_written(shell, tmp_path):
    for flow in (two_streams(), WEIGHTS_ONLY):
        saved = str(flow.save(tmp_path / "flow.normviz"))
        code, out, _ = shell("view", saved)
        assert code == 0
        assert out.startswith(flow.receipt.headline())


def test_a_flow_is_called_a_flow_and_a_picture_a_picture(shell, tmp_path):
    saved = str(random_flow().save(tmp_path / "flow.normviz"))
    for output, words in (("copy.normviz", "The flow"), ("X.HTML", "The picture")):
        assert f"{words}: {tmp_path / output}\n" in shell("view", saved, "-o", output)[1]
    assert (tmp_path / "X.HTML").read_text().startswith("<!doctype html>")


def test_a_pipe_gets_nothing_but_the_answer(tmp_path):
    command = [sys.executable, "-m", "normviz", "show", "--json", "-o", "x.html"]
    done = subprocess.run(
        command, input="The cat sat.\n", capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert json.loads(done.stdout)["title"] == "The cat sat."
    assert done.stderr == ""


def test_the_bars_of_others_come_back_after_loading(monkeypatch):
    from transformers.utils import logging

    logging.enable_progress_bar()
    for looking in (True, False):
        monkeypatch.setattr(progress, "is_interactive", lambda looking=looking: looking)
        with models.quiet_progress_bars():
            assert logging.is_progress_bar_enabled() == looking
        with pytest.raises(ZeroDivisionError), models.quiet_progress_bars():
            _ = 1 / 0
        assert logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    with models.quiet_progress_bars():
        pass
    assert not logging.is_progress_bar_enabled()
