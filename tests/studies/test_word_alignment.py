"""Alignment over a corpus: batches of taught targets, error rates, and the command for it."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from translators import KINDS, SOURCES, TARGETS, translator

import normviz
from normviz.alignment import Gold, read_links
from normviz.cli.main import main
from normviz.core.failure import Failure
from normviz.errors import BadInput, NormvizError
from normviz.studies import Alignments, alignment
from normviz.studies.word_alignment.study import link_words

PAIRS = list(zip(SOURCES, TARGETS, strict=True))
GOLD = [
    Gold({(0, 0), (1, 1), (2, 2), (3, 3)}),
    Gold({(0, 0), (1, 1)}, {(0, 1)}),
    Gold({(0, 2), (1, 3), (2, 4), (3, 5)}, {(1, 0), (0, 1)}),
]
PREFIXES = {"t5": "translate to the cats : "}


@cache
def flows(kind):
    """A flow for each pair on its own."""
    model, tokenizer = translator(kind)
    before = PREFIXES.get(kind, "")
    return [normviz.analyze(model, before + s, tokenizer=tokenizer, target=t) for s, t in PAIRS]


def by_hand(kind, measure, target_row, layer, head):
    """The error rate of one layer or head, from alignments one by one."""
    found = []
    for flow, (source, target) in zip(flows(kind), PAIRS, strict=True):
        where = {"layer": layer, "heads": head, "target_row": target_row}
        words = {"source": source, "target": target, "prefix": PREFIXES.get(kind, "")}
        found.append(normviz.align(flow, measure, **where, **words))
    return normviz.aer(found, GOLD)


@pytest.mark.parametrize("kind", KINDS)
def test_the_study_counts_what_single_alignments_add_up_to(kind):
    model, tokenizer = translator(kind)
    how = {"tokenizer": tokenizer, "prefix": PREFIXES.get(kind, ""), "batch_size": 2}
    study = alignment(model, PAIRS, GOLD, **how)
    assert (study.pairs, study.failures, study.sure, study.possible) == (3, (), 10, 3)
    for measure, target_row in study.counts:
        for layer, head in ((0, None), (1, 1)):
            expected = by_hand(kind, measure, target_row, layer, head)
            assert study.scores(measure, target_row, layer, head) == expected


def test_the_table_holds_every_layer_head_measure_and_target_row():
    model, tokenizer = translator("marian")
    study = alignment(model, PAIRS, GOLD, tokenizer=tokenizer)
    table = study.to_dataframe()
    assert len(table) == 2 * 2 * 2 * 3
    row = table.query("measure == 'weight' and target_row == 'output' and layer == 1")
    assert row[row["head"].isna()].aer.item() == study.aer("weight", "output")[1]
    assert row[row["head"] == 0].aer.item() == study.head_aer("weight", "output")[1, 0]


def test_mean_norms_are_those_of_the_pairs_of_tokens():
    model, tokenizer = translator("marian")
    study = alignment(model, PAIRS, GOLD, tokenizer=tokenizer, batch_size=3)
    streams = [flow.cross for flow in flows("marian")]
    cells = sum(stream.size("query") * stream.size("key") for stream in streams)
    summed = sum(stream["attention"].sum(axis=(1, 2)) for stream in streams) / cells
    single = sum(stream["weighted-norm"].sum(axis=(2, 3)) for stream in streams) / cells
    assert study.norms[:, -1] == pytest.approx(summed, rel=1e-4)
    assert study.norms[:, :-1] == pytest.approx(single, rel=1e-4)


def test_the_null_share_is_averaged_over_target_words():
    model, tokenizer = translator("marian")
    study = alignment(model, PAIRS, GOLD, tokenizer=tokenizer)
    shares = []
    for flow, (source, target) in zip(flows("marian"), PAIRS, strict=True):
        words = {"source": source, "target": target}
        shares += normviz.align(
            flow, "weight", layer=0, target_row="output", **words
        ).null_share.tolist()
    assert study.null_share["weight", "output"][0, -1] == pytest.approx(np.mean(shares), rel=1e-4)


def test_texts_as_people_write_them_are_matched_with_the_words_of_the_gold_set():
    model, tokenizer = translator("marian")
    spaced = alignment(model, [("no veo .", "not see .")], [{(0, 0)}], tokenizer=tokenizer)
    pairs, texts = [("no veo .", "not see .")], [("no veo.", "not see.")]
    joined = alignment(model, pairs, [{(0, 0)}], tokenizer=tokenizer, texts=texts)
    assert joined.failures == ()
    assert joined.norms != pytest.approx(spaced.norms)


def test_a_tokenizer_of_many_languages_comes_back_as_it_was():
    model, tokenizer = translator("mbart")
    spoken = {"tokenizer": tokenizer, "languages": ("fr_XX", "de_DE")}
    other = alignment(model, PAIRS, GOLD, **spoken)
    assert (tokenizer.src_lang, tokenizer.tgt_lang) == ("es_XX", "en_XX")
    same = alignment(model, PAIRS, GOLD, tokenizer=tokenizer, languages=("es_XX", "en_XX"))
    usual = alignment(model, PAIRS, GOLD, tokenizer=tokenizer)
    assert same.norms == pytest.approx(usual.norms)
    assert other.norms != pytest.approx(usual.norms)


def test_a_pair_that_fails_is_listed_and_the_others_are_counted():
    model, tokenizer = translator("marian")
    pairs = [*PAIRS, ("a " * 60, "b"), ("c", " ")]
    study = alignment(model, pairs, [*GOLD, {(0, 0)}, set()], tokenizer=tokenizer, batch_size=5)
    assert [one.number for one in study.failures] == [3, 4]
    assert "48" in study.failures[0].reason
    whole = alignment(model, PAIRS, GOLD, tokenizer=tokenizer)
    assert study.aer("weight", "input") == pytest.approx(whole.aer("weight", "input"))
    assert "2 pairs could not be aligned; the first is line 4" in str(study)
    with pytest.raises(BadInput, match="All 1 pairs failed"):
        alignment(model, pairs[3:4], [{(0, 0)}], tokenizer=tokenizer)


def test_gold_links_beyond_their_sentences_are_reported():
    model, tokenizer = translator("marian")
    study = alignment(model, PAIRS, [GOLD[0], Gold({(0, 9)}), GOLD[2]], tokenizer=tokenizer)
    (note,) = study.out_of_range
    assert note.startswith("line 2: the gold set links source word 0 and target word 9 (from 0)")
    assert note.endswith("there are 2 source and 2 target words")
    assert study.sure == 9


WRONG = [
    ({"gold": GOLD[:2]}, "There are 3 sentence pairs, and gold links of 2"),
    ({"pairs": [], "gold": []}, "There are no sentences"),
    ({"texts": [("a", "b")]}, "There are 1 texts, and 3 sentence pairs"),
    ({"languages": ("es", "en")}, "has no languages"),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_corpora_that_do_not_fit_together_are_refused(options, said):
    model, tokenizer = translator("marian")
    given = {"pairs": PAIRS, "gold": GOLD, "tokenizer": tokenizer, **options}
    with pytest.raises(NormvizError, match=said):
        alignment(model, **given)


def test_a_model_that_does_not_translate_is_refused(demo):
    with pytest.raises(BadInput, match="is not an encoder–decoder"):
        alignment(demo[0], PAIRS, GOLD, tokenizer=demo[1])


# --- the result -----------------------------------------------------------------------------------


def result(**changes):
    """A study of two layers with two heads, whose counts are known."""
    counts = np.zeros((2, 3, 3), dtype=np.int64)
    counts[..., 0] = 10
    counts[..., 1] = counts[..., 2] = [[2, 4, 6], [8, 1, 5]]
    better = counts + np.array([0, 1, 1])
    held = {("weight", s): counts for s in ("input", "output")}
    held |= {("weighted-norm", s): better for s in ("input", "output")}
    null_share = {name: np.full((2, 3), 0.5 if name[0] == "weight" else 0.25) for name in held}
    norms = np.array([[1.0, 2.0, 2.5], [4.0, 3.0, 5.0]])
    study = Alignments("tiny", 3, 10, 4, (0, 1), (0, 1), held, norms, null_share)
    return replace(study, **changes)


def test_rates_and_best_layers_and_heads_follow_from_the_counts():
    study = result()
    assert study.aer("weight", "input") == pytest.approx([1 - 12 / 20, 1 - 10 / 20])
    assert study.head_aer("weight", "input")[1] == pytest.approx([1 - 16 / 20, 1 - 2 / 20])
    assert study.best_layer("weight", "input").layer == 0
    best = study.best_head("weight", "input")
    assert (best.layer, best.head, best.aer) == (1, 0, pytest.approx(0.2))
    assert study.largest_norm_layer("input").layer == 1
    assert (study.largest_norm_head("input").layer, study.largest_norm_head("input").head) == (1, 0)


def test_the_correlation_is_that_of_heads():
    study = result()
    norms, rates = [1, 2, 4, 3], [0.7, 0.5, 0.1, 0.8]
    assert study.correlation("input")["pearson"] == pytest.approx(np.corrcoef(norms, rates)[0, 1])
    # ranks 1 2 4 3 and 3 2 1 4: 1 − 6·(4+0+9+1)/(4·15)
    assert study.correlation("input")["spearman"] == pytest.approx(1 - 6 * 14 / 60)
    alike = result(norms=np.ones((2, 3)))
    assert np.isnan(list(alike.correlation("input").values())).all()


def test_the_table_in_words_has_the_papers_rows():
    said = str(result())
    assert "tiny: 3 pairs, 10 sure links, 4 more possible" in said
    for row in ("layer mean", "best layer", "best head", "head that moves most", "ρ −0.40"):
        assert row in said


def test_the_columns_of_the_table_in_words_are_straight():
    _, _, *rows = [line for line in str(result()).splitlines() if line]
    tables = [row for row in rows if not row.startswith(" ")]
    assert len({len(row) for row in tables}) == 1
    assert len(tables) > 10


def test_charts_hold_the_rates_and_say_who_is_ahead():
    with_input, _, null_chart = result().charts()
    rates = {series.name: series.values for series in with_input.series}
    assert rates["α layer"] == pytest.approx((0.4, 0.5))
    assert rates["‖αf(x)‖ best head"] == pytest.approx((0.5, 0.1))
    assert "better than α in 2 of 2 layers" in with_input.finding
    assert with_input.finding.endswith("at ρ = −0.40.")
    assert null_chart.finding.startswith("Tokens outside all words have 50% of the weight, and 25%")


def test_a_study_can_be_looked_at_as_a_page(tmp_path):
    failed = result(failures=(Failure(6, "text", "too long"),))
    page = failed.to_html(tmp_path / "report.html").read_text()
    assert "alignment error rate with input" in page
    assert "line 7: too long" in page


@pytest.mark.parametrize("name", ["measure", "target_row", "layer", "head"])
def test_unknown_names_are_refused(name):
    asked = {"measure": "weight", "target_row": "input", "layer": 0, "head": 0}
    with pytest.raises(NormvizError, match="77"):
        result().scores(**{**asked, name: 77 if name in ("layer", "head") else "77"})


# --- targets in batches ---------------------------------------------------------------------------


def test_a_batch_of_targets_gives_the_flows_of_single_ones():
    model, tokenizer = translator("marian")
    sources, targets = zip(*PAIRS, strict=True)
    many = normviz.analyze_many(model, sources, tokenizer=tokenizer, targets=targets)
    for flow, alone, (source, target) in zip(many, flows("marian"), PAIRS, strict=True):
        assert flow.title == f"{source} → {target}"
        assert flow.cross.queries == alone.cross.queries
        for stream in flow.streams.values():
            expected = alone.streams[stream.name]["attention"]
            np.testing.assert_allclose(stream["attention"], expected, rtol=1e-4, atol=1e-5)


def test_targets_that_do_not_fit_the_model_or_the_texts_are_refused(demo):
    model, tokenizer = translator("marian")
    with pytest.raises(BadInput, match="there are no targets"):
        list(normviz.analyze_many(model, ["a"], tokenizer=tokenizer))
    with pytest.raises(BadInput, match="fewer targets"):
        list(normviz.analyze_many(model, ["a", "b"], tokenizer=tokenizer, targets=["c"]))
    with pytest.raises(BadInput, match="has no use for targets"):
        list(normviz.analyze_many(demo[0], ["a"], tokenizer=demo[1], targets=["b"]))


# --- from a shell ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model in a folder, sentences in two files and in one, gold links."""
    folder = tmp_path_factory.mktemp("translation")
    for part in translator("marian"):
        part.save_pretrained(folder / "model")
    for side, name in enumerate(("source", "target")):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS))
    (folder / "pairs").write_text("".join(f"{s} ||| {t}\n" for s, t in PAIRS))
    normviz.alignment.write_links(GOLD, folder / "gold", "talp")
    return folder


