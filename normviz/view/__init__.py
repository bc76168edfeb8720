"""view: say what it is for."""
