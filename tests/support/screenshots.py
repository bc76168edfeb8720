"""Screenshots of every view, in light and dark, for texts of 8, 40 and 200 tokens.

make screenshots        writes screenshots/<view>-<tokens>-<theme>.png; then look at them
python tests/support/screenshots.py FOLDER flow- grid-      only names that contain these words
"""

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import transformers
from browser import chromium, opening, rest
from flows import VIEWS_OF_A_TEXT, chart, hybrid_flow, towers_flow, translation_flow
from playwright.sync_api import Page

import normviz
from normviz.core.flow import Flow
from normviz.derived.agreement import PERFECT

TEXT = (
    "The animal did not cross the street because it was too tired. It stayed where it was, and "
    "looked unbelievably sad. A boy who had seen it all from his window came down with a bowl of "
    "water, sat on the curb beside it, and waited. After a while the animal drank a little, then "
    "a little more, and at last it stood up. "
)
SIZES = (8, 40, 200)
THEMES = ("light", "dark")


def text_of(tokens: int, tokenizer: Any) -> str:
    """As much of the repeated text as gives this many tokens, including two special ones."""
    ids = tokenizer(TEXT * 20, add_special_tokens=False)["input_ids"][: tokens - 2]
    return str(tokenizer.decode(ids))


def scenes(flow: Flow, other: Flow) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every view with and without a pinned token, and all kinds of comparison."""
    middle = len(flow.tokens) // 2
    for view in VIEWS_OF_A_TEXT:
        yield view, {"view": view, "layer": 2}
        yield f"{view}-pinned", {"view": view, "layer": 2, "token": middle}
    yield "compare", {"measure": "weight", "compare": "weighted-norm", "layer": 2, "token": middle}
    yield "compare-matrix", {"view": "matrix", "measure": "weight", "compare": "weighted-norm"}
    yield "compare-grid", {"view": "grid", "measure": "weight", "compare": "weighted-norm"}
    yield "compare-text", {"view": "text", "measure": "weight", "compare": "weighted-norm"}
    for statistic in PERFECT:
        pair = {"measure": "weight", "compare": "weighted-norm"}
        yield f"agreement-{statistic}", {"view": "grid", "color_by": statistic, **pair}
    yield "compare-profile", {"view": "profile", "measure": "weight", "compare": "weighted-norm"}
    yield "compare-flows", {"compare": other, "layer": 2}
    yield "words", {"layer": 2, "words": True, "special": "hidden", "threshold": 0.05}


def ladder_scenes(flow: Flow) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the ladder adds: the slider, cancellation, mixing ratios."""
    pinned = {"layer": 2, "token": len(flow.tokens) // 2}
    yield "ladder", {"measure": "layer-output", "layer": 2}
    yield "ladder-pinned", {"measure": "attention-block", **pinned}
    yield "ladder-stack", {"view": "stack", "measure": "layer-output", **pinned}
    yield "ladder-profile", {"view": "profile", "measure": "attention-block", "layer": 2}


def signed_scenes(flow: Flow) -> Iterator[tuple[str, dict[str, Any]]]:
    """Negative numbers, in two hues."""
    signed = {"measure": "effective-weight", "layer": 2}
    yield "signed", signed
    yield "signed-pinned", {**signed, "token": len(flow.tokens) // 2, "heads": [3]}
    yield "signed-matrix", {**signed, "view": "matrix"}
    yield "signed-grid", {**signed, "view": "grid"}


def alignment_scenes() -> Iterator[tuple[Flow, str, dict[str, Any]]]:
    """Words of a translation with random numbers, with and without gold, alone and compared."""
    flow = translation_flow()
    golden = flow.with_gold(normviz.Gold([(0, 1), (1, 2), (2, 3)], [(0, 0), (2, 4)]))
    view = {"view": "alignment", "measure": "weight"}
    yield flow, "alignment", view
    yield golden, "alignment-gold", {**view, "token": 2}
    yield golden, "alignment-compare", {**view, "compare": "weighted-norm", "target_row": "output"}


def tower_scenes() -> Iterator[tuple[Flow, str, dict[str, Any]]]:
    """Layers without attention in every view, and more streams than there is space for buttons."""
    for view in VIEWS_OF_A_TEXT:
        yield hybrid_flow(), f"hybrid-{view}", {"view": view, "layer": 4}
    yield towers_flow(more=17), "towers", {"stream": "text.cross"}


def shoot(tab: Page, path: Path) -> None:
    """A screenshot of the whole page, once it no longer changes."""
    before, now = b"", tab.screenshot(full_page=True)
    while now != before:
        rest(tab, 200)
        before, now = now, tab.screenshot(full_page=True)
    path.write_bytes(now)
    tab.close()


def main(folder: Path, words: list[str]) -> None:
    """All screenshots, or those whose names contain one of the words."""
    from normviz.model.loading import load_model

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    folder.mkdir(exist_ok=True)
    loaded = load_model("demo")
    ask = partial(normviz.analyze, loaded.model, tokenizer=loaded.tokenizer)
    other = ask("The truck did not cross the street because it was too wide.")
    with chromium() as browser, tempfile.TemporaryDirectory() as pages:
        for size in SIZES:
            text = text_of(size, loaded.tokenizer)
            flow, tall = ask(text), ask(text, measures="all")
            looks = [(flow, *scene) for scene in scenes(flow, other)]
            looks += [(tall, *scene) for scene in ladder_scenes(tall)]
            looks += [(tall, *scene) for scene in signed_scenes(tall)]
            looks.append((tall.with_chart(chart()), "study", {"view": "profile", "layer": 2}))
            looks += [*alignment_scenes(), *tower_scenes()] if size == SIZES[0] else []
            for (shown, name, state), theme in product(looks, THEMES):
                target = folder / f"{name}-{size}-{theme}.png"
                if words and not any(word in target.name for word in words):
                    continue
                view = {"viewport": {"width": 1180, "height": 760}}
                with opening(browser, Path(pages), **view) as opened:
                    shoot(opened(shown, theme=theme, **state), target)
                print(target, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
