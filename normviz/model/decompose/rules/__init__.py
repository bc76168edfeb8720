"""The rules of the decomposition, one torch function after the other, and the table they fill.

A rule takes a function's result and its arguments, with records in place of decomposed tensors, and
returns the record of the result: `linear` has sums, products, linear maps and attention, `norms`,
`elementwise` (activations and gates) and `shapes` (views, slices, concatenations) the rest.
"""
