"""The ladder: how much of each token is in the vectors at every rung of a layer.

A layer's tape comes in; lengths, projections, mixing ratios and how exactly the parts add up go
out. `rungs` finds the rungs on the tape, `sums` accumulates what a run of sources gives to each,
`measure` turns the sums into numbers; `decomposition` does the same through all layers.
"""
