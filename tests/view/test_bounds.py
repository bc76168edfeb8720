"""Sizes and options out of bounds are refused by name, and nothing is written."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from flows import random_flow

import normviz
from normviz.cli.main import main
from normviz.errors import NormvizError
from normviz.view.bounds import BOUNDS, require_few_dots, require_size
from normviz.view.state import BadChoice

BAD = (0, -1, math.nan, math.inf, -math.inf, "8.5", "", True, False, 1e12, 10**400, [8], 8j)

EXPECTED = {
    "width_cm": "Expected a number of centimeters from 1 to 200. "
    "Use 8.5 for a column of a paper, 17 for two.",
    "dpi": "Expected a number of dots per inch from 10 to 2,400. "
    "Use 300 for print, 100 for a screen.",
    "height": "Expected a number of pixels from 50 to 20,000. "
    "Use 640 for the controls and twenty tokens.",
    "max_mb": "Expected a number of megabytes from 0.001 to 100,000. "
    "Leave it out for a file of any size.",
}

WRITERS = {
    "to_svg": ("width_cm",),
    "to_png": ("width_cm", "dpi"),
    "to_pdf": ("width_cm",),
    "to_html": ("max_mb",),
}
"""The methods that write a file, and the sizes each takes."""


@pytest.mark.parametrize("value", BAD, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(
    ("method", "name"), [(method, name) for method, names in WRITERS.items() for name in names]
)
def test_a_bad_size_is_refused_by_name_and_nothing_is_written(tmp_path, method, name, value):
    with pytest.raises(BadChoice) as refusal:
        getattr(random_flow(), method)(tmp_path / "figure", **{name: value})
    message = str(refusal.value)
    assert message.startswith(f"{name} is ")
    assert message.endswith(EXPECTED[name])
    assert list(tmp_path.iterdir()) == []


def test_the_size_that_was_found_is_in_the_message():
    for value, found in (("8.5", "'8.5'"), (True, "True"), (math.nan, "nan"), (-3, "-3")):
        with pytest.raises(BadChoice, match=rf"^dpi is {found}\. Expected a number"):
            require_size("dpi", value)


@pytest.mark.parametrize("value", [*BAD, None], ids=lambda value: repr(value)[:12])
def test_a_frame_refuses_a_bad_height(value):
    with pytest.raises(BadChoice) as refusal:
        random_flow().frame(height=value)
    assert str(refusal.value).startswith("height is ")
    assert str(refusal.value).endswith(EXPECTED["height"])


@pytest.mark.parametrize("value", BAD, ids=lambda value: repr(value)[:12])
def test_axes_refuse_a_bad_width(value):
    with pytest.raises(BadChoice, match=r"^width_cm is "):
        random_flow().plot(width_cm=value)


@pytest.mark.parametrize("name", BOUNDS)
def test_every_size_within_its_bounds_is_taken_whatever_kind_of_number_it_is(name):
    least, most = BOUNDS[name].smallest, BOUNDS[name].largest
    assert require_size(name, least) == least
    assert require_size(name, most) == most
    for outside in (math.nextafter(least, 0), math.nextafter(most, math.inf)):
        with pytest.raises(BadChoice):
            require_size(name, outside)
    for number in (np.float32(100), np.int64(100), Fraction(100), 100):
        assert require_size(name, number) == 100
        assert type(require_size(name, number)) is float


def test_a_frame_takes_the_nearest_whole_pixel():
    assert ' height="301" ' in random_flow().frame(height=300.7).html


@pytest.mark.parametrize("value", ["no", 2, math.nan, None, "True"])
@pytest.mark.parametrize("method", ["to_svg", "to_png"])
def test_a_legend_is_there_or_not(tmp_path, method, value):
    with pytest.raises(BadChoice, match=r"^There is no value for legend .* False, True\."):
        getattr(random_flow(), method)(tmp_path / "figure", legend=value)
    with pytest.raises(BadChoice, match=r"^There is no value for legend"):
        random_flow().plot(legend=value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["float64", "", 16, 0, -1, math.nan, math.inf, True, None])
def test_a_bad_precision_is_refused_with_a_list(tmp_path, value):
    pattern = r"^There is no precision .* The precisions are: log16, float32, uint8\."
    with pytest.raises(NormvizError, match=pattern):
        normviz.to_html(random_flow(), tmp_path / "page.html", precision=value)
    with pytest.raises(NormvizError, match=pattern):
        random_flow().frame(precision=value)
    assert list(tmp_path.iterdir()) == []


def test_a_picture_of_too_many_dots_is_refused_with_its_size(tmp_path):
    with pytest.raises(BadChoice) as refusal:
        random_flow().to_png(tmp_path / "large.png", width_cm=200, dpi=2400)
    message = str(refusal.value)
    assert message.startswith("At dpi 2400 the picture has 188,977 × ")
    assert "Expected at most 65,535 on a side, and 100,000,000 in all." in message
    assert message.endswith("Use a smaller dpi or width_cm, or write SVG, which has no dots.")
    assert list(tmp_path.iterdir()) == []
    require_few_dots(2.54, 2.54 * 65, 1000)
    for width, height in ((2.54, 2.54 * 66), (2.54 * 66, 2.54), (2.54 * 11, 2.54 * 10)):
        with pytest.raises(BadChoice):
            require_few_dots(width, height, 1000)


def test_a_long_text_counts_with_its_height(tmp_path):
    flow = random_flow([f"t{n}" for n in range(200)], layers=1, heads=1)
    with pytest.raises(BadChoice, match="the picture has 8,032 × 4"):
        flow.to_png(tmp_path / "long.png", measure="weight", dpi=2400)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dpi", [50, 200])
def test_a_png_has_the_dots_that_were_asked_for(tmp_path, dpi):
    data = random_flow().to_png(tmp_path / "x.png", dpi=dpi, width_cm=5.08).read_bytes()
    assert int.from_bytes(data[16:20]) == 2 * dpi


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty folder where no model may be loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "transformers", None)

    def run(*arguments):
        try:
            code = main([*arguments])
        except SystemExit as stop:
            code = stop.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "-inf", "wide", "", "1e12"])
@pytest.mark.parametrize(
    ("option", "name", "ending"),
    [
        ("--width-cm", "width_cm", "svg"),
        ("--width-cm", "width_cm", "png"),
        ("--dpi", "dpi", "png"),
        ("--max-mb", "max_mb", "html"),
    ],
)
def test_a_shell_gets_code_2_and_the_same_sentences(shell, tmp_path, option, name, ending, value):
    code, out, err = shell("show", "A text.", "-o", f"x.{ending}", f"{option}={value}")
    assert (code, out) == (2, "")
    assert f"normviz show: error: argument {option}: {option} is " in err
    assert err.strip().endswith(EXPECTED[name])
    assert list(tmp_path.iterdir()) == []


def test_a_shell_hears_which_precisions_there_are(shell):
    code, out, err = shell("show", "A text.", "--precision", "float64")
    assert (code, out) == (2, "")
    assert "argument --precision: invalid choice: 'float64'" in err


@pytest.mark.parametrize(
    ("options", "output", "sentence"),
    [
        (["--dpi", "100"], "x.svg", "--dpi is given for 'x.svg'. It is an option for .png."),
        (["--no-legend"], "x.html", "--no-legend is given for 'x.html'. It is an option for .svg"),
        (["--max-mb", "5"], "x.png", "--max-mb is given for 'x.png'. It is an option for .html."),
        (["--precision", "uint8"], "x.normviz", "--precision is given for 'x.normviz'."),
        (["--width-cm", "9"], "x.html", "It is an option for .svg or .png or .pdf. Leave it out,"),
    ],
)
def test_an_option_of_another_kind_of_file_is_refused(shell, tmp_path, options, output, sentence):
    for command in (["show", "A text."], ["view", "nowhere.normviz"]):
        code, out, err = shell(*command, "-o", output, *options)
        assert (code, out) == (2, "")
        assert err.startswith("normviz: ")
        assert sentence in err
    assert list(tmp_path.iterdir()) == []


def test_a_shell_can_size_a_figure(shell, tmp_path):
    saved = str(random_flow().save(tmp_path / "small.normviz"))
    assert shell("view", saved, "-o", "x.svg", "--width-cm", "12", "--no-legend")[0] == 0
    text = (tmp_path / "x.svg").read_text()
    assert 'width="12cm"' in text
    assert "longest bar" not in text
    assert shell("view", saved, "-o", "x.png", "--width-cm", "2.54", "--dpi", "100")[0] == 0
    assert int.from_bytes((tmp_path / "x.png").read_bytes()[16:20]) == 100
