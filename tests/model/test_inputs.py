"""Texts, targets, generated texts, images and audio as model inputs."""

import architectures
import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from normviz import analyze
from normviz.model.loading import load_model


class Letters:
    """A tokenizer for tiny models: one token for each letter."""

    all_special_ids = (0, 1, 2)
    cls_token_id = sep_token_id = None
    pad_token_id = 0
    model_max_length = 10**30

    def __len__(self):
        return architectures.VOCABULARY

    def __call__(self, text=None, *, text_target=None, add_special_tokens=True, **options):
        ids = [ord(letter) % 26 + 10 for letter in text_target or text]
        ids = [*ids, 2] if add_special_tokens and text_target else ids
        if options.get("return_tensors"):
            return {"input_ids": torch.tensor([ids])}
        return {"input_ids": ids, "attention_mask": [1] * len(ids)}

    def convert_ids_to_tokens(self, ids):
        return [f"t{number}" for number in ids]

    def decode(self, ids, *, skip_special_tokens=False):
        kept = [n for n in ids if not (skip_special_tokens and n in self.all_special_ids)]
        return " " + "".join(self.convert_ids_to_tokens(kept))


@pytest.fixture
def translator():
    config = architectures.ALL["bart"].build().config
    torch.manual_seed(0)
    return AutoModelForSeq2SeqLM.from_config(config).eval()


@pytest.fixture
def writer():
    config = architectures.ALL["llama"].build().config
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(config).eval()


def test_positions_whose_times_are_not_known_have_numbers():
    architecture = architectures.ALL["whisper"]
    model = architecture.build()
    model.config.num_mel_bins = 9  # as of a model whose features lie otherwise
    flow = analyze(model, inputs=architecture.inputs())
    assert flow.cross.keys.pieces[:3] == ("0", "1", "2")


def test_a_pair_is_read_as_the_model_was_taught(demo):
    flow = analyze(demo[0], "A cat.", tokenizer=demo[1], pair="It sat.")
    assert flow.tokens.pieces == ("[CLS]", "a", "cat", ".", "[SEP]", "it", "sat", ".", "[SEP]")
    assert flow.title == "A cat. / It sat."
    alone = analyze(demo[0], inputs=demo[1]("A cat.", "It sat.", return_tensors="pt"))
    np.testing.assert_array_equal(flow["weight"], alone["weight"])


def test_a_translation_is_read_behind_its_start_token(translator):
    flow = analyze(translator, "hello", tokenizer=Letters(), target="abc")
    # the start token, then the target; the end of sentence is what the last row predicts
    assert flow.decoder.queries.ids == (2, *(ord(c) % 26 + 10 for c in "abc"))
    assert flow.cross.keys.ids == tuple(ord(c) % 26 + 10 for c in "hello")
    assert flow.title == "hello → abc"
    assert flow.receipt.ok


def test_an_encoder_decoder_writes_its_own_target(translator):
    flow = analyze(translator, "hello", tokenizer=Letters(), generate=4)
    with torch.no_grad():
        ids = torch.tensor([list(flow.encoder.keys.ids)])
        wanted = translator.generate(ids, max_new_tokens=4, do_sample=False, num_beams=1)
    assert flow.cross.queries.ids == tuple(wanted[0].tolist())
    assert flow.receipt.ok


def test_a_language_model_continues_by_itself_or_with_a_target(writer):
    continued = analyze(writer, "hello", tokenizer=Letters(), target="abc")
    assert continued.tokens.ids == tuple(ord(c) % 26 + 10 for c in "helloabc")
    wrote = analyze(writer, "hello", tokenizer=Letters(), generate=3)
    assert wrote.tokens.ids[:5] == continued.tokens.ids[:5]
    assert len(wrote.tokens) <= 8
    assert wrote.stream().name == "decoder"


def test_a_title_has_the_text_and_what_the_model_wrote(writer, translator):
    wrote = analyze(writer, "hello", tokenizer=Letters(), generate=3)
    assert wrote.title == "hello → " + "".join(f"t{n}" for n in wrote.tokens.ids[5:])
    translator.generation_config.min_new_tokens = 3  # else it ends at once
    translated = analyze(translator, "hello", tokenizer=Letters(), generate=4)
    words = [n for n in translated.cross.queries.ids if n not in Letters.all_special_ids]
    assert words
    assert translated.title == "hello → " + "".join(f"t{n}" for n in words)


