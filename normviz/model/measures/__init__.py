"""The measures: how much each token gave, in closed form."""
