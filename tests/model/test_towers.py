"""A stream is one tower: found by module, numbered as in the model, labeled by what it reads."""

import re

import architectures
import numpy as np
import pytest
import torch
import zoo
from torch import nn

from normviz.errors import BadInput
from normviz.io.flow_file import load
from normviz.model.analyze import analyze

WEIGHT = ["weight"]


def measure(name, measures=WEIGHT):
    specimen = zoo.build(name)
    return analyze(specimen.model, inputs=specimen.inputs, measures=measures)


class TestStreams:
    def test_towers_of_one_length_are_two_streams(self):
        flow = measure("clip-equal-lengths")
        assert set(flow.streams) == {"vision", "text"}
        vision, text = flow.stream("vision"), flow.stream("text")
        assert len(vision.keys) == len(text.keys)
        assert vision.keys.pieces != text.keys.pieces
        assert (vision.kind, text.kind) == ("encoder", "decoder")
        assert flow.receipt.ok, flow.receipt

    def test_towers_of_different_lengths_are_two_streams(self):
        from transformers import CLIPConfig, CLIPModel

        text, image = architectures.TEXT, architectures.IMAGE
        config = CLIPConfig(text_config=text, vision_config=image, projection_dim=32)
        inputs = {**architectures.text_inputs(), **architectures.image_inputs()}
        flow = analyze(CLIPModel(config).eval(), inputs=inputs, measures=WEIGHT)
        lengths = {name: len(stream.keys) for name, stream in flow.streams.items()}
        assert lengths == {"vision": 17, "text": 9}

    def test_a_tower_alone_has_the_numbers_it_has_beside_another(self):
        specimen = zoo.build("clip-equal-lengths")
        together = analyze(specimen.model, inputs=specimen.inputs).stream("vision")
        alone = analyze(
            specimen.model.vision_model, inputs={"pixel_values": specimen.inputs["pixel_values"]}
        )
        for measure in ("weight", "weighted-norm", "attention"):
            np.testing.assert_array_equal(together[measure], alone[measure])

    def test_one_of_each_kind_is_named_by_its_kind(self):
        assert set(measure("t5").streams) == {"encoder", "decoder", "cross"}

    def test_a_pooling_head_is_a_stream_of_its_own(self):
        flow = measure("siglip_vision_model", ["weight", "weighted-norm"])
        assert set(flow.streams) == {"encoder", "head.cross"}
        assert flow.stream("head.cross")["weight"].shape[2] == 1
        assert flow.receipt.ok, flow.receipt

    def test_cross_attention_of_a_text_tower_to_an_image_is_cross(self):
        flow = measure("mllama")
        assert flow.stream("text.cross").kind == "cross"
        own, cross = flow.stream("text").layers, flow.stream("text.cross").layers
        assert not set(own) & set(cross)
        assert set(flow.stream("text").other_layers) >= set(cross)

    def test_windows_are_kept_apart_and_said(self):
        flow = measure("swin")
        assert all(stream.interruption for stream in flow.streams.values() if len(stream.layers))
        (note,) = (note for note in flow.receipt.notes if "attended to apart" in note)
        assert "shown as encoder.1 to" in note
        assert flow.receipt.ok, flow.receipt

    def test_streams_of_towers_are_saved_with_their_kind_and_their_other_layers(self, tmp_path):
        flow = measure("mllama")
        again = load(flow.save(tmp_path / "towers.normviz"))
        for name, stream in flow.streams.items():
            held = again.stream(name)
            assert held.kind == stream.kind
            assert dict(held.other_layers) == dict(stream.other_layers)
            assert held.interruption == stream.interruption


HYBRIDS = {
    "jamba": "JambaMambaMixer",
    "bamba": "BambaMixer",
    "nemotron_h": "NemotronHMamba2Mixer",
    "recurrent_gemma": "RecurrentGemmaRecurrentBlock",
    "zamba2": "Zamba2MambaMixer",
    "granitemoehybrid": "GraniteMoeHybridMambaLayer",
    "qwen3_next": "Qwen3NextGatedDeltaNet",
    "olmo_hybrid": "OlmoHybridGatedDeltaNet",
    "minimax": "MiniMaxLightningAttention",
}


