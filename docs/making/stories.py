"""Notebooks as pages: prose and code as they are, and what the cells show when they are run."""

import html
import re
from dataclasses import dataclass, field
from typing import Any

from making.links import ROOT

BADGE = re.compile(r"\[!\[Open in Colab\]\([^)]+\)\]\((?P<page>[^)]+)\)")
ANSI = re.compile(r"\x1b\[[0-9;]*m")
FRAME = re.compile(r'<iframe (?P<start>[^>]*?)srcdoc="(?P<page>[^"]*)"(?P<end>[^>]*)></iframe>')
WIDGET = "application/vnd.jupyter.widget-view+json"
NOT_RUN = "The cells of this notebook were not run when this page was made: it has code and prose."


@dataclass
class Story:
    """A notebook as Markdown with places for its outputs, and these outputs as HTML."""

    markdown: str
    outputs: dict[str, str] = field(default_factory=dict)
    """What is to stand in place of a mark in the page, once Markdown has become HTML."""
    frames: dict[str, str] = field(default_factory=dict)
    """Pages that outputs show in frames, by file name."""


def told(notebook: Any, name: str, *, ran: bool) -> Story:
    """A notebook's page; `name` is that of its file, without the ending."""
    story = Story("")
    cells = [_prose(cell.source, name) for cell in notebook.cells[:1]]
    if not ran:
        cells.append(f"*{NOT_RUN}*")
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown":
            cells.append(_prose(cell.source, name))
        elif cell.cell_type == "code":
            cells += [f"~~~~~~python\n{cell.source}\n~~~~~~", *_outputs(cell, name, story)]
    story.markdown = "\n\n".join(cells) + "\n"
    return story


def _prose(source: str, name: str) -> str:
    """Markdown of a cell: no picture from elsewhere, and answers that are Markdown themselves."""
    also = f"[Open in Colab](\\g<page>) · [Download the notebook]({name}.ipynb)"
    # A tag at the beginning of a line would make everything up to its end plain HTML.
    source = source.replace("<details>", '<details markdown="1">')
    return BADGE.sub(also, source)


def _outputs(cell: Any, name: str, story: Story) -> list[str]:
    """Marks for what a cell shows; the outputs themselves go into the story."""
    marks = []
    for output in cell.get("outputs", []):
        if shown := _shown(output, name, story):
            mark = f"output-{len(story.outputs)}"
            story.outputs[mark] = f'<div class="nv-output">{_anywhere(shown)}</div>'
            marks.append(f'<div data-output="{mark}"></div>')
    return marks


def _shown(output: Any, name: str, story: Story) -> str:
    if output.output_type == "error":
        raise RuntimeError(f"{name} fails: {output.ename}: {output.evalue}")
    if output.output_type == "stream":
        return _text(output.text)
    data = output.data
    if WIDGET in data and "text/html" not in data:
        return ""  # a bar of progress
    if "text/html" in data:
        return FRAME.sub(lambda found: _framed(found, name, story), _unscoped(data["text/html"]))
    for kind in ("image/png", "image/jpeg"):
        if kind in data:
            source = f"data:{kind};base64,{''.join(data[kind].split())}"
            return f'<img alt="What the cell above draws" src="{source}">'
    if "image/svg+xml" in data:
        return str(data["image/svg+xml"])
    return _text(data.get("text/plain", ""))


def _framed(found: re.Match[str], name: str, story: Story) -> str:
    """A frame whose page is a file beside this one, read when the reader comes near it."""
    number = len(story.frames)
    file = f"{name}-{number}.html"
    story.frames[file] = _anywhere(html.unescape(found["page"]))
    return f'<iframe {found["start"]}src="{file}" loading="lazy"{found["end"]}></iframe>'


def _anywhere(text: str) -> str:
    """A text without the place where this repository happens to lie."""
    return text.replace(f"{ROOT}/", "")


def _unscoped(table: str) -> str:
    """A dataframe without the notebook's own looks."""
    table = re.sub(r"<style scoped>.*?</style>", "", table, flags=re.DOTALL)
    return table.replace('border="1" class="dataframe"', "")


def _text(text: str) -> str:
    plain = html.escape(ANSI.sub("", text).strip("\n"))
    return f"<pre><code>{plain}</code></pre>" if plain else ""


def filled(content: str, story: Story) -> str:
    """A page's HTML with the outputs in their places."""
    for mark, shown in story.outputs.items():
        place = f'<div data-output="{mark}"></div>'
        if place not in content:
            raise LookupError(f"There is no place for {mark} on the page.")
        content = content.replace(place, shown)
    return content
