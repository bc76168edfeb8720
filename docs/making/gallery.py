"""Pages written by `to_html` from real models while the site is built, and shown in frames."""

import html
from dataclasses import dataclass
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

import normviz
from normviz.cli.demo_text import DEMO_PAIR, DEMO_TEXT
from normviz.core.catalog import DEFAULT, LADDER

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
    """One page of the gallery: its text, the object it shows, and the state of the view."""

    name: str
    title: str
    about: str
    subject: str
    """The name of the object in the code on the page."""
    state: dict[str, Any]
    height: int = 760

    @property
    def code(self) -> str:
        """The line of Python that writes this page."""
        options = "".join(f", {name}={value!r}" for name, value in self.state.items())
        return f'{self.subject}.to_html("{self.name}.html"{options})'


EXHIBITS = (
    Exhibit(
        "flow",
        "Where the weight goes, and what moves",
        "One layer of a trained BERT twice: by α and by ‖αf(x)‖. Hover over a token, or click to "
        "pin it; `[` and `]` change the layer.",
        "flow",
        {"measure": "weight", "compare": "weighted-norm", "layer": 2},
    ),
    Exhibit(
        "stack",
        "All layers at once",
        "Every layer is a column. Pick a token and trace what it is made of.",
        "flow",
        {"view": "stack", "measure": "attention", "token": 10, "layer": 5},
    ),
    Exhibit(
        "grid",
        "All heads as thumbnails",
        "Heads colored by how well α and ‖αf(x)‖ agree about the order of the keys. A click opens "
        "a head at the token where they differ most.",
        "flow",
        {"view": "grid", "measure": "weight", "compare": "weighted-norm", "color_by": "rank"},
    ),
    Exhibit(
        "matrix",
        "One layer as a matrix",
        "The column of [CLS], strong by weight, is faint by norm.",
        "flow",
        {"view": "matrix", "measure": "weight", "compare": "weighted-norm", "layer": 2},
    ),
    Exhibit(
        "profile",
        "Shares by layer",
        "The shares of [CLS], [SEP], punctuation and words, layer by layer; and each token's α "
        "against its ‖f(x)‖.",
        "flow",
        {"view": "profile", "measure": "weighted-norm", "layer": 2},
    ),
    Exhibit(
        "ladder",
        "Up the ladder",
        "The same layer through attention, residual, norm and feed-forward block: move the slider "
        "and see what the pinned token is made of.",
        "ladder",
        {"measure": "layer-output", "layer": 2, "token": 10},
    ),
    Exhibit(
        "alignment",
        "Which word comes from which",
        "A small Spanish–English translator: each word is joined to the one it reads, by weight "
        "and by norm.",
        "translation",
        {"view": "alignment", "measure": "weight", "compare": "weighted-norm", "layer": 0},
    ),
    Exhibit(
        "corpus",
        "Many texts",
        f"Averages over many texts: curves over the layers for {len(TEXTS)} short texts, with "
        "95% bands and tables.",
        "profile",
        {},
    ),
)


@cache
def _subjects() -> dict[str, Any]:
    """Return the flows and the profile that the exhibits show, by name."""
    rungs = [*DEFAULT, *LADDER]
    return {
        "flow": normviz.analyze("demo", DEMO_TEXT, pair=DEMO_PAIR),
        "ladder": normviz.analyze("demo", DEMO_TEXT, pair=DEMO_PAIR, measures=rungs),
        "translation": normviz.analyze("demo-translator", SPANISH, target=ENGLISH),
        "profile": normviz.profile("demo", TEXTS),
    }


@cache
def pages() -> dict[str, str]:
    """Return the HTML of the pages, by file name."""
    pages = {}
    with TemporaryDirectory() as folder:
        for exhibit in EXHIBITS:
            path = f"{folder}/{exhibit.name}.html"
            written = _subjects()[exhibit.subject].to_html(path, **exhibit.state)
            pages[f"{exhibit.name}.html"] = written.read_text(encoding="utf-8")
    return pages


def markdown() -> str:
    """Return the part of the gallery page that shows them."""
    return "\n".join(_section(exhibit) for exhibit in EXHIBITS)


def _section(exhibit: Exhibit) -> str:
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
