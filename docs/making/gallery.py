"""Pages of `to_html`, made from real models while the site is built, and shown in frames."""

import html
from dataclasses import dataclass
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

import normviz
from normviz.derived.headline import DEMO_PAIR, DEMO_TEXT

SPANISH, ENGLISH = "Tengo tres gatos y dos perros.", "I have three cats and two dogs."
TEXTS = (
    "The keys to the old cabinet are on the table, next to the lamp.",
    "She read the letter twice, folded it, and said nothing.",
    "Bread needs flour, water, salt and time.",
    "In winter the harbour freezes, and the boats stay where they are.",
    "My brother, who plays the cello, hates loud music.",
    "No bird sang, but the bees were already awake.",
    "Two of the three answers were wrong, the teacher said.",
    "The museum keeps the painting in a dark room, because light would fade it.",
)


@dataclass(frozen=True)
class Exhibit:
    """One page of the gallery: of what it is, how it is opened, and what there is to see."""

    name: str
    title: str
    about: str
    of: str
    choice: dict[str, Any]
    height: int = 760

    @property
    def code(self) -> str:
        """The line of Python that writes this page."""
        given = "".join(f", {name}={value!r}" for name, value in self.choice.items())
        return f'{self.of}.to_html("{self.name}.html"{given})'


EXHIBITS = (
    Exhibit(
        "flow",
        "Where the weight goes, and what moves",
        "One layer of a trained BERT twice: by α, and by ‖αf(x)‖. Hover a token, click to pin it; "
        "`[` and `]` change the layer.",
        "flow",
        {"measure": "weight", "compare": "weighted-norm", "layer": 2},
    ),
    Exhibit(
        "stack",
        "All layers at once",
        "Every layer is a column. Pick a token and follow it back to what it is made of.",
        "flow",
        {"view": "stack", "measure": "attention", "token": 10, "layer": 5},
    ),
    Exhibit(
        "grid",
        "Every head in small",
        "Heads colored by how far α and ‖αf(x)‖ agree about the order of the keys. A click opens "
        "a head at the token where they differ most.",
        "flow",
        {"view": "grid", "measure": "weight", "compare": "weighted-norm", "color": "rank"},
    ),
    Exhibit(
        "matrix",
        "One layer as a field",
        "The column of [CLS], strong by weight, is faint by norm.",
        "flow",
        {"view": "matrix", "measure": "weight", "compare": "weighted-norm", "layer": 2},
    ),
    Exhibit(
        "profile",
        "Shares by layer",
        "How much [CLS], [SEP], punctuation and words take, layer by layer; and each token's α "
        "against its ‖f(x)‖.",
        "flow",
        {"view": "profile", "measure": "weighted-norm", "layer": 2},
    ),
    Exhibit(
        "ladder",
        "Up the ladder",
        "The same layer through attention, residual, norm and feed-forward block: move the slider "
        "and watch what the pinned token is made of.",
        "ladder",
        {"measure": "layer-output", "layer": 2, "token": 10},
    ),
    Exhibit(
        "alignment",
        "Which word comes from which",
        "A small Spanish–English translator: each word joined to the one it reads, by weight and "
        "by norm.",
        "translation",
        {"view": "alignment", "measure": "weight", "compare": "weighted-norm", "layer": 0},
    ),
    Exhibit(
        "corpus",
        "Many texts",
        f"What a model does on average: curves over the layers for {len(TEXTS)} short texts, with "
        "95% bands and tables.",
        "profile",
        {},
    ),
)


@cache
def _made() -> dict[str, Any]:
    """What the exhibits are of."""
    rungs = [*normviz.core.catalog.DEFAULT, *normviz.core.catalog.LADDER]
    said = {"text": DEMO_TEXT, "pair": DEMO_PAIR}
    return {
        "flow": normviz.analyze("demo", **said),
        "ladder": normviz.analyze("demo", **said, measures=rungs),
        "translation": normviz.analyze("demo-translator", text=SPANISH, target=ENGLISH),
        "profile": normviz.profile(TEXTS, "demo"),
    }


@cache
def pages() -> dict[str, str]:
    """The pages themselves, by file name."""
    found = {}
    with TemporaryDirectory() as folder:
        for exhibit in EXHIBITS:
            path = f"{folder}/{exhibit.name}.html"
            written = _made()[exhibit.of].to_html(path, **exhibit.choice)
            found[f"{exhibit.name}.html"] = written.read_text(encoding="utf-8")
    return found


def markdown() -> str:
    """The part of the gallery's page that shows them."""
    return "\n".join(_shown(exhibit) for exhibit in EXHIBITS)


def _shown(exhibit: Exhibit) -> str:
    page, title = f"gallery/{exhibit.name}.html", html.escape(exhibit.title)
    return f"""
## {exhibit.title} {{ #{exhibit.name} }}

{exhibit.about} [Full size]({page})

<iframe class="nv-frame" title="{title}" src="{page}" height="{exhibit.height}" loading="lazy"
  sandbox="allow-scripts allow-downloads"></iframe>

```python
{exhibit.code}
```
"""
