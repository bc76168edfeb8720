"""word_alignment: say what it is for."""
