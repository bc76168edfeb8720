"""Saved files opened by what is in them: a flow, or the profile of a corpus."""

import zipfile
from pathlib import Path

from normviz.core.flow import Flow
from normviz.corpus import profile_file as archive
from normviz.corpus.profile import Profile
from normviz.io import flow_file as storage


def load(path: str | Path) -> Flow | Profile:
    """Open a saved flow, or a saved profile; needs neither torch nor transformers."""
    return archive.load(path)[0] if _is_profile(Path(path)) else storage.load(path)


def _is_profile(place: Path) -> bool:
    try:
        with zipfile.ZipFile(place) as file:
            return archive.DESCRIPTION in file.namelist()
    except (OSError, zipfile.BadZipFile):
        return False  # whatever is wrong with it, a flow would have it too
