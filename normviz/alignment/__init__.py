"""Word alignment: links read off cross-attention, and how well they agree with people's."""
