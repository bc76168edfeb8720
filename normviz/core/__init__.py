"""core: say what it is for."""
