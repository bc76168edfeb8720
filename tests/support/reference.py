"""The papers' formulas as slow loops that share no code with normviz."""

import math

import numpy as np


def measures(weight, value, out):
    """Return the four attention measures of one layer, in float64.

    `weight` is head query key; `value` head key dim; `out` head dim model.
    """
    weight, value, out = (np.asarray(array, dtype=np.float64) for array in (weight, value, out))
    heads, queries, keys = weight.shape
    moved = np.zeros((heads, keys, out.shape[-1]))
    for head in range(heads):
        for key in range(keys):
            for dim in range(value.shape[-1]):
                moved[head, key] += value[head, key, dim] * out[head, dim]
    value_norm = np.zeros((heads, keys))
    weighted_norm = np.zeros((heads, queries, keys))
    attention = np.zeros((queries, keys))
    for key in range(keys):
        for head in range(heads):
            value_norm[head, key] = np.sqrt((moved[head, key] ** 2).sum())
        for query in range(queries):
            whole = np.zeros(out.shape[-1])
            for head in range(heads):
                part = weight[head, query, key] * moved[head, key]
                weighted_norm[head, query, key] = np.sqrt((part**2).sum())
                whole += part
            attention[query, key] = np.sqrt((whole**2).sum())
    return {
        "weight": weight,
        "value-norm": value_norm,
        "weighted-norm": weighted_norm,
        "attention": attention,
    }


def ladder(weight, value, out, bias, before, norms, forward):
    """Return the six rungs of one post-norm layer in float64, a vector at a time.

    `norms` are two of gain, shift and epsilon; `forward` is W_1, b_1, W_2, b_2, rows going in.
    Biases are a source of their own, so the activation's factor is gelu(s) / s.
    """
    heads, queries, keys = weight.shape
    names = ("attention", "attention-residual", "attention-block")
    names += ("feed-forward", "feed-forward-residual", "layer-output")
    lengths = {name: np.zeros((queries, keys)) for name in names}
    ratios = {name: np.zeros(queries) for name in names}
    first, second = norms
    into, into_bias, back, _ = forward
    for query in range(queries):
        parts = np.zeros((keys, out.shape[-1]))
        for key in range(keys):
            for head in range(heads):
                parts[key] += weight[head, query, key] * (value[head, key] @ out[head])
        rungs = {"attention": parts}
        residual = parts.copy()
        residual[query] += before[query]
        rungs["attention-residual"] = residual
        own = residual.sum(axis=0) + bias
        block = _normalize(residual, own, first)
        rungs["attention-block"] = block
        from_none = _normalize(bias[None], own, first)[0] + first[1]
        inner = block @ into
        whole = inner.sum(axis=0) + from_none @ into + into_bias
        rungs["feed-forward"] = (inner * (_gelu(whole) / whole)) @ back
        rungs["feed-forward-residual"] = rungs["feed-forward"] + block
        after = _gelu(whole) @ back + forward[3] + block.sum(axis=0) + from_none
        rungs["layer-output"] = _normalize(rungs["feed-forward-residual"], after, second)
        for name, vectors in rungs.items():
            lengths[name][query] = np.sqrt((vectors**2).sum(axis=-1))
            rest = np.linalg.norm(vectors.sum(axis=0) - vectors[query])
            ratios[name][query] = rest / (rest + np.linalg.norm(vectors[query]))
    return lengths, ratios


def _normalize(vectors, whole, norm):
    """Return each vector centered by its own mean, divided by the deviation of the whole."""
    gain, _, eps = norm
    deviation = np.sqrt(((whole - whole.mean()) ** 2).mean() + eps)
    return (vectors - vectors.mean(axis=-1, keepdims=True)) / deviation * gain


def _gelu(numbers):
    return np.array([n * 0.5 * (1 + math.erf(n / math.sqrt(2))) for n in numbers])


def gated(gate, up, gate_parts, up_parts, activation, steps=20_000):
    """Return integrated gradients of activation(gate) · up from zero, by many small steps."""
    shares = np.zeros_like(gate_parts)
    small = 1e-6
    for step in range(steps):
        at = (step + 0.5) / steps
        slope = (activation(at * gate + small) - activation(at * gate - small)) / (2 * small)
        shares += slope * at * up * gate_parts + activation(at * gate) * up_parts
    return shares / steps


