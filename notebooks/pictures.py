"""The still pictures of the notebooks, for places that run nothing: `make pictures`.

One function for each picture: `first_look` draws `pictures/first-look.png`.
"""

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from normviz import Flow
    from normviz.core.chart import Chart
    from normviz.corpus.profile import Profile

HERE = Path(__file__).parent
DPI = 110
COLORS = 48
"""Sharp enough for a page, and small enough for a repository: dots to the inch, and colors."""
LINES = ("alignment.png",)
"""Pictures whose thin lines have colors of their own; with few colors, these would go first."""

PICTURES: dict[str, Callable[[Path], object]] = {}


def picture(draw: Callable[[Path], object]) -> Callable[[Path], object]:
    """Enter a function among the pictures, under the name of its file."""
    PICTURES[draw.__name__.replace("_", "-") + ".png"] = draw
    return draw


def taken(notebook: str, name: str) -> Any:
    """What a notebook calls by a name, so that pictures and notebooks show the same.

    The cell that defines it is run alone.
    """
    cells = json.loads((HERE / f"{notebook}.ipynb").read_text())["cells"]
    for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
        if re.search(rf"^(def {name}\(|{name} = )", source, re.MULTILINE):
            space: dict[str, Any] = {}
            exec(source, space)  # noqa: S102 (a cell of this repository's own notebook)
            return space[name]
    raise LookupError(f"{notebook} defines no {name}")


def side_by_side(path: Path, *charts: "Chart", height_cm: float = 8.5) -> None:
    """Draw charts beside each other, shares on one axis, and write them to one file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(17 / 2.54, height_cm / 2.54), layout="constrained")
    panels = figure.subplots(1, len(charts), squeeze=False)[0]
    shares = [curve.highest for chart in charts if not chart.unit for curve in chart.series]
    for chart, ax in zip(charts, panels, strict=True):
        chart.plot(ax)
        if not chart.unit:
            ax.set_ylim(0, 1.05 * max(shares))
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.18), "ncols": 2}
        ax.legend(frameon=False, fontsize="x-small", **below)
    figure.savefig(path, dpi=DPI)


@cache
def demo_flow() -> "Flow":
    """The pair of sentences of the first three notebooks, up the whole ladder."""
    import normviz
    from normviz.derived.headline import DEMO_PAIR, DEMO_TEXT

    rungs = taken("03-beyond-attention", "RUNGS")
    return normviz.analyze(
        "demo", text=DEMO_TEXT, pair=DEMO_PAIR, measures=["weight", "value-norm", *rungs]
    )


@picture
def first_look(path: Path) -> None:
    """One layer twice: by weight most ribbons go to [CLS], by what is moved hardly any."""
    demo_flow().to_png(path, measure="weight", compare="weighted-norm", layer=2, dpi=DPI)


@picture
def shares_of_a_corpus(path: Path) -> None:
    """Over a dozen texts: [CLS] has much of α in the middle layers, and little of ‖αf(x)‖."""
    import normviz

    found = normviz.profile(taken("02-attention-is-not-only-a-weight", "texts"), "demo")
    side_by_side(path, found.chart("weight"), found.chart("weighted-norm"))


@picture
def up_the_ladder(path: Path) -> None:
    """How much of a token comes from others on every rung, and what each component changes."""
    charts = taken("03-beyond-attention", "charts")
    side_by_side(path, *charts(demo_flow(), taken("03-beyond-attention", "RUNGS")))


def sinking(found: "Profile", measures: dict[str, str], lengths: list[int]) -> tuple["Chart", ...]:
    """The first token's share by some measures, and how long its vectors are beside others."""
    from normviz.core.chart import Chart, Series

    table = found.to_dataframe("share")
    first = table[(table["category"] == "first token") & table["head"].isna()]
    layers = tuple(range(len(found.share("weight", "first token"))))
    evenly = sum(sum(1 / seen for seen in range(1, n + 1)) / n for n in lengths) / len(lengths)
    curves = [Series("evenly", (evenly,) * len(layers), faint=True)]
    for name, measure in measures.items():
        rows = first[first["measure"] == measure].sort_values("layer")
        mean, low, high = (tuple(rows[column].clip(0, 1)) for column in ("mean", "low", "high"))
        curves.append(Series(name, mean, low=low, high=high))
    beside = found.mean("value-norm", "first token") / found.mean("value-norm", "rest")
    length = Series("first token ÷ all others", tuple(beside.tolist()))
    said = ("share of the first token", "of what a query takes", f"mean of {len(lengths)} texts")
    return (
        Chart(*said, layers, tuple(curves)),
        Chart("length of its vectors", "‖f(x)‖", "‖f(x)‖, ratio", layers, (length,), unit="ratio"),
    )


