"""Charts of profiles as a page that loads nothing else, in a file or in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from normviz.core.chart import Chart
from normviz.view.bounds import Number
from normviz.view.display import display_object
from normviz.view.frame import HEIGHT, Frame, wrap_in_iframe
from normviz.view.page import build_document, json_block, write_page
from normviz.view.payload import FORMAT

ELEMENT = """<main class="normviz-snapshot normviz-report">
<noscript>These charts are drawn by JavaScript, which is switched off here.</noscript>
<script type="application/json">{data}</script>
</main>"""


@dataclass(frozen=True)
class Report:
    """Charts side by side, with a title and notes."""

    title: str
    about: str
    """What the charts cover, such as the corpus."""
    notes: Sequence[str]
    """What a reader should know before relying on them, a sentence each."""
    charts: Sequence[Chart]

    def page(self) -> str:
        """Return the charts as an HTML page in plain ASCII, the same bytes every time."""
        data = json_block({"format": FORMAT, **asdict(self)})
        return build_document(f"normviz: {self.title}, {self.about}", [ELEMENT.format(data=data)])


class ReportMixin(ABC):
    """Shows the report of a class in a file and in a notebook."""

    @abstractmethod
    def report(self) -> Report:
        """Return the charts and their notes."""

    def to_html(self, path: str | Path) -> Path:
        """Write the charts and their tables to one self-contained file, and return its path."""
        return write_page(self.report().page(), path)

    def frame(self, *, height: Number = HEIGHT) -> Frame:
        """Return the same page in an iframe, for every place that shows HTML."""
        report = self.report()
        return wrap_in_iframe(report.page(), f"normviz: {report.title}", str(self), height)

    def show(self, *, height: Number = HEIGHT) -> None:
        """Display the charts in a notebook."""
        display_object(self.frame(height=height))

    def _repr_html_(self) -> str:
        return self.frame().html
