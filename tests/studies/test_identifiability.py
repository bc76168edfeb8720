"""Token identifiability: laws that hold for any model, and results for small ones."""

import numpy as np
import pytest
import torch
from toys import MODEL, Numbers, Toy, mixed_texts, same, table, texts

from normviz import studies
from normviz.errors import BadInput, NotFinite, UnknownKeyword, UnknownName, UnsupportedModel
from normviz.model.capture.hidden_states import hidden_states
from normviz.studies.identifiability import documents, probes, ridge
from normviz.studies.identifiability.mlp import train_mlp
from normviz.studies.identifiability.nearest import identical_inputs, nearest_is_own
from normviz.studies.identifiability.result import hit_rate

SENTENCES = [
    "The quick brown fox slept until noon, and nobody woke it.",
    ("A cat sat on the mat.", "It had been there for years, and it knew every thread of it."),
    "Most rivers of the island rise in its mountains and flow to the south.",
    "She opened the letter, read it twice, and put it back into the drawer.",
    "Copper conducts heat well, which is why cooks like copper pans so much.",
    "After the storm the harbour was full of broken masts and torn sails.",
]


def study(model, given=None, **options):
    return studies.identifiability(model, given or texts(), tokenizer=Numbers(), **options)


def accuracies(result):
    return {(r.layer, r.probe, r.distance): r.accuracy for r in result.accuracies}


def rotated(hidden, _):
    turned, _ = torch.linalg.qr(table(7)[:MODEL])
    return 3 * hidden @ turned + 0.5


def unrelated(_, ids):
    return table(8)[ids]


def test_the_input_itself_is_always_found_by_the_naive_probe():
    repeated = ["5 5 6 7", "8 9 8 8 9", "1"]  # one vector for each token, wherever it stands
    result = study(Toy(same, same), repeated, probes="naive")
    assert {row.accuracy for row in result.accuracies} == {1.0}
    assert {row.error for row in result.accuracies} == {0.0}
    assert result.chance == pytest.approx(((2 * 2 + 2) / 4 + (3 * 3 + 2 * 2) / 5 + 1) / 10)


def test_a_rotation_hides_tokens_from_the_naive_probe_and_not_from_the_linear_one():
    found = accuracies(study(Toy(same, rotated), probes=("naive", "linear")))
    for distance in ("cosine", "l2"):
        assert found[0, "naive", distance] == 1
        assert found[1, "naive", distance] < 0.3
        assert found[1, "linear", distance] == 1


def test_the_mlp_learns_a_map_that_is_not_linear():
    states, goal = table(0), torch.zeros(600, MODEL, dtype=torch.float64)
    goal[:, :3] = states[:, :3].abs()
    seen = ridge.RegressionSums.zeros(MODEL, torch.device("cpu"))
    seen.add(states, goal)
    line, curve = ridge.fit_ridge(seen, 1e-5), train_mlp(states, goal, epochs=300, seed=0)
    errors = [float((probe(states) - goal).square().mean()) for probe in (line, curve)]
    assert errors[1] < 0.2 * errors[0], errors


def test_states_that_know_nothing_of_their_tokens_are_found_by_chance():
    """Every document has tokens of its own: a probe that saw them would know them by heart."""
    result = study(Toy(unrelated), texts(20, 25), epochs=100)
    for row in result.accuracies:
        assert row.accuracy < result.chance + 4 * row.error, row


def test_no_document_is_in_two_folds_not_even_one_that_is_there_twice():
    given = [*mixed_texts(), *mixed_texts()[:4]]
    model = Toy(same)
    made = documents.read_documents(model, Numbers(), given, max_tokens=99, folds=3, seed=0)
    folds = {}
    for document in made:
        folds.setdefault(tuple(document.row["input_ids"]), set()).add(document.fold)
    assert len(made) == len(given)
    assert all(len(found) == 1 for found in folds.values())
    assert set().union(*folds.values()) == {0, 1, 2}
    again = documents.read_documents(model, Numbers(), given[::-1], max_tokens=99, folds=3, seed=0)
    assert [(d.row, d.fold) for d in again] == [(d.row, d.fold) for d in made]
    other = documents.read_documents(model, Numbers(), given, max_tokens=99, folds=3, seed=1)
    by_text = [{str(d.row): d.fold for d in dealt} for dealt in (made, other)]
    assert by_text[0] != by_text[1]


