"""derived: say what it is for."""
