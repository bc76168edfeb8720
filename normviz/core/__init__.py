"""The results and the words they are written in; plain Python and numpy.

`catalog` says what each measure is, `axes` and `words` give the names and types that every other
package shares. A `Flow` holds a `Stream` of measures for each attention of a model, the `Tokens`,
and a `Receipt`; it may also hold `Chart`s and `Gold` alignments. Arrays come in from the model
side, from `io` or from the user; everything else reads flows.
"""
