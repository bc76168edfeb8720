"""Flows in and out of normviz: files, arrays, dataframes and labeled arrays.

`flow_file` saves and opens a `Flow`, `from_arrays` makes one of numbers that were computed
elsewhere, `tables` returns its numbers as pandas or xarray objects. Nothing here needs torch.
"""