def test_neither_batches_nor_the_order_of_texts_change_anything(tiny):
    model = tiny("bert").double()
    given = mixed_texts()
    options = {"probes": ("naive", "linear"), "ridge": 30.0}
    whole = study(model, given, batch_size=99, **options)
    assert 0 < accuracies(whole)[1, "linear", "cosine"] < 1
    for batch_size, some in ((1, given), (2, given), (4, given[::-1])):
        assert study(model, some, batch_size=batch_size, **options) == whole
    toy = Toy(rotated)
    assert study(toy, batch_size=1, epochs=3) == study(toy, texts()[::-1], batch_size=5, epochs=3)


def test_a_seed_decides_everything_and_torchs_own_numbers_are_left_alone():
    torch.manual_seed(5)
    first = study(Toy(unrelated), epochs=3)
    after = torch.rand(1)
    second = study(Toy(unrelated), epochs=3)
    assert first == second
    assert study(Toy(unrelated), epochs=3, seed=1) != first
    torch.manual_seed(5)
    assert torch.rand(1) == after


def random_sums(draw, tokens=40, model=5):
    seen = ridge.RegressionSums.zeros(model, torch.device("cpu"))
    states, inputs = (torch.from_numpy(draw.normal(1, 2, (tokens, model))) for _ in range(2))
    for some in (slice(0, 7), slice(7, tokens)):
        seen.add(states[some], inputs[some])
    return seen, states, inputs


def test_the_closed_form_is_the_least_squares_solution_of_the_augmented_problem():
    seen, states, inputs = random_sums(np.random.default_rng(0))
    for strength in (1e-5, 0.3, 10.0):
        made = ridge.fit_ridge(seen, strength)
        penalty = strength * states.var(dim=0, correction=0).mean() * len(states)
        wide = np.c_[states, np.ones(len(states))]
        pulled = np.c_[np.sqrt(penalty) * np.eye(5), np.zeros(5)]  # the intercept is left free
        goal = np.r_[inputs, np.zeros((5, 5))]
        slow = np.linalg.lstsq(np.r_[wide, pulled], goal, rcond=None)[0]
        np.testing.assert_allclose(made.weight, slow, atol=1e-10)
        np.testing.assert_allclose(made(states), wide @ slow, atol=1e-10)
        assert made.loss(seen) == pytest.approx(float((made(states) - inputs).square().sum()))


def test_states_that_are_all_the_same_give_the_mean_input():
    seen = ridge.RegressionSums.zeros(3, torch.device("cpu"))
    inputs = torch.arange(12, dtype=torch.float64).reshape(4, 3)
    seen.add(torch.ones(4, 3, dtype=torch.float64), inputs)
    guess = ridge.fit_ridge(seen, 1e-3)(torch.ones(1, 3, dtype=torch.float64))
    torch.testing.assert_close(guess[0], inputs.mean(dim=0))


def test_a_fold_does_not_affect_its_own_probe():
    draw = np.random.default_rng(1)
    folds = [random_sums(draw)[0] for _ in range(3)]
    for strength in (None, 0.1):
        before = ridge.fit_without_fold(folds, 1, strength)
        after = ridge.fit_without_fold([folds[0], random_sums(draw)[0], folds[2]], 1, strength)
        assert torch.equal(before.weight, after.weight)
        other = ridge.fit_without_fold([random_sums(draw)[0], *folds[1:]], 1, strength)
        assert not torch.equal(before.weight, other.weight)


def test_the_ridge_is_the_one_that_serves_a_further_fold_best():
    folds = [random_sums(np.random.default_rng(seed), tokens=9)[0] for seed in range(4)]
    made = ridge.fit_without_fold(folds, 3, None)
    training = folds[1] + folds[2]
    losses = [ridge.fit_ridge(training, each).loss(folds[0]) for each in ridge.STRENGTHS]
    assert made.strength == ridge.STRENGTHS[int(np.argmin(losses))]
    assert made.strength == 10  # of noise, least is to be learned
    exact = study(Toy(rotated), probes="linear").ridges
    assert exact[0] == (1e-5,) * 4  # of a map without noise, all


def test_the_nearest_input_is_that_of_slow_loops():
    draw = np.random.default_rng(2)
    inputs = draw.normal(size=(7, 3))
    inputs[4] = inputs[1]
    guesses = inputs + draw.normal(0, 0.8, (7, 3))
    expected = {"cosine": [], "l2": []}
    for query, guess in enumerate(guesses):
        others = [x for x in inputs if (x != inputs[query]).any()]
        angle = lambda x, g=guess: g @ x / np.linalg.norm(g) / np.linalg.norm(x)  # noqa: E731
        away = lambda x, g=guess: np.linalg.norm(g - x)  # noqa: E731
        expected["cosine"].append(angle(inputs[query]) > max(map(angle, others)))
        expected["l2"].append(away(inputs[query]) < min(map(away, others)))
    given = torch.from_numpy(inputs)
    for distance, slow in expected.items():
        fast = nearest_is_own(torch.from_numpy(guesses), given, identical_inputs(given), distance)
        assert fast.tolist() == slow
        assert 0 < sum(slow) < 7


