"""Token identifiability (Brunner et al. 2020, §4): is a hidden state nearest to its own token?

In come a model and texts (`documents`); probes map the hidden states of every layer back to the
inputs (`probes`, `ridge`, `mlp`), and each is compared with the inputs of its text (`nearest`). Out
comes an accuracy for each layer, probe and distance (`result`).
"""