def decompose_layer(parts, free, weight, projections, norms, forward, *, read):
    """Return parts `source token model` and the bias part after one post-norm layer.

    `projections` are W_V, b_V and W_O cut into heads, and b_O; `free` is the bias part. b_V belongs
    to the token at the position that is read if `read`, and otherwise to none.
    """
    into_value, value_bias, out, out_bias = projections
    everything = np.concatenate([parts, free[None]])
    moved = np.zeros_like(everything)
    for head in range(len(weight)):
        value = everything @ into_value[head]
        for position in range(len(free)):
            value[position if read else -1, position] += value_bias[head]
        moved += (weight[head] @ value) @ out[head]
    moved[-1] += out_bias
    residual = moved + everything
    whole = residual.sum(axis=0)
    block = np.stack([_normalize_rows(one, whole, norms[0]) for one in residual])
    block[-1] += norms[0][1]
    inner = block @ forward[0]
    inner[-1] += forward[1]
    total = inner.sum(axis=0)
    factor = np.stack([_gelu(row) for row in total]) / total
    after = (inner * factor) @ forward[2] + block
    after[-1] += forward[3]
    whole = after.sum(axis=0)
    found = np.stack([_normalize_rows(one, whole, norms[1]) for one in after])
    found[-1] += norms[1][1]
    return found[:-1], found[-1]


def decompx_layer(parts, weight, projections, norms, forward, *, first):
    """Return the parts `source token model` at every rung of one post-norm layer, as DecompX does.

    Every bias is shared out among the sources, in proportion to the size of their products with it
    ("absdot"). Of the attention that is b_O and, after the first layer, what all heads make of b_V,
    after the residual is added; in the `first` layer, b_V is in the value of the token itself. The
    activation's factor is gelu(s) / s.
    """
    into_value, value_bias, out, out_bias = projections
    heads, queries, keys = weight.shape
    names = ("attention", "attention-residual", "attention-block")
    names += ("feed-forward", "feed-forward-residual", "layer-output")
    rungs = {name: np.zeros_like(parts) for name in names}
    accumulated = out_bias.copy()
    if not first:
        for head in range(heads):
            accumulated += value_bias[head] @ out[head]
    for query in range(queries):
        moved = np.zeros((len(parts), parts.shape[-1]))
        for source in range(len(parts)):
            for head in range(heads):
                for key in range(keys):
                    value = parts[source, key] @ into_value[head]
                    if first and source == key:
                        value = value + value_bias[head]
                    moved[source] += weight[head, query, key] * (value @ out[head])
        residual = _share_out(moved + parts[:, query], accumulated)
        block = _normalize(residual, residual.sum(axis=0), norms[0])
        block = _share_out(block, norms[0][1])
        inner = _share_out(block @ forward[0], forward[1])
        total = inner.sum(axis=0)
        through = _share_out((inner * (_gelu(total) / total)) @ forward[2], forward[3])
        after = through + block
        output = _share_out(_normalize(after, after.sum(axis=0), norms[1]), norms[1][1])
        for name, found in zip(
            names, (moved, residual, block, through, after, output), strict=True
        ):
            rungs[name][:, query] = found
    return rungs


def _share_out(parts, bias):
    """Return each part with its share of a bias, by |⟨part, bias⟩|."""
    sizes = [abs(sum(part * bias)) for part in parts]
    return np.stack(
        [part + size / sum(sizes) * bias for part, size in zip(parts, sizes, strict=True)]
    )


def parallel_feed_forward(before, norm, forward):
    """Return each token's own part through a feed-forward block that reads the layer's input.

    `norm` is gain, shift and epsilon; `forward` is W_1, b_1, W_2, b_2, rows going in. As in a block
    that follows the attention, neither the norm's shift nor b_1 or b_2 belongs to a token.
    """
    parts = np.zeros_like(before)
    for token, vector in enumerate(before):
        own = _normalize(vector[None], vector, norm)[0]
        inner = own @ forward[0]
        total = (own + norm[1]) @ forward[0] + forward[1]
        parts[token] = (inner * (_gelu(total) / total)) @ forward[2]
    return parts


