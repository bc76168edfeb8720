"""identifiability: say what it is for."""
