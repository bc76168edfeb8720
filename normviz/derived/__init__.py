"""What can be computed from a flow after the model has run, with numpy alone.

A `Flow` comes in. Out come either a flow with one more measure (`rollout`, `max_flow`; `complete`
adds those requested of `analyze`) or a small result with a table and a summary (`agreement`,
`context`, `faithfulness`, `patterns`, `mixing`, `summary`). `shares` and `ranks` are their
arithmetic.
"""