def test_a_tie_between_two_vectors_is_a_miss():
    inputs = torch.tensor([[1.0, 0], [0, 1]], dtype=torch.float64)
    between = torch.tensor([[1.0, 1], [1, 2]], dtype=torch.float64)
    for distance in ("cosine", "l2"):
        assert nearest_is_own(between, inputs, identical_inputs(inputs), distance).tolist() == [
            False,
            True,
        ]


def test_the_error_counts_documents_and_not_tokens():
    one_each = np.array([1.0] * 30 + [0.0] * 10)
    mean, error = hit_rate(one_each, np.ones(40))
    assert mean == 0.75
    assert error == pytest.approx(np.sqrt(0.75 * 0.25 / 39))
    assert hit_rate(10 * one_each, np.full(40, 10.0))[1] == pytest.approx(error)


def test_the_mlp_keeps_so_many_tokens_of_every_fold():
    made = documents.read_documents(
        Toy(same), Numbers(), mixed_texts(), max_tokens=99, folds=3, seed=0
    )
    chosen = probes.sample_tokens(made, 11, seed=0)
    by_fold = dict.fromkeys(range(3), 0)
    for document, mine in zip(made, chosen, strict=True):
        assert len(mine) == len(document)
        by_fold[document.fold] += mine.sum()
    assert by_fold == {0: 11, 1: 11, 2: 11}
    every = probes.sample_tokens(made, 999, seed=0)
    assert all(mine.all() for mine in every)


@pytest.mark.parametrize("name", ["bert", "distilbert", "albert", "llama", "gpt2", "t5", "bart"])
def test_every_kind_of_model_can_be_studied_and_comes_back_as_it_was(tiny, name):
    model = tiny(name).double().train()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    result = study(model, mixed_texts(), epochs=2, folds=3)
    assert result.layers == (0, 1)
    assert result.model.endswith(" (encoder)") is (name in {"t5", "bart"})
    assert len(result.accuracies) == 2 * 3 * 2
    assert result.tokens == sum(5 + at for at in range(9))
    assert accuracies(result)[0, "naive", "cosine"] > result.chance
    assert model.training
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())


@pytest.mark.parametrize("name", ["bert", "llama", "gpt2"])
def test_hidden_states_are_the_models_own_without_its_final_norm(tiny, name):
    model = tiny(name)
    ids = torch.arange(5, 14)[None]
    states = hidden_states(model, {"input_ids": ids})
    with torch.no_grad():
        described = model(input_ids=ids, output_hidden_states=True).hidden_states
    assert len(states) == len(described) == 3
    for mine, own in zip(states[:-1], described[:-1], strict=True):
        torch.testing.assert_close(mine, own)
    assert torch.allclose(states[-1], described[-1], atol=1e-4) is (name == "bert")


def test_states_of_several_shapes_are_refused():
    def halved(hidden, _):
        return hidden[:, ::2]

    with pytest.raises(UnsupportedModel, match=r"have the shapes \(\d+, \d+, 16\), .*pool"):
        study(Toy(halved), probes="naive")


@pytest.mark.filterwarnings("ignore:overflow")
def test_states_that_are_no_numbers_are_refused():
    with pytest.raises(NotFinite, match=r"NaN or an infinite.*dtype"):
        study(Toy(lambda hidden, _: hidden / 0), probes="naive")


