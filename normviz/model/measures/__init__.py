"""The measures: captured attentions come in, tensors for each stream and layer go out.

`reducer` measures each attention while the model runs (`attention`, `effective`, `checks`),
`ladder` what becomes of it through the rest of its layer and through all layers, `extra_passes`
what needs the model to run again (`gradients`, `value_zeroing`). All results are keyed by stream
and layer, in `results`.
"""
