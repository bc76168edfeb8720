"""io: say what it is for."""
