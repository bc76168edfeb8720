"""Every Python block of the README runs as it stands, in order; every command in it parses.

Started as a script, this file runs the blocks in the current folder: the environment must be set
before transformers is imported, and the blocks may start processes, which import the script again.
"""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TIMEOUT = 1200
"""Seconds for all blocks together."""
COMMIT = "0" * 40
"""The revision of the models in the hub cache."""
CORPUS = (
    "The keys to the old cabinet are on the table, next to the lamp.",
    "She read the letter twice, folded it, and said nothing.",
    "Bread needs flour, water, salt and time.",
    "My brother, who plays the cello, hates loud music.",
    "No bird sang, but the bees were already awake.",
    "Two of the three answers were wrong, the teacher said.",
)


@dataclass(frozen=True)
class Block:
    """A code block: its language, the heading above it, the line it starts at, and its source."""

    language: str
    heading: str
    line: int
    source: str

    @property
    def name(self) -> str:
        """The heading and the first line, to find the block by."""
        return f"{self.heading}: {self.source.strip().splitlines()[0][:60].strip()}"


def read_blocks(text: str) -> list[Block]:
    """Return the code blocks of a Markdown text, in order."""
    blocks, heading, language, lines = [], "", None, []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            if language is None:
                language, lines = line.removeprefix("```").strip(), []
            else:
                source = "\n".join(lines) + "\n"
                blocks.append(Block(language, heading, number - len(lines), source))
                language = None
        elif language is not None:
            lines.append(line)
        elif found := re.match(r"#+ (.+)", line):
            heading = found[1]
    return blocks


BLOCKS = read_blocks(README.read_text(encoding="utf-8"))
PYTHON = [block for block in BLOCKS if block.language == "python"]
SHELL = [block for block in BLOCKS if block.language in ("", "bash", "console", "sh", "shell")]


# --- the blocks, run as a script in a folder of their own -----------------------------------------


def run_blocks(blocks: list[Block]) -> dict[str, list[str]]:
    """Run every statement of the blocks in one namespace; return failures by a block's first line.

    A failure does not stop the run: later failures are reported too.
    """
    namespace = {"__name__": "__main__"}
    return {str(block.line): list(filter(None, _run_block(block, namespace))) for block in blocks}


def _run_block(block: Block, namespace: dict) -> list[str | None]:
    try:
        tree = ast.parse(block.source)
    except SyntaxError as error:
        return [f"line {block.line + (error.lineno or 1) - 1}: {error}"]
    return [_run_statement(statement, block, namespace) for statement in tree.body]


def _run_statement(statement: ast.stmt, block: Block, namespace: dict) -> str | None:
    source = ast.get_source_segment(block.source, statement)
    ast.increment_lineno(statement, block.line - 1)
    try:
        if isinstance(statement, ast.Expr):
            code = compile(ast.Expression(statement.value), README, "eval")
            repr(eval(code, namespace))  # noqa: S307 (a block of this repository's README)
        else:
            code = compile(ast.Module([statement], []), README, "exec")
            exec(code, namespace)  # noqa: S102
    except BaseException:  # noqa: BLE001 (an exit is a failure, too)
        why = traceback.format_exc(limit=-3).strip()
        return f"line {statement.lineno}: {source}\n{why}"
    return None


# --- what a reader would have ---------------------------------------------------------------------


def save_to_hub_cache(cache: Path, name: str, *parts: object) -> None:
    """Save a model and its tokenizer in the layout of the hub's cache, as if downloaded."""
    repository = cache / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    for part in parts:
        part.save_pretrained(repository / "snapshots" / COMMIT)


