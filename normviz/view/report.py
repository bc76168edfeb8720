"""Charts of profiles as a page that loads nothing from anywhere, in a file or in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from normviz.core.chart import Chart
from normviz.view.display import HEIGHT, Frame, display_object, iframe
from normviz.view.page import data_block, document, written
from normviz.view.payload import FORMAT

HOST = """<main class="normviz-snapshot normviz-report">
<noscript>These charts are drawn by JavaScript, which is switched off here.</noscript>
<script type="application/json">{data}</script>
</main>"""


@dataclass(frozen=True)
class Report:
    """Charts side by side, with what is to be said about them."""

    title: str
    about: str
    """Over what they are."""
    notes: Sequence[str]
    """What a reader should know before believing them, a sentence each."""
    charts: Sequence[Chart]

    def page(self) -> str:
        """The charts as an HTML page in plain ASCII, the same bytes every time."""
        data = data_block({"format": FORMAT, **asdict(self)})
        return document(f"normviz: {self.title}, {self.about}", [HOST.format(data=data)])


class ReportMixin(ABC):
    """What has a report can be looked at, in a file and in a notebook."""

    @abstractmethod
    def report(self) -> Report:
        """The charts, and what is said about them."""

    def to_html(self, path: str | Path) -> Path:
        """Write the charts and their tables to one self-contained file, and give its path."""
        return written(self.report().page(), path)

    def frame(self, *, height: Any = HEIGHT) -> Frame:
        """The same page in an iframe, for every place that shows HTML."""
        report = self.report()
        return iframe(f"normviz: {report.title}", report.page(), str(self), height)

    def show(self, *, height: Any = HEIGHT) -> None:
        """Display the charts in a notebook."""
        display_object(self.frame(height=height))

    def _repr_html_(self) -> str:
        return self.frame().html
