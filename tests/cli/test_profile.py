"""The command `normviz profile`: what reaches the run, what is written, how it ends."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from profiles import assert_same_profile

import normviz
from normviz.cli.main import main
from normviz.core.catalog import DEFAULT
from normviz.corpus.profile import Profile

LINES = ["= Animals =", "The cat sat.", "A dog ran, and ran.", "Nobody came.", "It was late."]


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with a corpus; return the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text("\n".join(LINES), encoding="utf-8")

    def run(*arguments):
        code = main(["profile", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def calls(monkeypatch, demo):
    """Replace the run, and keep its arguments."""
    found = normviz.profile(demo[0], LINES[1:], tokenizer=demo[1], head_patterns=False)
    kept = SimpleNamespace(model=None, texts=[], options={}, found=found)

    def profile(model, texts, **options):
        kept.model, kept.texts, kept.options = model, list(texts), options
        return kept.found

    monkeypatch.setitem(vars(normviz), "profile", profile)
    return kept


def test_every_option_reaches_the_run(shell, calls):
    Path("more.jsonl").touch()
    code, *_ = shell(
        "corpus.txt", "more.jsonl", "--model", "m", "--tokenizer", "t", "--measures", "weight",
        "value-norm", "--punctuation", "paper", "--max-tokens", "64", "--batch-size", "4",
        "--column", "body", "--checkpoint", "run.normviz", "-o", "x.csv",
    )  # fmt: skip
    assert code == 0
    assert calls.texts == [Path("corpus.txt"), Path("more.jsonl")]
    assert calls.model == "m"
    assert calls.options == {
        "tokenizer": "t", "measures": ["weight", "value-norm"], "max_tokens": 64, "batch_size": 4,
        "column": "body", "checkpoint": "run.normviz", "executor": None, "punctuation": "paper",
    }  # fmt: skip
    shell("corpus.txt", "-o", "x.csv")
    assert calls.model == "demo"
    default = {"measures": DEFAULT, "max_tokens": None, "batch_size": 16, "column": None}
    default |= {"tokenizer": None, "checkpoint": None, "executor": None}
    default |= {"punctuation": "unicode"}
    assert calls.options == default
    shell("corpus.txt", "--max-tokens", "model", "-o", "x.csv")
    assert calls.options["max_tokens"] == "model"
    shell("corpus.txt", "--measures", "all", "--pairs", "-o", "x.csv")
    assert calls.options["measures"] == "all"
    assert [(one.text, one.pair) for one in calls.texts] == [tuple(LINES[1:3]), tuple(LINES[3:])]


def test_the_table_and_where_the_profile_is_are_printed(shell, calls, tmp_path):
    code, out, err = shell("corpus.txt", "-o", "x.normviz")
    assert (code, err) == (0, "")
    assert out == f"{calls.found}\n\nThe profile: {tmp_path / 'x.normviz'}\n"
    assert_same_profile(normviz.load("x.normviz"), calls.found)


def test_a_csv_file_has_shares_masses_and_means(shell, calls):
    import pandas as pd

    assert shell("corpus.txt", "-o", "x.csv")[0] == 0
    table = pd.read_csv("x.csv", dtype={"head": "string"})
    assert set(table["head"].dropna()) == {str(head) for head in range(12)}
    assert set(table["table"]) == {"share", "mass", "mean"}
    some = table[table["head"].isna() & (table["measure"] == "weight")]
    some = some[(some["table"] == "share") & (some["category"] == "[CLS]")]
    np.testing.assert_allclose(some["mean"], calls.found.share("weight", "[CLS]"))


def test_a_page_is_written_by_the_profile_itself(shell, calls, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        Profile, "to_html", lambda self, path: drawn.append((self, path)), raising=False
    )
    for output in ((), ("-o", "X.HTML")):
        assert shell("corpus.txt", *output)[0] == 0
    assert drawn == [(calls.found, Path("profile.html")), (calls.found, Path("X.HTML"))]


def test_texts_that_fail_are_printed_with_code_1_and_the_rest_is_written(shell):
    Path("some.jsonl").write_text('{"text": "The cat sat."}\n' + '{"other": 1}\n' * 7)
    code, out, _ = shell("some.jsonl", "-o", "x.normviz")
    assert code == 1
    assert "1 text, 6 tokens; 7 failed" in out
    assert "7 texts could not be measured:\n  1: it is a NoneType" in out
    assert out.count("NoneType") == 5
    assert normviz.load("x.normviz").texts == 1


def test_json_is_one_object_that_a_script_can_read(shell, calls, tmp_path):
    code, out, _ = shell("corpus.txt", "--json", "-o", "x.csv")
    found = json.loads(out)
    assert code == 0
    assert found["path"] == str(tmp_path / "x.csv")
    assert (found["texts"], found["tokens"]) == (calls.found.texts, calls.found.tokens)
    assert found["failures"] == []
    assert found["shares"]["weight"]["[CLS]"] == calls.found.share("weight", "[CLS]").tolist()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("corpus.txt", "-o", "x.pdf"), "A file can be: .html, .normviz, .csv."),
        (("nowhere.txt", "-o", "x.csv"), "There is no file or folder 'nowhere.txt'"),
        (("nowhere.txt", "--pairs", "-o", "x.csv"), "There is no file or folder 'nowhere.txt'"),
        (("corpus.txt", "--measures", "wieght", "-o", "x.csv"), "wieght"),
    ],
)
def test_errors_are_printed_on_stderr_with_code_2(shell, tmp_path, arguments, sentence):
    code, out, err = shell(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("normviz: ")
    assert sentence in err
    assert [one.name for one in tmp_path.iterdir()] == ["corpus.txt"]


def test_errors_name_the_options_of_the_shell(shell):
    Path("long.txt").write_text("word " * 600)
    code, _, err = shell("long.txt", "-o", "x.csv")
    assert code == 2
    assert "602 tokens" in err
    assert "--max-tokens" in err
    assert "max_tokens" not in err


@pytest.mark.parametrize("option", ["--workers", "--batch-size", "--max-tokens"])
def test_numbers_below_one_are_refused_before_a_model_is_loaded(shell, capsys, option):
    for wrong in ("0", "-1", "many"):
        with pytest.raises(SystemExit):
            shell("corpus.txt", f"{option}={wrong}")
        assert (
            f"argument {option}: expected a whole number of at least 1" in capsys.readouterr().err
        )


def test_workers_are_processes_and_give_what_one_gives(tmp_path, demo):
    (tmp_path / "corpus.txt").write_text("\n".join(LINES), encoding="utf-8")
    command = [sys.executable, "-m", "normviz", "profile", "corpus.txt", "--pairs"]
    command += ["--workers", "2", "--batch-size", "1", "-o", "x.normviz"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == ""
    assert_same_profile(
        normviz.load(tmp_path / "x.normviz"),
        normviz.profile(demo[0], [tuple(LINES[1:3]), tuple(LINES[3:])], tokenizer=demo[1]),
    )
