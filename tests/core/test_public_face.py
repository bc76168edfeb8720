"""What a user sees of the package: its names, its signatures, and nothing else."""

import inspect
import subprocess
import sys
from importlib.util import find_spec
from typing import Any, get_args

import pytest
from flows import random_flow

import normviz
from normviz import Flow
from normviz.core.catalog import MeasureId
from normviz.errors import UnknownKeyword

NEEDS_TORCH = {"analyze", "analyze_many", "check", "profile", "studies"}
FUNCTIONS = [
    normviz.agreement,
    normviz.attention_flow,
    normviz.context,
    normviz.faithfulness,
    normviz.from_arrays,
    normviz.load,
    normviz.patterns,
    normviz.rollout,
    *(
        method
        for name, method in inspect.getmembers(Flow, inspect.isfunction)
        if not name.startswith("_")
    ),
]


def test_completion_offers_everything_public_and_nothing_else():
    assert dir(normviz) == sorted([*normviz.__all__, "__version__"])
    for name in set(normviz.__all__) - NEEDS_TORCH:
        assert getattr(normviz, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        normviz.nothing  # noqa: B018


@pytest.mark.parametrize(
    "name",
    ["Stream", "Receipt", "Profile", "Chart", "FlowWidget", "Gradients", "Measure", "symmetrize"],
)
def test_the_types_of_results_and_options_are_public(name):
    assert name in normviz.__all__
    assert callable(getattr(normviz, name))


def test_no_public_function_shadows_a_module():
    for name in set(normviz.__all__) - {"alignment", "errors", "studies"}:
        assert find_spec(f"normviz.{name}") is None, name


def test_importing_normviz_imports_neither_torch_nor_widgets():
    code = """
import sys, normviz
dir(normviz)
print(sorted({"torch", "transformers", "anywidget", "pandas", "matplotlib"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_public_signatures_have_types(function):
    parameters = list(inspect.signature(function).parameters.values())
    untyped = (inspect.Parameter.empty, Any, object)
    for parameter in parameters:
        if parameter.name != "self":
            assert parameter.annotation not in untyped, parameter
            assert "Any" not in str(parameter.annotation)


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda flow: normviz.rollout(flow, "weight", row="raw"), "rows"),
        (lambda flow: normviz.attention_flow(flow, layer=[0]), "layers"),
        (lambda flow: normviz.agreement(flow, "weight", "weight", tops=2), "top"),
        (lambda flow: normviz.patterns(flow, steam="encoder"), "stream"),
        (lambda flow: normviz.context(flow, "weight", streams="encoder"), "stream"),
        (lambda flow: normviz.faithfulness(flow, "weight", att="layer"), "at"),
        (lambda _: normviz.from_arrays([[[[1.0]]]], ["a"], titel="x"), "title"),
    ],
)
def test_a_misspelled_keyword_is_answered_with_the_right_one(call, right):
    with pytest.raises(UnknownKeyword, match=f"Write {right}=… instead"):
        call(random_flow())


def test_the_ids_of_measures_are_a_type():
    assert "weighted-norm" in get_args(MeasureId)
    assert isinstance(normviz.MEASURES["weighted-norm"], normviz.Measure)