def test_texts_are_truncated_and_layers_chosen():
    result = study(Toy(same, rotated, same), probes="naive", max_tokens=7, layers=[2, 0])
    assert result.layers == (0, 2)
    assert result.tokens == 12 * 7
    assert result.folds == 1


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"given": "5 6 7"}, BadInput, r"one string.*Write identifiability\(model, \[text\]\)"),
        ({"given": []}, BadInput, "There are no texts"),
        ({"given": ["5 6", " "]}, BadInput, "The text is ' '"),
        ({"given": ["5 6", "7 8", "7 8"]}, BadInput, "2 different texts, and 4 folds.*probes="),
        ({"probes": "magic"}, UnknownName, "The probes are: naive, linear, mlp"),
        ({"probes": ()}, UnknownName, "There is no probe 'none'"),
        ({"distances": "l1"}, UnknownName, "The distances are: cosine, l2"),
        ({"layers": [0, 2]}, BadInput, "layers holds 2.*has 2 layers, numbered from 0"),
        ({"folds": 2}, BadInput, "folds is 2.*3 or more"),
        ({"folds": 1, "ridge": 0.1}, BadInput, "folds is 1.*2 or more"),
        ({"epochs": 0}, BadInput, "epochs is 0.*1 or more"),
        ({"mlp_tokens": 3}, BadInput, "mlp_tokens is 3.*4 or more"),
        ({"batch_size": 0}, BadInput, "batch_size is 0"),
        ({"max_tokens": 0}, BadInput, "max_tokens is 0"),
        ({"ridge": 0.0}, BadInput, "ridge is 0.0.*positive"),
        ({"tokenizer": None}, BadInput, r"no tokenizer.*Give tokenizer=…"),
        ({"given": Numbers()}, BadInput, "The texts are a Numbers"),
        ({"tokenizer": ["5 6"]}, BadInput, "tokenizer is a list"),
        ({"probe": "naive"}, UnknownKeyword, "Write probes=… instead"),
    ],
)
def test_bad_arguments_are_refused(options, kind, message):
    given = {"given": texts(), "tokenizer": Numbers(), **options}
    with pytest.raises(kind, match=message):
        studies.identifiability(Toy(same, same), given.pop("given"), **given)


@pytest.fixture(scope="module")
def seen(demo):
    model, tokenizer = demo
    return studies.identifiability(model, SENTENCES, tokenizer=tokenizer, folds=3, epochs=5)


def test_a_trained_model_hides_its_tokens_the_more_the_deeper_they_are(seen):
    found = accuracies(seen)
    for distance in ("cosine", "l2"):
        by_layer = [found[layer, "naive", distance] for layer in range(6)]
        assert by_layer[0] == 1
        assert by_layer[0] > by_layer[4] > seen.chance
        assert max(by_layer[4:]) < min(by_layer[:4])


def test_the_table_has_a_row_for_each_layer_and_says_what_chance_is(seen):
    lines = str(seen).splitlines()
    assert lines[0].endswith(f"6 texts, {seen.tokens} tokens, chance {100 * seen.chance:.1f}%")
    assert [line.split()[:2] for line in lines[2:8]] == [["layer", str(n)] for n in range(6)]
    cells = [100 * row.accuracy for row in seen.accuracies if row.layer == 4]
    assert lines[6].split()[2:] == [f"{cell:.1f}" for cell in cells]
    assert lines[8].startswith("cosine against L2: naive ")
    assert repr(seen) == str(seen)
    frame = seen.to_dataframe()
    assert list(frame.columns) == [
        "layer", "probe", "distance", "accuracy", "count", "error", "low", "high",
    ]  # fmt: skip
    assert len(frame) == 6 * 3 * 2
    assert (frame["count"] == seen.tokens).all()
    np.testing.assert_allclose(frame.low, (frame.accuracy - 1.96 * frame.error).clip(0, 1))
    np.testing.assert_allclose(frame.high, (frame.accuracy + 1.96 * frame.error).clip(0, 1))
    assert (frame.error > 0.01).any()
    with pytest.raises(TypeError):
        seen.ridges[0] = ()


def test_the_angle_is_compared_with_the_distance_on_the_same_tokens():
    def stretched(hidden, ids):
        return hidden / (1 + 20 * (ids[..., None] % 2))  # every second one is short

    result = study(Toy(same, stretched), probes="naive")
    found = accuracies(result)
    assert found[1, "naive", "cosine"] == 1 > found[1, "naive", "l2"]
    ahead = {gain.layer: gain for gain in result.gains}
    assert ahead[1].difference == pytest.approx(1 - found[1, "naive", "l2"])
    assert (ahead[0].sign, ahead[1].sign) == (0, 1)
    points = 50 * ahead[1].difference
    described = f"naive +{points:.1f} points (clearly more in 1, less in 0 of 2 layers)"
    assert result.cosine_against_l2 == described
    alone = study(Toy(same), probes="naive", distances="l2")
    assert alone.gains == ()
    assert "against" not in str(alone)


def test_the_curves_are_those_of_the_table(seen):
    chart = seen.chart()
    names = ["naive cosine", "naive L2", "linear cosine", "linear L2", "mlp cosine", "mlp L2"]
    assert [series.name for series in chart.series] == [*names, "chance"]
    assert [series.dashed for series in chart.series] == [False, True] * 3 + [False]
    assert chart.series[-1].faint
    assert set(chart.series[-1].values) == {seen.chance}
    found = accuracies(seen)
    assert chart.series[3].values == tuple(found[n, "linear", "l2"] for n in range(6))
    assert chart.layers == seen.layers
    assert seen.cosine_against_l2 in chart.finding
