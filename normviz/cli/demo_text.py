"""The sentence pair of `normviz demo`."""

DEMO_TEXT = "The animal didn't cross the street because it was too tired."
DEMO_PAIR = "It lay down in the shade, and slept."
