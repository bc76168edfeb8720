"""Profiles: what a model does on average over many texts.

In come texts of any number (a list, files, a dataset) and a model; out comes a `Profile` with
tables, charts and a report. Texts run in batches, here or in other processes (`run` → `executor` →
`worker`); each is reduced to sums that can be merged in any order (`summarize` → `sums`), so that
memory does not grow with the corpus and a run can continue from a checkpoint.
"""