def command(files, *more, output="report.html"):
    where = ["--model", str(files / "model"), "-o", str(files / output)]
    return main(["align", *where, *map(str, more)])


def test_a_report_is_written_and_its_table_printed(files, capsys):
    two = ["--source", files / "source", "--target", files / "target", "--gold", files / "gold"]
    assert command(files, *two) == 0
    said = capsys.readouterr().out
    assert "3 pairs, 10 sure links, 3 more possible" in said
    assert said.rstrip().endswith("report.html")
    assert "alignment error rate" in (files / "report.html").read_text()


def test_a_script_gets_json_and_a_table(files, capsys):
    one = ["--pairs", files / "pairs", "--gold", files / "gold", "--json"]
    assert command(files, *one, output="table.csv") == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["aer"]["weight"]["input"]) == 2
    assert (files / "table.csv").read_text().startswith("measure,target_row,layer,head,aer")


@pytest.mark.parametrize("form", ["pharaoh", "talp", "naacl"])
def test_links_are_written_in_any_format(files, form, capsys):
    chosen = [
        "--pairs",
        files / "pairs",
        "--layer",
        1,
        "--target-row",
        "output",
        "--measure",
        "weight",
    ]
    assert command(files, "--pairs", files / "pairs", *chosen, output=f"links.{form}") == 0
    model, tokenizer = translator("marian")
    where = {"measure": "weight", "layer": 1, "target_row": "output"}
    expected, _ = link_words(model, PAIRS, tokenizer=tokenizer, **where)
    assert [gold.sure for gold in read_links(files / f"links.{form}", form)] == expected
    assert f"{sum(map(len, expected))} links of 3 pairs" in capsys.readouterr().out


