"""ladder: say what it is for."""
