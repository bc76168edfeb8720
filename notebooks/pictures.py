"""Draw the still pictures of the notebooks, for readers who do not run them: `make pictures`.

There is one function for each picture: `first_look` draws `pictures/first-look.png`.
"""

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from normviz import Chart, Flow, Profile

HERE = Path(__file__).parent
DPI = 110
COLORS = 48
"""Dots per inch and number of colors: sharp enough for a page, small enough for a repository."""
MANY_COLORS = ("alignment.png",)
"""Pictures with thin colored lines, which would lose their colors in a small palette."""

PICTURES: dict[str, Callable[[Path], object]] = {}


def picture(draw: Callable[[Path], object]) -> Callable[[Path], object]:
    """Register a function that draws a picture, under its file name."""
    PICTURES[draw.__name__.replace("_", "-") + ".png"] = draw
    return draw


def from_notebook(notebook: str, name: str) -> Any:
    """Return what a notebook defines under a name, so that both show the same.

    Only the cell that defines it is run.
    """
    cells = json.loads((HERE / f"{notebook}.ipynb").read_text())["cells"]
    for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
        if re.search(rf"^(def {name}\(|{name} = )", source, re.MULTILINE):
            namespace: dict[str, Any] = {}
            exec(source, namespace)  # noqa: S102 (a cell of this repository's own notebook)
            return namespace[name]
    raise LookupError(f"{notebook} defines no {name}")


def side_by_side(path: Path, *charts: "Chart", height_cm: float = 8.5) -> None:
    """Draw charts next to each other, with one scale for shares, and save them in one file."""
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
    """Return the flow of the sentence pair of the first three notebooks, with all rungs."""
    import normviz
    from normviz.cli.demo_text import DEMO_PAIR, DEMO_TEXT

    rungs = from_notebook("03-beyond-attention", "RUNGS")
    return normviz.analyze(
        "demo", DEMO_TEXT, pair=DEMO_PAIR, measures=["weight", "value-norm", *rungs]
    )


@picture
def first_look(path: Path) -> None:
    """One layer twice: most ribbons come from [CLS] by weight, hardly any by what is moved."""
    demo_flow().to_png(path, measure="weight", compare="weighted-norm", layer=2, dpi=DPI)


@picture
def shares_of_a_corpus(path: Path) -> None:
    """A dozen texts: [CLS] has much of α in the middle layers, but little of ‖αf(x)‖."""
    import normviz

    profile = normviz.profile("demo", from_notebook("02-attention-is-not-only-a-weight", "texts"))
    side_by_side(path, profile.chart("weight"), profile.chart("weighted-norm"))


@picture
def up_the_ladder(path: Path) -> None:
    """How much of a token comes from others on each rung, and what each component changes."""
    charts = from_notebook("03-beyond-attention", "charts")
    side_by_side(path, *charts(demo_flow(), from_notebook("03-beyond-attention", "RUNGS")))


def sink_charts(
    profile: "Profile", measures: dict[str, str], lengths: list[int]
) -> tuple["Chart", ...]:
    """Return two charts of the first token: its share by each measure, and its relative norm."""
    from normviz import Chart
    from normviz.core.chart import Series

    table = profile.to_dataframe("share")
    first = table[(table["category"] == "first token") & table["head"].isna()]
    layers = tuple(range(len(profile.share("weight", "first token"))))
    even = sum(sum(1 / seen for seen in range(1, n + 1)) / n for n in lengths) / len(lengths)
    curves = [Series("equal shares", (even,) * len(layers), faint=True)]
    for name, measure in measures.items():
        rows = first[first["measure"] == measure].sort_values("layer")
        mean, low, high = (tuple(rows[column].clip(0, 1)) for column in ("mean", "low", "high"))
        curves.append(Series(name, mean, low=low, high=high))
    ratio = profile.mean("value-norm", "first token") / profile.mean("value-norm", "rest")
    norm = Series("first token ÷ all others", tuple(ratio.tolist()))
    titles = (
        "share of the first token",
        "of what a query receives",
        f"mean of {len(lengths)} texts",
    )
    return (
        Chart(*titles, layers, tuple(curves)),
        Chart("norm of its vectors", "‖f(x)‖", "‖f(x)‖, ratio", layers, (norm,), unit="ratio"),
    )


