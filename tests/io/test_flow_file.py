"""Saved flows: complete, unchanged, and never trusted."""

import os
import zipfile

import numpy as np
import pytest
from flows import assert_same_flow, rewrite_description
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz import from_arrays, load
from normviz.errors import BadFile

WEIGHT = np.array([[[[0.25, 0.75], [1.0, 0.0]]]])


def small(title="", tokens=("a", "b")):
    return from_arrays(WEIGHT, tokens, value_norms=np.ones((1, 1, 2)), title=title)


@settings(deadline=None, max_examples=30)
@given(st.text(), st.lists(st.text(), min_size=2, max_size=2))
def test_any_text_comes_back(tmp_path_factory, title, tokens):
    path = tmp_path_factory.mktemp("saved") / "flow.normviz"
    flow = small(title, tokens)
    assert_same_flow(flow, load(flow.save(path)))


def test_the_same_flow_gives_the_same_bytes(tmp_path):
    one, two = (small().save(tmp_path / name).read_bytes() for name in ("a", "b"))
    assert one == two


def test_a_file_cut_off_anywhere_is_refused(tmp_path):
    whole = small().save(tmp_path / "whole").read_bytes()
    for length in range(0, len(whole), 37):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(BadFile, match="cut") as error:
            load(tmp_path / "cut")
        assert "again" in error.value.do


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_damaged_file_is_refused_or_read_whole(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    whole = bytearray(small().save(folder / "whole").read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    (folder / "damaged").write_bytes(whole)
    try:
        flow = load(folder / "damaged")
    except BadFile:
        return
    assert flow["weight"].shape == (1, 1, 2, 2)


def test_an_archive_of_a_later_version_of_zip_is_refused(tmp_path):
    """The version is the seventh byte of an entry of the directory, after its four letters."""
    whole = bytearray(small().save(tmp_path / "whole").read_bytes())
    whole[whole.index(b"PK\x01\x02") + 6] = 109
    (tmp_path / "later").write_bytes(whole)
    with pytest.raises(BadFile, match=r"not a whole normviz file .*zip file version"):
        load(tmp_path / "later")


def test_foreign_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("not a flow")
    with pytest.raises(BadFile, match="not a whole normviz file"):
        load(tmp_path / "text")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(BadFile, match=r"no readable flow\.json"):
        load(tmp_path / "other.npz")
    with pytest.raises(BadFile, match="There is no file"):
        load(tmp_path / "missing")
    with pytest.raises(BadFile):
        load(tmp_path)


def test_a_newer_format_says_to_update(tmp_path):
    path = rewrite_description(
        small().save(tmp_path / "flow"), lambda plain: plain.update(version=99)
    )
    with pytest.raises(BadFile, match="version 99") as error:
        load(path)
    assert "pip install --upgrade normviz" in error.value.do


def test_an_older_format_is_refused_instead_of_losing_what_it_holds(tmp_path):
    path = rewrite_description(
        small().save(tmp_path / "flow"), lambda plain: plain.update(version=1)
    )
    with pytest.raises(BadFile, match="version 1 of the format") as error:
        load(path)
    assert "Analyze the text again" in error.value.do


def test_another_format_is_named(tmp_path):
    path = rewrite_description(
        small().save(tmp_path / "flow"), lambda plain: plain.update(format="recipe")
    )
    with pytest.raises(BadFile, match="'recipe'"):
        load(path)


def test_a_small_file_that_claims_much_is_refused_before_memory_is_allocated(tmp_path):
    def claim(plain):
        plain["streams"]["encoder"]["heads"] = list(range(10**5))
        tokens = plain["streams"]["encoder"]["queries"]
        tokens.update({key: value * 5000 for key, value in tokens.items() if key != "word_texts"})

    with pytest.raises(BadFile, match="holds 16 bytes"):
        load(rewrite_description(small().save(tmp_path / "flow"), claim))


def save_with_claim(tmp_path, member, size):
    """Return the path of a small flow whose archive claims this size for one of its members."""
    path = small().save(tmp_path / "flow")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        entry = archive.getinfo(member)
        entry.file_size = entry.compress_size = size
    return path


@pytest.mark.parametrize("member", ["flow.json", "encoder/weight/0.f4"])
def test_two_kilobytes_that_claim_100_gigabytes_are_refused_unread(tmp_path, monkeypatch, member):
    path = save_with_claim(tmp_path, member, 100 * 10**9)
    assert path.stat().st_size < 2500
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(
        BadFile, match=r"claims to hold 100,000,00\d,\d{3} bytes, and has \d,\d{3}\."
    ):
        load(path)


def test_a_member_that_lies_only_a_little_is_refused_too(tmp_path):
    with pytest.raises(BadFile):
        load(save_with_claim(tmp_path, "encoder/weight/0.f4", 17))


def test_a_compressed_bomb_is_refused(tmp_path):
    path = small().save(tmp_path / "flow")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(BadFile):
        load(path)


def test_measures_from_the_future_are_refused(tmp_path):
    path = rewrite_description(
        small().save(tmp_path / "flow"),
        lambda p: p["streams"]["encoder"].update(measures=["telepathy"]),
    )
    with pytest.raises(BadFile, match="telepathy"):
        load(path)


def test_a_failed_save_keeps_the_older_file(tmp_path, monkeypatch):
    path = small("old").save(tmp_path / "flow")

    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr("normviz.io.flow_file._put", full)
    with pytest.raises(OSError, match="no space left"):
        small("new").save(path)
    assert load(path).title == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["flow"]


def test_a_saved_file_can_be_read_by_others(tmp_path):
    path = small().save(tmp_path / "flow")
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
