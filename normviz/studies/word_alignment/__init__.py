"""Word alignment over a corpus (Kobayashi et al. 2020, Experiment 2).

In come a translation model, sentence pairs and gold links (`study`); links are counted for every
layer, head and measure (`counts`), and out come alignment error rates (`result`).
"""