@picture
def attention_sink(path: Path) -> None:
    """The first token of a language model: its share by weight and by norm, and its vectors."""
    import normviz
    from normviz.model.demo import load_demo

    names = ("texts", "by_position", "MEASURES")
    texts, by_position, measures = (from_notebook("04-a-language-model", name) for name in names)
    model, tokenizer = load_demo("demo-decoder")
    options = {"categories": by_position, "head_patterns": False, "batch_size": 4}
    profile = normviz.profile(model, texts, tokenizer=tokenizer, **options)
    lengths = [len(tokenizer(text)["input_ids"]) for text in texts]
    side_by_side(path, *sink_charts(profile, measures, lengths))


@cache
def translation_flow() -> "Flow":
    """Return the flow of the translation in a different order, with its gold links."""
    import normviz

    pairs, lines = (from_notebook("05-translation", name) for name in ("PAIRS", "LINKS"))
    source, target = pairs[2]
    flow = normviz.analyze("demo-translator", source, target=target)
    return flow.with_gold(normviz.alignment.read_links(lines)[2], source=source, target=target)


@picture
def alignment(path: Path) -> None:
    """Three words wrongly linked by weight, none by norm; saved from the page in a browser."""
    sys.path.append(str(HERE.parent / "tests" / "support"))
    from browser import chromium, opening

    state = {"view": "alignment", "measure": "weight", "compare": "weighted-norm", "layer": 0}
    with chromium() as browser, opening(browser, path.parent) as opened:
        tab = opened(translation_flow(), theme="light", **state)
        with tab.expect_download() as download:
            tab.get_by_role("button", name="save PNG").click()
        download.value.save_as(path)
    (path.parent / "figure.html").unlink()


@picture
def error_rates(path: Path) -> None:
    """Error rates by layer: the first layer is best with input, the last with output."""
    import normviz

    pairs, lines = (from_notebook("05-translation", name) for name in ("PAIRS", "LINKS"))
    study = normviz.studies.alignment("demo-translator", pairs, lines)
    side_by_side(path, study.chart("input"), study.chart("output"))


@picture
def effective_attention(path: Path) -> None:
    """One layer twice: the column of [CLS] is dark by α and gone by α⊥."""
    import normviz

    text = from_notebook("06-is-attention-identifiable", "TEXT")
    flow = normviz.analyze("demo", text, measures=["weight", "effective-weight"], layers=[2])
    flow.to_png(path, view="matrix", measure="weight", compare="effective-weight", dpi=DPI)


@picture
def faithfulness(path: Path) -> None:
    """How well local measures predict the effect of zeroing a token's values, layer by layer."""
    import normviz

    names = ("TEXT", "LOCAL", "curves")
    text, local, curves = (from_notebook("07-from-local-to-global", name) for name in names)
    flow = normviz.analyze("demo", text, measures=[*local, "value-zeroing"])
    side_by_side(path, curves(flow, local))


@picture
def your_own_model(path: Path) -> None:
    """A noisy image with a bar of either kind, and what [CLS] receives from each patch."""
    from matplotlib.figure import Figure

    import normviz

    make_images, train = (
        from_notebook("08-your-own-model", name) for name in ("make_images", "train")
    )
    (pixels, bars, _), vit = make_images(100, seed=12345), train()
    figure = Figure(figsize=(17 / 2.54, 12 / 2.54), layout="constrained")
    for row, kind in zip(figure.subplots(2, 3), (0, 1), strict=True):
        image = pixels[bars == kind][:1]
        flow = normviz.analyze(vit, inputs={"pixel_values": image})
        row[0].imshow(image[0, 0], cmap="gray")
        row[0].set_title("the image", fontsize="small")
        for ax, name in zip(row[1:], ("weight", "weighted-norm"), strict=True):
            received = flow[name][1].sum(axis=0)[0]
            shares = (received / received.sum())[1:].reshape(4, 4)
            ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
            ax.set_title(f"shares by {name}", fontsize="small")
        for ax in row:
            ax.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=DPI)


def reduce_colors(path: Path) -> None:
    """Rewrite a picture with fewer colors."""
    from PIL import Image

    palette = {"colors": COLORS}
    if path.name in MANY_COLORS:
        palette = {"colors": 256, "method": Image.Quantize.FASTOCTREE}
    with Image.open(path) as full:
        small = full.convert("RGB").quantize(**palette, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main(names: list[str]) -> None:
    """Draw the named pictures, or all of them."""
    for name in names or PICTURES:
        path = HERE / "pictures" / name
        PICTURES[name](path)
        reduce_colors(path)
        print(f"{name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