class TestLayers:
    @pytest.mark.parametrize("name", HYBRIDS)
    def test_layers_carry_the_models_own_numbers(self, name):
        specimen = zoo.build(name)
        flow = analyze(specimen.model, inputs=specimen.inputs)
        attending = {
            int(path.split(".layers.")[-1].removeprefix("layers.").split(".")[0])
            for path, module in specimen.model.named_modules()
            if re.search(r"(?<!Linear)Attention(DecoderLayer)?$", type(module).__name__)
            and type(module).__name__ != HYBRIDS[name]
        }
        stream = flow.stream()
        assert set(stream.layers) == attending
        count = len(next(m for m in specimen.model.modules() if isinstance(m, nn.ModuleList)))
        assert list(flow.layers) == list(range(count))
        others = {n: content for n, content in flow.layers.items() if content != "attention"}
        assert others == dict(stream.other_layers)
        assert HYBRIDS[name] in others.values()
        assert len(others) == count - len(attending) > 0

    def test_a_layer_is_chosen_by_the_models_own_number(self):
        specimen = zoo.build("jamba")
        (number,) = analyze(specimen.model, inputs=specimen.inputs).stream().layers
        flow = analyze(specimen.model, inputs=specimen.inputs, layers=[number])
        assert flow.stream().layers == (number,)

    def test_what_chains_layers_is_refused_across_a_layer_without_attention(self):
        specimen = zoo.build("jamba")
        with pytest.raises(BadInput, match=r"no attention of this stream in layer 0"):
            analyze(specimen.model, inputs=specimen.inputs, measures=["rollout:weight"])
        flow = analyze(specimen.model, inputs=specimen.inputs, measures="all")
        assert not any(name.startswith("rollout") for name in flow.measures)

    def test_tied_layers_are_counted(self, tiny):
        assert analyze(tiny("albert"), inputs=architectures.text_inputs()).stream().layers == (0, 1)


class TestLabels:
    """Labels follow the order of the embeddings, or are plain numbers."""

    def test_detection_tokens_come_after_the_patches(self):
        pieces = measure("yolos").tokens.pieces
        assert pieces[:2] == ("[CLS]", "0,0")
        assert pieces[-1].startswith("[extra")

    def test_a_text_comes_before_the_patches(self):
        tokens = measure("layoutlmv3").tokens
        count = zoo.build("layoutlmv3").inputs["input_ids"].shape[1]
        assert tokens.pieces[:count] == tuple(
            f"#{n}" for n in zoo.build("layoutlmv3").inputs["input_ids"][0].tolist()
        )
        assert tokens.pieces[count + 1] == "0,0"

    @pytest.mark.parametrize("name", ["videomae", "siglip2_vision_model"])
    def test_patches_in_an_order_that_is_not_known_are_numbers(self, name):
        tokens = next(iter(measure(name).streams.values())).keys
        assert tokens.pieces == tuple(str(n) for n in range(len(tokens)))

    def test_patches_that_a_model_reorders_are_numbers(self):
        tokens = measure("vilt").tokens
        assert not any("," in piece for piece in tokens.pieces)

    def test_padded_patches_are_dropped(self):
        specimen = zoo.build("siglip2_vision_model")
        mask = torch.ones_like(specimen.inputs["pixel_attention_mask"])
        mask[:, -3:] = 0
        inputs = specimen.inputs | {"pixel_attention_mask": mask}
        flow = analyze(specimen.model, inputs=inputs, measures=WEIGHT)
        assert len(flow.stream("encoder").keys) == mask.shape[1] - 3
        assert flow.receipt.ok, flow.receipt

    def test_registers_are_set_apart(self):
        pieces = measure("dinov2_with_registers").tokens.pieces
        assert pieces[0] == "[CLS]"
        assert pieces[1].startswith("[extra")
        assert pieces[-1].count(",") == 1
