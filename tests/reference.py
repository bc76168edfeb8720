"""The papers' formulas written as slow loops, sharing nothing with normviz."""

import numpy as np


def measures(weight, value, out):
    """The four attention measures of one layer, in float64.

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
