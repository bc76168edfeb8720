"""Forward passes of tiny models: in double precision, listened to, as plain arrays."""

import architectures

from normviz.model.capture import capture
from normviz.model.inputs import from_inputs


def double(name):
    """A tiny model and its inputs in double precision, as they go into a forward pass."""
    architecture = architectures.ALL[name]
    model = architecture.build().double()
    inputs = {
        k: v.double() if v.is_floating_point() else v for k, v in architecture.inputs().items()
    }
    return model, from_inputs(model, None, inputs).for_forward()


def bert_layer(model, number, before):
    """What the loops need of a layer, as plain arrays."""
    layer = model.encoder.layer[number]
    norms = [layer.attention.output.LayerNorm, layer.output.LayerNorm]
    plain = [(n.weight.detach().numpy(), n.bias.detach().numpy(), n.eps) for n in norms]
    forward = [
        layer.intermediate.dense.weight.T, layer.intermediate.dense.bias,
        layer.output.dense.weight.T, layer.output.dense.bias,
    ]  # fmt: skip
    return before, plain, [tensor.detach().numpy() for tensor in forward]


def heard_in(model, inputs):
    kept = []
    capture(model, inputs, kept.append)
    return kept