def narrow_bert():
    """Return a random BERT with the layers and heads of BERT-base, and 48 dimensions."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(0)
    return BertForMaskedLM(BertConfig(hidden_size=48, intermediate_size=96)).eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, demo):
    """A working folder with a corpus, a model and the data of the notebooks, and a hub cache."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "corpus.txt").write_text("\n".join(CORPUS) + "\n", encoding="utf-8")
    for part in demo:
        part.save_pretrained(folder / "my-model")
    (folder / "notebooks" / "data").mkdir(parents=True)
    for path in (ROOT / "notebooks" / "data").glob("es-en.*"):
        shutil.copy(path, folder / "notebooks" / "data")
    _, tokenizer = demo
    for name in ("bert-base-uncased", "google-bert/bert-base-uncased"):
        save_to_hub_cache(folder / "huggingface" / "hub", name, narrow_bert(), tokenizer)
    return folder


@pytest.fixture(scope="module")
def failures(folder):
    """The failures of every Python block, by line, after one run of all of them in order."""
    home = folder / "huggingface"
    environment = os.environ | {
        "HF_HOME": str(home),
        "HF_HUB_CACHE": str(home / "hub"),
        "HF_HUB_OFFLINE": "1",
        "MPLBACKEND": "agg",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "TOKENIZERS_PARALLELISM": "false",
    }
    done = subprocess.run(
        [sys.executable, __file__, "failures.json"],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "failures.json").read_text(encoding="utf-8"))


# --- the tests ------------------------------------------------------------------------------------


def test_the_readme_has_blocks_of_both_kinds():
    assert len(PYTHON) > 10
    assert SHELL


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: block.name)
def test_a_python_block_runs_as_it_stands(block, failures):
    found = "\n\n".join(failures[str(block.line)])
    assert not found, f"{block.name} (README.md, line {block.line})\n\n{found}"


def commands(block):
    """Return the arguments of every call of normviz in a shell block."""
    found = []
    for line in block.source.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
        starts = [0, *(at + 1 for at, word in enumerate(words) if word in ("|", "&&", ";"))]
        for start, end in zip(starts, [*(at - 1 for at in starts[1:]), len(words)], strict=True):
            if words[start:end][:1] == ["normviz"]:
                found.append(words[start + 1 : end])
    return found


@pytest.mark.parametrize(
    "arguments", [call for block in SHELL for call in commands(block)], ids=" ".join
)
def test_a_command_has_arguments_that_the_shell_accepts(arguments):
    from normviz.cli.arguments import parser_for

    names = ("show", "view", "profile", "align", "check", "demo")
    assert callable(parser_for(dict.fromkeys(names, print)).parse_args(arguments).run)


def test_commands_are_found_in_pipes_and_before_comments():
    block = Block(
        "", "", 1, 'echo "a | b" | normviz show --json | jq .x\nnormviz view a -o b # c\n'
    )
    assert commands(block) == [["show", "--json"], ["view", "a", "-o", "b"]]


def test_a_failing_statement_is_reported_with_its_line_and_the_others_run():
    text = (
        "# Title\n\n```python\na = 1\nb = missing\nassert a == 2\n```\n\n```python\na\nb c\n```\n"
    )
    first, second = read_blocks(text)
    reports = run_blocks([first, second])
    assert first.name == "Title: a = 1"
    assert [report.partition("\n")[0] for report in reports["4"]] == [
        "line 5: b = missing",
        "line 6: assert a == 2",
    ]
    assert "NameError" in reports["4"][0]
    assert reports["10"][0].startswith("line 11: invalid syntax")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(run_blocks(PYTHON)), encoding="utf-8")


def test_the_counts_of_supported_models_are_those_of_the_table():
    outcomes = json.loads((ROOT / "tests/support/zoo/outcomes.json").read_text(encoding="utf-8"))
    rows = [row for row in outcomes.values() if row["attention"] != "none"]

    def count(family, kind):
        return sum(row[family].partition(":")[0] == kind for row in rows)

    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    sentence = (
        f"Of {len(rows)} types with softmax attention, the four attention measures work for "
        f'{count("attention", "pass")}, `measures="all"` for {count("all", "pass")} (and for '
        f"{count('all', 'left out')} more without what they cannot have, which the receipt names), "
        f"`hidden-attribution` for {count('gradients', 'pass')}."
    )
    assert sentence in text
