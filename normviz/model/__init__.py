"""Running models: a model and a text come in, a `Flow` goes out.

`analyze` is the entry. `loading` finds the model, `inputs` and `targets` prepare what it reads,
`run` runs it while `capture` records every attention, `measures` (with `decompose` for what comes
after attention) turns each into numbers, and `collect` joins them into one flow for each text.
Only this package and those above it need torch.
"""
