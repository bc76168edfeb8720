"""Error messages in the words of the shell."""

import argparse

import pytest

from normviz.cli.messages import option_names, shell_message
from normviz.errors import NormvizError

OPTIONS = {
    "max_tokens": "--max-tokens",
    "measures": "--measures",
    "heads": "--heads",
    "target": "--target",
    "seed": "--seed",
    "model": "--model",
}


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ('cut it with max_tokens="model".', "cut it with --max-tokens model."),
        ("max_tokens is -1.", "--max-tokens is -1."),
        ("seed is 'a'.", "--seed is 'a'."),
        ("The model is a list.", "The model is a list."),
        ('Analyze with measures=["weight", "alti"].', "Analyze with --measures weight alti."),
        ("Name heads=[0, 1].", "Name --heads 0 1."),
        ("Give target=… (its translation).", "Give --target … (its translation)."),
        ("Write seed=0.", "Write --seed 0."),
        ("Give some text, or ready inputs with inputs=….", "Give some text."),
        ("Give target=…, or generate=… (how many tokens).", "Give --target …."),
        ('Use measures=["alti"], or normviz.rollout(flow, "alti").', "Use --measures alti."),
        ("Give a smaller number, or leave it out.", "Give a smaller number, or leave it out."),
        ("Write column=….", "Write column=…."),
    ],
)
def test_keywords_become_options(python, shell):
    error = NormvizError("Found.", "Expected.", python)
    assert shell_message(error, OPTIONS) == f"Found. Expected. {shell}"
    assert shell_message(NormvizError(python, "Expected.", "Do."), OPTIONS).startswith(shell)


def test_the_options_of_a_command_are_known_by_their_python_names():
    parser = argparse.ArgumentParser()
    parser.add_argument("text")
    parser.add_argument("-o", "--max-tokens")
    parser.add_argument("--no-legend", dest="legend", action="store_false")
    names = option_names(parser)
    assert names["max_tokens"] == "--max-tokens"
    assert names["legend"] == "--no-legend"
    assert "text" not in names
