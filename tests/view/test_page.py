"""The one-file view: it loads nothing, is the same bytes each time, and escapes its tokens."""

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from comm.base_comm import BaseComm
from flows import NASTY, check, random_flow, receipt, two_streams

import normviz
from normviz.errors import NormvizError, UnknownName
from normviz.view.display import mimebundle
from normviz.view.page import build_page, json_block, to_html
from normviz.view.payload import pack
from normviz.view.state import BadChoice

SVG = "{http://www.w3.org/2000/svg}"


def blocks(text):
    """The contents of every script element, as a parser would cut them."""
    return re.findall(r"<script[^>]*>(.*?)</script", text, re.DOTALL | re.IGNORECASE)


def test_the_path_comes_back_and_holds_the_page(tmp_path):
    flow = random_flow()
    path = flow.to_html(tmp_path / "figure.html", layer=1)
    assert path == tmp_path / "figure.html"
    assert path.read_text(encoding="ascii") == build_page(flow, layer=1)


def test_the_same_flow_gives_the_same_bytes():
    assert build_page(random_flow()) == build_page(random_flow())


def test_the_state_is_written_into_the_page():
    about, *_ = blocks(build_page(two_streams(), stream="cross", theme="dark", token=1))
    state = json.loads(about)["state"]
    assert (state["stream"], state["layer"], state["theme"], state["token"]) == (
        "cross",
        1,
        "dark",
        1,
    )


def test_the_numbers_are_packed_into_the_page():
    flow = random_flow()
    _, packed, _ = blocks(build_page(flow))
    assert gzip.decompress(base64.b64decode(packed)) == pack(flow).data


def test_no_token_can_leave_its_block():
    flow = random_flow(NASTY)
    about, packed, script = blocks(build_page(replace(flow, title=NASTY[0])))
    assert json.loads(about)["header"]["flows"][0]["streams"][0]["keys"]["pieces"] == list(NASTY)
    assert "<" not in about
    assert "<" not in packed
    assert "alert(1)" not in script


def test_a_title_is_text():
    text = build_page(replace(random_flow(), title="<b> & \ud800 é"))
    assert "<title>normviz: &lt;b&gt; &amp; &#55296; &#233;</title>" in text


def test_the_policy_lets_in_the_two_inline_blocks_and_nothing_else():
    text = build_page(random_flow())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)

    def digest(code):
        return base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest(blocks(text)[-1])}'; "
        f"style-src 'sha256-{digest(style)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def test_the_page_names_no_other_place():
    text = build_page(random_flow())
    # What SVG and its links are called; nothing is loaded from there.
    names = text.replace("http://www.w3.org/2000/svg", "").replace(
        "http://www.w3.org/1999/xlink", ""
    )
    assert not re.search(r"https?://|\bimport\s*\(|\bfetch\s*\(|url\((?!#)|@import", names)