@picture
def attention_sink(path: Path) -> None:
    """The first token of a language model: its share by weight and by norm, and its vectors."""
    import normviz
    from normviz.model.demo import load

    names = ("texts", "place", "MEASURES")
    texts, place, measures = (taken("04-a-language-model", name) for name in names)
    model, tokenizer = load("demo-decoder")
    found = normviz.profile(texts, model, tokenizer, categories=place, heads=False, batch_size=4)
    lengths = [len(tokenizer(text)["input_ids"]) for text in texts]
    side_by_side(path, *sinking(found, measures, lengths))


@cache
def translation_flow() -> "Flow":
    """The translation in another order, with the links that people drew."""
    import normviz

    pairs, lines = (taken("05-translation", name) for name in ("PAIRS", "LINKS"))
    source, target = pairs[2]
    flow = normviz.analyze("demo-translator", source, target=target)
    return flow.with_gold(normviz.alignment.read(lines)[2], source=source, target=target)


@picture
def alignment(path: Path) -> None:
    """Three words wrongly linked by weight, none by norm; saved where this view is drawn."""
    sys.path.append(str(HERE.parent / "tests" / "support"))
    from browser import chromium, opening

    choice = {"view": "alignment", "measure": "weight", "compare": "weighted-norm", "layer": 0}
    with chromium() as browser, opening(browser, path.parent) as opened:
        tab = opened(translation_flow(), theme="light", **choice)
        with tab.expect_download() as coming:
            tab.get_by_role("button", name="save PNG").click()
        coming.value.save_as(path)
    (path.parent / "figure.html").unlink()


@picture
def error_rates(path: Path) -> None:
    """Error rates by layer: the first is best with input, the last with output."""
    import normviz

    pairs, lines = (taken("05-translation", name) for name in ("PAIRS", "LINKS"))
    study = normviz.studies.alignment("demo-translator", pairs, lines)
    side_by_side(path, study.chart("input"), study.chart("output"))


@picture
def effective_attention(path: Path) -> None:
    """One layer twice: the column of [CLS], dark by α, is gone from α⊥."""
    import normviz

    text = taken("06-is-attention-identifiable", "TEXT")
    flow = normviz.analyze("demo", text, measures=["weight", "effective-weight"], layers=[2])
    flow.to_png(path, view="matrix", measure="weight", compare="effective-weight", dpi=DPI)


@picture
def faithfulness(path: Path) -> None:
    """How far local measures tell what happens without a token's values, layer by layer."""
    import normviz

    text, local, curves = (taken("07-from-local-to-global", n) for n in ("TEXT", "LOCAL", "curves"))
    flow = normviz.analyze("demo", text, measures=[*local, "value-zeroing"])
    side_by_side(path, curves(flow, local))


@picture
def your_own_model(path: Path) -> None:
    """A bar of either kind in one patch of a noisy image, and what [CLS] takes from each patch."""
    from matplotlib.figure import Figure

    import normviz

    images, trained = (taken("08-your-own-model", name) for name in ("images", "trained"))
    (pixels, bars, _), vit = images(100, seed=12345), trained()
    figure = Figure(figsize=(17 / 2.54, 12 / 2.54), layout="constrained")
    for row, kind in zip(figure.subplots(2, 3), (0, 1), strict=True):
        image = pixels[bars == kind][:1]
        flow = normviz.analyze(vit, inputs={"pixel_values": image})
        row[0].imshow(image[0, 0], cmap="gray")
        row[0].set_title("the image", fontsize="small")
        for ax, name in zip(row[1:], ("weight", "weighted-norm"), strict=True):
            taken_from = flow[name][1].sum(axis=0)[0]
            shares = (taken_from / taken_from.sum())[1:].reshape(4, 4)
            ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
            ax.set_title(f"shares by {name}", fontsize="small")
        for ax in row:
            ax.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=DPI)


def slimmed(path: Path) -> None:
    """Write a picture again with few colors."""
    from PIL import Image

    kept = {"colors": COLORS}
    if path.name in LINES:
        kept = {"colors": 256, "method": Image.Quantize.FASTOCTREE}
    with Image.open(path) as full:
        few = full.convert("RGB").quantize(**kept, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main(names: list[str]) -> None:
    """Draw the pictures of these names, or all of them."""
    for name in names or PICTURES:
        path = HERE / "pictures" / name
        PICTURES[name](path)
        slimmed(path)
        print(f"{name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