def test_without_a_tokenizer_generated_text_has_no_title(writer):
    ids = {"input_ids": torch.tensor([[10, 11, 12]])}
    assert analyze(writer, inputs=ids, generate=3).title == ""


def test_generating_leaves_the_model_as_it_was(writer):
    writer.train()
    seed = torch.get_rng_state()
    before = writer.generation_config.to_dict()
    analyze(writer, "hello", tokenizer=Letters(), generate=3)
    assert all(module.training for module in writer.modules())
    assert torch.equal(seed, torch.get_rng_state())
    assert writer.generation_config.to_dict() == before


def test_labels_in_the_inputs_become_the_decoders_text(translator):
    labels = torch.tensor([[20, 21, 22, 2]])
    flow = analyze(translator, inputs={**architectures.text_inputs(), "labels": labels})
    assert flow.decoder.queries.ids == (2, 20, 21, 22)


def test_image_patches_are_labeled_by_rows_and_columns():
    flow = analyze(architectures.ALL["vit"].build(), inputs=architectures.image_inputs())
    assert len(flow.tokens) == 17
    assert flow.tokens.pieces[:3] == ("[CLS]", "0,0", "0,1")
    assert flow.tokens.pieces[-1] == "3,3"
    assert flow.tokens.special == (True,) + (False,) * 16
    assert flow.tokens.categories[:2] == ("[CLS]", "other")
    deit = analyze(architectures.ALL["deit"].build(), inputs=architectures.image_inputs())
    assert deit.tokens.pieces[:3] == ("[CLS]", "[extra 1]", "0,0")


def test_audio_positions_are_labeled_by_their_times():
    architecture = architectures.ALL["whisper"]
    flow = analyze(architecture.build(), inputs=architecture.inputs())
    assert flow.cross["weight"].shape == (2, 4, 6, 12)
    # 24 frames of 10 ms, two to a position
    assert flow.cross.keys.pieces == tuple(f"{place * 0.02:.2f} s" for place in range(12))
    assert flow.encoder.keys.pieces == flow.cross.keys.pieces
    assert flow.cross.queries.ids == tuple(range(20, 26))
    wave = architectures.ALL["wav2vec2"]
    audio = analyze(wave.build(), inputs=wave.inputs())
    # one position for 5 × 4 samples of 1/16000 s
    assert audio.tokens.pieces[:3] == ("0.000 s", "0.001 s", "0.003 s")


def test_inputs_may_be_lists_or_numpy(tiny):
    model = tiny("bert")
    ids = architectures.text_inputs()["input_ids"]
    wanted = analyze(model, inputs={"input_ids": ids})["weight"]
    for same in (ids.tolist(), ids.numpy()):
        np.testing.assert_array_equal(analyze(model, inputs={"input_ids": same})["weight"], wanted)


def test_a_folder_gives_model_and_tokenizer(demo, tmp_path):
    model, tokenizer = demo
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    wanted = analyze(model, "A cat.", tokenizer=tokenizer)
    for given in (str(tmp_path), tmp_path):
        flow = analyze(given, text="A cat.")
        np.testing.assert_array_equal(flow["weight"], wanted["weight"])
    assert analyze(tmp_path, "A cat.").tokens == wanted.tokens


def test_a_folder_keeps_its_head_so_that_it_can_generate(writer, tmp_path):
    writer.save_pretrained(tmp_path)
    loaded = load_model(tmp_path, Letters())
    assert type(loaded.model) is type(writer)
    assert analyze(tmp_path, "hello", tokenizer=Letters(), generate=2).receipt.ok


def test_another_precision_runs_on_a_copy(demo):
    model, tokenizer = demo
    flow = analyze(model, "A cat.", tokenizer=tokenizer, dtype="float64")
    assert flow.receipt.dtype == "float64"
    assert flow.receipt.error < 1e-12
    assert model.dtype == torch.float32
    named = analyze("demo", "A cat.", dtype=torch.float64)
    np.testing.assert_allclose(named["attention"], flow["attention"], rtol=1e-6)
