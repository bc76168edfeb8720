"""A flow as a figure for a paper, made without a browser."""

Size = float | int
"""A length or a part; whole numbers are as good as others."""
