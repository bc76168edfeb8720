"""gradients: say what it is for."""
