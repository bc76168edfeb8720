"""Open a saved file by its content: a flow, or the profile of a corpus."""

import zipfile
from pathlib import Path

from normviz.core.flow import Flow
from normviz.corpus import profile_file
from normviz.corpus.profile import Profile
from normviz.io import flow_file


def load(path: str | Path) -> Flow | Profile:
    """Open a file written by `flow.save` or `profile.save`; needs neither torch nor transformers.

    Parameters
    ----------
    path
        Where the file is.
    """
    return profile_file.load(path)[0] if _is_profile(Path(path)) else flow_file.load(path)


def _is_profile(path: Path) -> bool:
    """Whether a file is the archive of a profile; an unreadable file is left to `flow_file`."""
    try:
        with zipfile.ZipFile(path) as archive:
            return profile_file.DESCRIPTION in archive.namelist()
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile):
        return False
