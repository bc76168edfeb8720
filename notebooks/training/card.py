"""Format the model card from the training report."""

from typing import Any

CARD = """---
language: [es, en]
license: cc-by-2.0
tags: [translation]
---

# A small Spanish–English translator

Made for the notebooks of normviz: small enough to be stored next to them, and good enough that
its cross-attention is worth studying. It is not meant for real translation.

- **Architecture**: Marian, {encoder_layers} encoder and {decoder_layers} decoder layers, {heads}
  heads, width {width}, feed-forward {inner}; {parameters:,} parameters, stored in float16
  and computed in float32, which is how they are loaded by default.
- **Vocabulary**: {vocabulary} byte-pair pieces shared by both languages. No piece crosses a word
  boundary, and spaces only separate words: `Hola.` and `Hola .` are the same to the model.
- **Data**: {pairs:,} sentence pairs from [Tatoeba](https://tatoeba.org), in the selection of
  manythings.org/anki that is packaged in `nmt` 0.0.6 on PyPI, under
  [CC BY 2.0 FR](https://creativecommons.org/licenses/by/2.0/fr/). The archive names the two authors
  of every pair.
- **Held out**: {judged:,} test pairs and {watched:,} validation pairs. None of their sentences, in
  either language and ignoring case and punctuation, is in the training data; they therefore come
  from sentences that Tatoeba translates only once.
- **Training**: {epochs} epochs with AdamW, seed {seed}, matrix products in {precision};
  {minutes:.0f} minutes ({core_minutes:.0f} of CPU time) with {threads} threads, torch {torch}.
- **BLEU {bleu:.1f}**, **chrF {chrf:.1f}** on the {judged:,} test pairs (beam size 4, one reference;
  `{bleu_signature}`, `{chrf_signature}`); {nats:.2f} nats per token.

Some translations:

| Spanish | English |
|---|---|
{examples}

It has only seen short everyday sentences; it translates long ones and rare words wrongly.

To train it again: `python notebooks/training/es_en.py --precision {precision}`. The numbers are in
`training.json`. With the same seed, number of threads, torch and kind of processor, the result is
identical; otherwise sums are rounded in a different order, and the result is similar.
"""


def format_card(report: dict[str, Any]) -> str:
    """Return the model card for a training report."""
    rows = [f"| {spanish} | {english} |" for spanish, english in report["examples"].items()]
    pairs = report["pairs"]
    counts = {"pairs": pairs["learned"], "judged": pairs["judged"], "watched": pairs["watched"]}
    return CARD.format(**{**report, **report["recipe"], **counts, "examples": "\n".join(rows)})
