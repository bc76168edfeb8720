"""The build hook builds what is missing or stale, and fetches Node only if necessary."""

import importlib.util
import os

import pytest
from paths import ROOT


@pytest.fixture
def hook(tmp_path, monkeypatch):
    """The hook's module, for a temporary checkout in which everything is up to date."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    static = tmp_path / "normviz" / "static"
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "JS", tmp_path / "js")
    monkeypatch.setattr(module, "BUNDLES", tuple(static / path.name for path in module.BUNDLES))
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    (tmp_path / "js" / "src").mkdir(parents=True)
    static.mkdir(parents=True)
    for source in (tmp_path / "js" / "src" / "a.ts", tmp_path / "js" / "package-lock.json"):
        source.touch()
        os.utime(source, (100, 100))
    for bundle in module.BUNDLES:
        bundle.touch()
        os.utime(bundle, (200, 200))
    return module


def build(module):
    return module.BundleHook(str(module.ROOT), {}, None, None, "", "wheel")


def test_fresh_bundles_need_no_node_and_no_npm(hook):
    assert build(hook).dependencies() == []
    build(hook).initialize("standard", {})


def test_a_newer_source_or_a_missing_bundle_needs_node(hook):
    os.utime(hook.JS / "src" / "a.ts", (300, 300))
    assert build(hook).dependencies() == [hook.NODE]
    os.utime(hook.JS / "src" / "a.ts", (100, 100))
    hook.BUNDLES[1].unlink()
    assert build(hook).dependencies() == [hook.NODE]


def test_an_sdist_uses_the_bundles_it_contains(hook):
    os.utime(hook.JS / "src" / "a.ts", (300, 300))
    (hook.ROOT / "PKG-INFO").touch()
    assert build(hook).dependencies() == []


def test_node_is_not_fetched_if_npm_is_installed(hook, monkeypatch):
    hook.BUNDLES[0].unlink()
    monkeypatch.setattr(hook.shutil, "which", lambda _: "/bin/false")
    assert build(hook).dependencies() == []


def test_without_npm_the_build_says_what_to_install(hook):
    hook.BUNDLES[0].unlink()
    with pytest.raises(RuntimeError, match=r"there is no npm\. Install Node 20 or newer"):
        build(hook).initialize("standard", {})


def test_when_npm_fails_the_build_says_which_command(hook, monkeypatch):
    hook.BUNDLES[0].unlink()
    monkeypatch.setattr(hook.shutil, "which", lambda _: "/bin/false")
    with pytest.raises(RuntimeError, match="`npm ci --omit=dev` in js ended with code 1"):
        build(hook).initialize("standard", {})


def test_the_lock_names_no_registry():
    assert '"resolved"' not in (ROOT / "js" / "package-lock.json").read_text(encoding="utf-8")
