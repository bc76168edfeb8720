"""model: say what it is for."""