def test_a_pair_that_fails_is_named_and_the_command_says_so(files, capsys):
    (files / "long").write_text(f"ella come ||| she eats\n{'a ' * 60} ||| b\n")
    assert command(files, "--pairs", files / "long", output="links.pharaoh") == 1
    assert "line 2 has none" in capsys.readouterr().out
    assert len((files / "links.pharaoh").read_text().splitlines()) == 2
    assert command(files, "--pairs", files / "long", "--json", output="links.pharaoh") == 1
    assert json.loads(capsys.readouterr().out)["failures"][0]["line"] == 2


BAD = [
    (["--pairs", "pairs"], "report.html", "There are no gold links"),
    (["--pairs", "pairs"], "report.pdf", ".pharaoh"),
    ([], "links.talp", "not given, or given twice"),
    (["--source", "source"], "links.talp", "not given, or given twice"),
    (["--source", "source", "--target", "long"], "links.talp", "source has 3 and long has 2"),
]


@pytest.mark.parametrize(("options", "output", "said"), BAD)
def test_bad_arguments_are_refused_before_a_model_is_loaded(
    files, options, output, said, capsys, monkeypatch
):
    (files / "long").write_text("a ||| b\nc ||| d\n")
    monkeypatch.setattr("normviz.model.loading.load_model", lambda *_, **__: pytest.fail("loaded"))
    paths = [option if option.startswith("--") else files / option for option in options]
    assert command(files, *paths, output=output) == 2
    assert said in capsys.readouterr().err
