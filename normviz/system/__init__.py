"""system: say what it is for."""