def _normalize_rows(vectors, whole, norm):
    return np.stack([_normalize(v, w, norm) for v, w in zip(vectors, whole, strict=True)])


def rollout(maps):
    """Return R_0 = A_0, R_l = A_l R_(l-1), a number at a time."""
    carried = [np.array(maps[0], dtype=np.float64)]
    tokens = range(len(maps[0]))
    for above in maps[1:]:
        step = np.zeros_like(carried[-1])
        for query in tokens:
            for key in tokens:
                for between in tokens:
                    step[query, key] += above[query][between] * carried[-1][between][key]
        carried.append(step)
    return np.stack(carried)


def edmonds_karp(maps, query, key):
    """Return the maximum flow from a query above the last layer to a key below the first.

    A table of what is left between any two nodes, and breadth-first search for each way.
    """
    tokens, top = len(maps[0]), len(maps)
    left = {}
    for layer, step in enumerate(maps):
        for upper in range(tokens):
            for lower in range(tokens):
                left[(layer + 1, upper), (layer, lower)] = float(step[upper][lower])
                left[(layer, lower), (layer + 1, upper)] = 0.0
    total = 0.0
    while way := _shortest_way(left, (top, query), (0, key)):
        most = min(left[pipe] for pipe in way)
        for here, there in way:
            left[here, there] -= most
            left[there, here] += most
        total += most
    return total


def _shortest_way(left, source, sink):
    """Return the edges of a shortest open path, found breadth first; none where there is none."""
    before, waiting = {source: None}, [source]
    while waiting:
        here = waiting.pop(0)
        for (start, there), room in left.items():
            if start == here and there not in before and room > 1e-13:
                before[there] = here
                waiting.append(there)
    way = []
    while sink in before and before[sink] is not None:
        way.append((before[sink], sink))
        sink = before[sink]
    return way


def least_cut(maps, query, key):
    """Return the minimum cut, over all ways to divide the nodes between query and key."""
    tokens, top = len(maps[0]), len(maps)
    free = [(level, token) for level in range(top + 1) for token in range(tokens)]
    free = [node for node in free if node not in ((top, query), (0, key))]
    least = math.inf
    for number in range(2 ** len(free)):
        side = {node: bool(number >> place & 1) for place, node in enumerate(free)}
        side |= {(top, query): True, (0, key): False}
        through = 0.0
        for layer, step in enumerate(maps):
            for upper in range(tokens):
                for lower in range(tokens):
                    if side[layer + 1, upper] and not side[layer, lower]:
                        through += float(step[upper][lower])
        least = min(least, through)
    return least


def ranks(values):
    """Return the rank of each number: how many are less, and half of those that are equal."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


def spearman(one, other):
    """Return the correlation of two lists of ranks, by its definition."""
    first, second = ranks(one), ranks(other)
    middle = [sum(numbers) / len(numbers) for numbers in (first, second)]
    pairs = [(a - middle[0], b - middle[1]) for a, b in zip(first, second, strict=True)]
    together = sum(a * b for a, b in pairs)
    return together / math.sqrt(sum(a * a for a, _ in pairs) * sum(b * b for _, b in pairs))


def effective(weight, value, out, visible, *, stochastic=False):
    """Return α⊥ of one text, row by row: α minus its projection on the left null space of V W_O.

    `weight` is head query key; `value` head key dim; `out` head dim model; `visible` query key.
    The whole vectors are decomposed, and the null space itself is what is left over.
    """
    weight, value, out = (np.asarray(array, dtype=np.float64) for array in (weight, value, out))
    found = np.zeros_like(weight)
    for head, query in np.ndindex(weight.shape[:2]):
        keys = np.nonzero(np.asarray(visible)[query])[0]
        moved = value[head, keys] @ out[head]
        if stochastic:
            moved = np.column_stack([moved, np.full(len(keys), np.abs(moved).max())])
        left, sizes, _ = np.linalg.svd(moved, full_matrices=True)
        rank = (sizes > 1e-9 * sizes.max()).sum()
        row = weight[head, query, keys]
        for nothing in left[:, rank:].T:
            row = row - (row @ nothing) * nothing
        found[head, query, keys] = row
    return found
