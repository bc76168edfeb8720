"""Generates pages of the documentation from the README, the notebooks, the catalog and models."""
