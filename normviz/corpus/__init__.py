"""Many texts: what a model does on average, as sums that can be merged."""
