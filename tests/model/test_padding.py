"""Padding is dropped, on either side, and changes nothing about the rest."""

import architectures
import numpy as np
import pytest
import torch

from normviz.errors import BadInput
from normviz.model.analyze import analyze, analyze_many

TEXTS = ["A cat.", "The animal didn't cross the street because it was too tired.", "Rain fell."]


@pytest.mark.parametrize("name", ["bert", "llama", "gpt2", "gptj", "mistral", "t5", "bloom"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_padded_row_gives_what_it_gives_alone(name, side):
    architecture = architectures.ALL[name]
    model = architecture.build()
    alone = analyze(model, inputs=architecture.inputs())
    padded = architecture.inputs()
    ids = padded["input_ids"]
    pads = torch.zeros(1, 3, dtype=torch.long)
    parts = [pads, ids] if side == "left" else [ids, pads]
    padded["input_ids"] = torch.cat(parts, dim=1)
    padded["attention_mask"] = torch.cat([torch.ones_like(p) * (p is ids) for p in parts], dim=1)
    if name in {"bert", "llama", "gpt2", "gptj", "mistral"}:
        # the position of a token is where it stands in its text, not in its row
        padded["position_ids"] = (padded["attention_mask"].cumsum(-1) - 1).clamp(min=0)
    flow = analyze(model, inputs=padded)
    assert flow.receipt.ok, flow.receipt
    for stream in alone.streams:
        assert flow.streams[stream].keys.ids == alone.streams[stream].keys.ids
        for measure in alone.streams[stream]:
            found, wanted = flow.streams[stream][measure], alone.streams[stream][measure]
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_a_batch_gives_each_text_what_it_gets_alone(demo):
    model, tokenizer = demo
    flows = list(analyze_many(model, iter(TEXTS), tokenizer=tokenizer, batch_size=2))
    assert [flow.title for flow in flows] == TEXTS
    for text, flow in zip(TEXTS, flows, strict=True):
        alone = analyze(model, text, tokenizer=tokenizer)
        assert flow.tokens == alone.tokens
        assert flow.receipt.ok
        for measure in alone.measures:
            np.testing.assert_allclose(flow[measure], alone[measure], rtol=2e-4, atol=1e-6)


def test_a_decoder_without_padding_token_is_batched_too(smollm2):
    model, tokenizer = smollm2
    flows = list(analyze_many(model, TEXTS[:2], tokenizer=tokenizer, layers=[0, 5]))
    alone = analyze(model, TEXTS[0], tokenizer=tokenizer, layers=[0, 5])
    assert flows[0].stream().layers == (0, 5)
    np.testing.assert_allclose(flows[0]["weight"], alone["weight"], rtol=1e-3, atol=1e-5)


def test_several_sequences_are_refused_by_analyze(tiny):
    with pytest.raises(BadInput, match="2 sequences") as error:
        analyze(tiny("bert"), inputs={"input_ids": torch.ones(2, 4, dtype=torch.long)})
    assert "analyze_many" in error.value.do


def test_padding_of_audio_is_counted_in_frames():
    architecture = architectures.ALL["wav2vec2"]
    model = architecture.build()
    wave = architecture.inputs()["input_values"]
    mask = torch.ones_like(wave, dtype=torch.long)
    mask[:, 300:] = 0
    whole = analyze(model, inputs={"input_values": wave})
    cut = analyze(model, inputs={"input_values": wave, "attention_mask": mask})
    assert 0 < len(cut.tokens) < len(whole.tokens)
    assert cut.receipt.ok, cut.receipt
    assert cut["weight"].shape[-1] == len(cut.tokens)
