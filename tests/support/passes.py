"""Forward passes of tiny models: in double precision, captured, as plain arrays."""

import architectures

from normviz.model.capture import capture
from normviz.model.inputs import from_inputs


def double(name):
    """Return a tiny model in double precision, and its inputs as `forward` takes them."""
    architecture = architectures.ALL[name]
    model = architecture.build().double()
    inputs = {
        k: v.double() if v.is_floating_point() else v for k, v in architecture.inputs().items()
    }
    return model, from_inputs(model, None, inputs).for_forward()


def bert_layer(model, number, before):
    """Return a layer's input, norms and feed-forward weights as plain arrays."""
    layer = model.encoder.layer[number]
    norms = [layer.attention.output.LayerNorm, layer.output.LayerNorm]
    plain = [(n.weight.detach().numpy(), n.bias.detach().numpy(), n.eps) for n in norms]
    forward = [
        layer.intermediate.dense.weight.T, layer.intermediate.dense.bias,
        layer.output.dense.weight.T, layer.output.dense.bias,
    ]  # fmt: skip
    return before, plain, [tensor.detach().numpy() for tensor in forward]


def bert_projections(model, number, captured):
    """Return W_V, b_V and W_O of a layer, cut into heads, and b_O, as plain arrays."""
    layer = model.encoder.layer[number].attention.self.value
    heads, dim, _ = captured.projection.weight.shape
    tensors = (
        layer.weight.T.reshape(-1, heads, dim).transpose(0, 1), layer.bias.reshape(heads, dim),
        captured.projection.weight, captured.projection.bias,
    )  # fmt: skip
    return [tensor.detach().numpy() for tensor in tensors]


def capture_all(model, inputs):
    """Return every captured attention of one pass, in order."""
    captured = []
    capture(model, inputs, captured.append)
    return captured
