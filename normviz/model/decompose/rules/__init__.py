"""rules: say what it is for."""
