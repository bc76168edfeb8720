"""Turns notebooks into pages: prose and code as they are, and the outputs of the cells."""

import html
import re
from dataclasses import dataclass, field
from typing import Any

from making.links import ROOT

BADGE = re.compile(r"\[!\[Open in Colab\]\([^)]+\)\]\((?P<page>[^)]+)\)")
ANSI = re.compile(r"\x1b\[[0-9;]*m")
FRAME = re.compile(r'<iframe (?P<start>[^>]*?)srcdoc="(?P<page>[^"]*)"(?P<end>[^>]*)></iframe>')
WIDGET = "application/vnd.jupyter.widget-view+json"
NOT_RUN = "The cells of this notebook were not run for this page: it has only code and prose."


@dataclass
class Story:
    """A notebook as Markdown with placeholders for its outputs, and the outputs as HTML."""

    markdown: str
    outputs: dict[str, str] = field(default_factory=dict)
    """The HTML for each placeholder, inserted after Markdown has been converted."""
    frames: dict[str, str] = field(default_factory=dict)
    """Pages that outputs show in frames, by file name."""


def convert(notebook: Any, name: str, *, executed: bool) -> Story:
    """Return the page of a notebook; `name` is its file name without the suffix."""
    story = Story("")
    cells = [_prose(cell.source, name) for cell in notebook.cells[:1]]
    if not executed:
        cells.append(f"*{NOT_RUN}*")
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown":
            cells.append(_prose(cell.source, name))
        elif cell.cell_type == "code":
            cells += [f"~~~~~~python\n{cell.source}\n~~~~~~", *_outputs(cell, name, story)]
    story.markdown = "\n\n".join(cells) + "\n"
    return story


def _prose(source: str, name: str) -> str:
    """Return the Markdown of a cell without external pictures; answers are parsed as Markdown."""
    links = f"[Open in Colab](\\g<page>) · [Download the notebook]({name}.ipynb)"
    # Otherwise everything inside a tag at the beginning of a line would be plain HTML.
    source = source.replace("<details>", '<details markdown="1">')
    return BADGE.sub(links, source)


def _outputs(cell: Any, name: str, story: Story) -> list[str]:
    """Return placeholders for the outputs of a cell; the outputs go into the story."""
    placeholders = []
    for output in cell.get("outputs", []):
        if content := _to_html(output, name, story):
            key = f"output-{len(story.outputs)}"
            story.outputs[key] = f'<div class="nv-output">{_without_root(content)}</div>'
            placeholders.append(_placeholder(key))
    return placeholders


def _placeholder(key: str) -> str:
    return f'<div data-output="{key}"></div>'


def _to_html(output: Any, name: str, story: Story) -> str:
    if output.output_type == "error":
        raise RuntimeError(f"{name} fails: {output.ename}: {output.evalue}")
    if output.output_type == "stream":
        return _text(output.text)
    data = output.data
    if WIDGET in data and "text/html" not in data:
        return ""  # a progress bar
    if "text/html" in data:
        return FRAME.sub(lambda match: _to_frame(match, name, story), _unstyled(data["text/html"]))
    for kind in ("image/png", "image/jpeg"):
        if kind in data:
            source = f"data:{kind};base64,{''.join(data[kind].split())}"
            return f'<img alt="What the cell above draws" src="{source}">'
    if "image/svg+xml" in data:
        return str(data["image/svg+xml"])
    return _text(data.get("text/plain", ""))


def _to_frame(match: re.Match[str], name: str, story: Story) -> str:
    """Return a frame whose page is a separate file, loaded when it comes into view."""
    number = len(story.frames)
    file = f"{name}-{number}.html"
    story.frames[file] = _without_root(html.unescape(match["page"]))
    return f'<iframe {match["start"]}src="{file}" loading="lazy"{match["end"]}></iframe>'


def _without_root(text: str) -> str:
    """Remove the path of this repository from a text."""
    return text.replace(f"{ROOT}/", "")


def _unstyled(table: str) -> str:
    """Remove the notebook's own styles from a dataframe."""
    table = re.sub(r"<style scoped>.*?</style>", "", table, flags=re.DOTALL)
    return table.replace('border="1" class="dataframe"', "")


def _text(text: str) -> str:
    plain = html.escape(ANSI.sub("", text).strip("\n"))
    return f"<pre><code>{plain}</code></pre>" if plain else ""


def insert_outputs(content: str, story: Story) -> str:
    """Return a page's HTML with the outputs in place of their placeholders."""
    for key, output in story.outputs.items():
        placeholder = _placeholder(key)
        if placeholder not in content:
            raise LookupError(f"There is no placeholder for {key} on the page.")
        content = content.replace(placeholder, output)
    return content