def test_a_failed_write_leaves_the_old_file_and_no_scraps(tmp_path, monkeypatch):
    target = tmp_path / "figure.html"
    target.write_text("old")

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="full"):
        to_html(random_flow(), target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_full_precision_can_be_asked_for():
    about, *_ = blocks(build_page(random_flow(), precision="float32"))
    assert {tile["dtype"] for tile in json.loads(about)["header"]["tiles"]} == {"float32"}


def test_a_receipt_that_failed_can_be_written_even_with_nan():
    flow = replace(random_flow(), receipt=receipt([check("encoder", 0, float("nan"))]))
    about, *_ = blocks(build_page(flow))
    shown = json.loads(about)["header"]["flows"][0]["receipt"]
    assert not shown["ok"]
    assert "miss the model's own output by nan" in shown["headline"]


@pytest.fixture
def live_comm(monkeypatch):
    """Gives widgets a comm, as a kernel does."""

    class Comm(BaseComm):
        def publish_msg(self, *_, **__):
            pass

    monkeypatch.setattr("comm.create_comm", Comm)


@pytest.mark.usefixtures("live_comm")
def test_a_notebook_gets_the_widget_and_plain_text():
    flow = random_flow()
    shown = mimebundle(flow)
    assert shown["text/plain"] == repr(flow)
    assert "model_id" in shown["application/vnd.jupyter.widget-view+json"]
    assert flow._repr_mimebundle_()["text/plain"] == repr(flow)


@pytest.mark.usefixtures("live_comm")
def test_where_outputs_are_kept_without_widgets_there_is_a_still_picture():
    flow = random_flow()
    still = mimebundle(flow)["image/svg+xml"]
    texts = {node.text for node in ET.fromstring(still).iter(f"{SVG}text")}  # noqa: S314
    assert set(flow.tokens.pieces) <= texts
    long = random_flow([str(n) for n in range(450)], layers=1, heads=1)
    assert "image/svg+xml" not in mimebundle(long)


def test_a_notebook_that_is_executed_to_be_exported_can_have_the_page_itself(monkeypatch):
    monkeypatch.setenv("NORMVIZ_STATIC", "1")
    shown = mimebundle(random_flow())
    assert set(shown) == {"text/plain", "text/html"}
    assert shown["text/html"].startswith("<iframe")


def test_without_a_comm_a_flow_is_the_page_in_a_frame():
    flow = random_flow()
    assert mimebundle(flow) == {"text/plain": repr(flow), "text/html": flow.frame().html}


@pytest.mark.usefixtures("live_comm")
def test_a_widget_that_is_to_be_static_is_the_page_with_what_is_chosen_in_it(monkeypatch):
    flow, other = random_flow(), random_flow(["one", "other"])
    widget = flow.widget(measure="weight", compare=other, precision="uint8")
    assert "text/html" not in widget._repr_mimebundle_()[0]
    widget.layer = 2
    monkeypatch.setenv("NORMVIZ_STATIC", "1")
    framed = flow.frame(measure="weight", compare=other, layer=2, precision="uint8")
    shown = ({"text/plain": repr(flow), "text/html": framed.html}, {})
    assert widget._repr_mimebundle_() == shown


def test_several_flows_share_one_page(tmp_path):
    flows = [random_flow(), random_flow(["one", "other"])]
    text = normviz.to_html(flows, tmp_path / "gallery.html", layer=1).read_text()
    found = re.findall(r'<script type="application/json">(.*?)</script>', text)
    titles = [json.loads(about)["header"]["flows"][0]["title"] for about in found]
    assert titles == [flow.title for flow in flows]
    assert [json.loads(about)["state"]["layer"] for about in found] == [1, 1]
    assert text.count("</style>") == 1
    with pytest.raises(UnknownName, match="There is no flow to show"):
        normviz.to_html([], tmp_path / "none.html")


def test_one_byte_a_number_makes_smaller_files(tmp_path):
    flow = random_flow([str(n) for n in range(60)])
    sizes = [len(build_page(flow, precision=name)) for name in ("uint8", "log16", "float32")]
    assert sizes == sorted(sizes)
    assert sizes[0] < 0.9 * sizes[1]


def test_a_budget_drops_the_layers_furthest_from_the_chosen_one_and_says_so():
    flow = random_flow([str(n) for n in range(60)], layers=8)
    whole, least = len(build_page(flow)), len(build_page(flow.nearest_layers(3, 1)[0], layer=3))
    budget = (least + (whole - least) * 0.45) / 1e6
    text = build_page(flow, layer=3, max_mb=budget)
    assert len(text) <= budget * 1e6
    about = json.loads(blocks(text)[0])["header"]["flows"][0]
    kept = about["streams"][0]["layers"]
    assert 3 in kept
    assert 1 < len(kept) < 8
    assert kept == sorted(kept)
    left = [layer for layer in range(8) if layer not in kept]
    assert about["note"].endswith(f"MB: layers {', '.join(map(str, left))}.")
    assert build_page(flow, layer=3, max_mb=whole / 1e6 + 1) == build_page(flow, layer=3)


def test_a_budget_too_small_for_one_layer_is_refused_with_both_numbers():
    with pytest.raises(
        BadChoice, match=r"With one layer the file is .* MB\. Expected at most 0.01 MB"
    ):
        build_page(random_flow(), max_mb=0.01)


def test_where_there_can_be_no_widget_the_text_says_why(monkeypatch):
    def fail(*_, **__):
        raise NormvizError("There is no widget.", "Expected one.", "Build it.")

    monkeypatch.setattr("normviz.view.widget.FlowWidget.__init__", fail)
    flow = random_flow()
    assert mimebundle(flow) == {
        "text/plain": f"{flow!r}\n  (no picture: There is no widget. Expected one. Build it.)"
    }


def test_nothing_in_the_data_looks_like_markup():
    about, packed, _ = blocks(build_page(replace(random_flow(NASTY), title="a<b>&amp;c")))
    assert not {*"<>&"} & {*about, *packed}
    assert json.loads(about)["header"]["flows"][0]["title"] == "a<b>&amp;c"


def test_no_date_is_written_into_the_page():
    _, packed, _ = blocks(build_page(random_flow()))
    assert base64.b64decode(packed)[4:8] == bytes(4)


def test_the_tab_is_named_after_the_first_text_or_its_model():
    flow = random_flow()
    nameless = replace(flow, title="")
    for flows, name in (
        (flow, flow.title),
        (nameless, "numbers from elsewhere"),
        ([flow, nameless, nameless], f"{flow.title} and 2 more"),
    ):
        assert f"<title>normviz: {name}</title>" in build_page(flows)


LONG = [str(n) for n in range(60)]


def budget_for(flow, share, **options):
    """Megabytes between the page of one layer and the whole page."""
    least = len(build_page(flow.nearest_layers(0, 1)[0]))
    return (least + (len(build_page(flow, **options)) - least) * share) / 1e6


def test_a_budget_keeps_as_many_layers_as_fit():
    flow = random_flow(LONG, layers=8)
    counts = []
    for share in (0.1, 0.3, 0.6, 0.9):
        text = build_page(flow, max_mb=budget_for(flow, share))
        counts.append(
            len(json.loads(blocks(text)[0])["header"]["flows"][0]["streams"][0]["layers"])
        )
    assert counts == sorted(counts)
    assert counts[0] >= 1
    assert counts[-1] == 7


def test_a_layer_that_was_left_out_is_compared_with_no_more():
    flow = random_flow(LONG, layers=8)
    about = json.loads(blocks(build_page(flow, compare=7, max_mb=budget_for(flow, 0.4)))[0])
    assert 7 not in about["header"]["flows"][0]["streams"][0]["layers"]
    assert about["state"]["compare"] == "weighted-norm"
    near = json.loads(blocks(build_page(flow, compare=1, max_mb=budget_for(flow, 0.6)))[0])
    assert near["state"]["compare"] == 1


def test_the_other_flow_keeps_to_the_budget_too():
    flow, other = random_flow(LONG, layers=8), random_flow(LONG, layers=8)
    whole = build_page(flow, compare=other)
    about = json.loads(blocks(build_page(flow, compare=other, max_mb=len(whole) * 0.6 / 1e6))[0])
    layers = [one["streams"][0]["layers"] for one in about["header"]["flows"]]
    assert layers[0] == layers[1]
    assert len(layers[0]) < 8


def test_a_budget_is_for_all_flows_together_and_each_says_what_it_lacks():
    flows = [random_flow(LONG, layers=2), random_flow(LONG, layers=8)]
    text = build_page(flows, max_mb=len(build_page(flows)) * 0.8 / 1e6)
    assert len(text) <= len(build_page(flows)) * 0.8
    found = re.findall(r'<script type="application/json">(.*?)</script>', text)
    first, second = (json.loads(about)["header"]["flows"][0] for about in found)
    assert first["streams"][0]["layers"] == [0, 1]
    assert first["note"] == ""
    assert 2 < len(second["streams"][0]["layers"]) < 8
    assert second["note"].startswith("Left out to keep the file within ")


@pytest.mark.usefixtures("live_comm")
def test_a_still_picture_has_only_so_many_ribbons():
    flow = random_flow(LONG, layers=1, heads=12)
    still = ET.fromstring(mimebundle(flow)["image/svg+xml"])  # noqa: S314
    assert 700 < len(list(still.iter(f"{SVG}path"))) <= 800


def test_numbers_that_json_has_no_word_for_never_reach_a_page():
    with pytest.raises(ValueError, match="JSON"):
        json_block({"number": float("nan")})
