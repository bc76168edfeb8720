"""Finding the rungs of the ladder on a layer's tape.

A layer adds the outputs of its branches to its input: attention, then feed-forward, each in a
residual sum, with norms before, after or between. Walking back from the output along the sums,
branches differ by what they read: one that reaches an attention without crossing a residual sum is
the attention branch; any other is feed-forward.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from normviz.errors import UnsupportedModel
from normviz.model.capture import LayerTrace
from normviz.model.decompose.rules.linear import sum_record
from normviz.model.decompose.tape import (
    RECORD_NUMBERS,
    AttentionRecord,
    LinearRecord,
    Record,
    SourceRecord,
    SourceSequence,
    register_use,
    require_parts,
)
from normviz.model.types import at_least_single


@dataclass(frozen=True)
class Block:
    """One branch, what it is added to, and the sum."""

    before: Record
    branch: Record
    after: Record
    reads: SourceSequence | None
    """Which sequence its attention reads; None for a branch without attention."""


def find_rungs(trace: LayerTrace) -> dict[SourceSequence, dict[str, Record]]:
    """Return the rungs of a layer for each sequence that its attentions read, as tape records."""
    top = _behind_norms(require_parts(trace.output))
    blocks = _with_attention(list(_blocks(top, trace.input)), trace.input)
    ladders: dict[SourceSequence, dict[str, Record]] = {}
    for number, block in enumerate(blocks):
        if block.reads is None or block.reads in ladders:
            continue
        later = blocks[number + 1 :]
        forward = [block for block in later if block.reads is None]
        ladder = {
            "attention": _behind_norms(block.branch),
            "attention-residual": behind_copies(block.after),
            "attention-block": behind_copies(later[0].before if later else trace.output),
        }
        if forward:
            ladder["feed-forward"] = _behind_norms(forward[-1].branch)
        ladder["feed-forward-residual"] = top
        ladder["layer-output"] = behind_copies(trace.output)
        ladder["globenc"] = _without_last_branch(
            trace.output, top, (forward or later or [block])[-1].before
        )
        ladders[block.reads] = ladder
    if not ladders:
        raise UnsupportedModel(
            f"No residual sum around the attention of layer {trace.name} was found.",
            "The ladder needs a sum of what enters a layer and what leaves its attention.",
            "Ask for the attention measures only: weight, value-norm, weighted-norm, attention.",
        )
    return ladders


def _without_last_branch(output: Record, top: Record, before: Record) -> Record:
    """Return the layer's output without its last branch, through the norms that follow it.

    The norms keep the statistics of the whole (Modarressi et al. 2022).
    """
    if behind_copies(output) is top:
        return behind_copies(before)
    assert isinstance(output, LinearRecord)  # noqa: S101 - norms stand between the two
    below = output.operands[0]
    inner = before if below is top else _without_last_branch(below, top, before)
    total = output.apply(at_least_single(inner.total)[None])[0]
    if output.constant is not None:
        total = total + output.constant
    return register_use(
        replace(output, operands=(inner,), total=total, number=next(RECORD_NUMBERS), uses=0)
    )


def _with_attention(blocks: list[Block], entered: Record) -> list[Block]:
    """Return the blocks, with those inside a branch where a bottleneck is wrapped around them."""
    if not blocks or any(block.reads is not None for block in blocks):
        return blocks
    inner = blocks[0].branch
    while isinstance(inner, LinearRecord) and inner.kind != "sum" and len(inner.operands) == 1:
        inner = inner.operands[0]
    return [*_with_attention(list(_blocks(inner, entered)), entered), *blocks]


def behind_copies(record: Record) -> Record:
    """Return the record behind casts, copies and dropouts."""
    while isinstance(record, LinearRecord) and record.kind == "identity":
        record = record.operands[0]
    return record


def _behind_norms(record: Record) -> Record:
    """Return the record behind norms and scales."""
    while isinstance(record, LinearRecord) and record.kind in ("identity", "diagonal"):
        record = record.operands[0]
    return record


def _is_sum(record: Record) -> bool:
    return isinstance(record, LinearRecord) and record.kind == "sum"


def _terms(record: Record) -> list[Record]:
    """Return the terms of a sum, of its sums too."""
    record = behind_copies(record)
    if isinstance(record, LinearRecord) and record.kind == "sum":
        return [term for part in record.operands for term in _terms(part)]
    return list(record.terms or (record,)) if isinstance(record, SourceRecord) else [record]


def _blocks(record: Record, entered: Record) -> Iterator[Block]:
    """Yield the residual sums between the layer's input and a record, first to last."""
    record = behind_copies(record)
    if isinstance(record, SourceRecord) and record.terms and entered in record.terms:
        rest = [term for term in record.terms if term is not entered]
        yield from _one_by_one(entered, rest, entered)
        return
    if not isinstance(record, LinearRecord) or record.kind != "sum":
        return
    main, branch = _residual_first(record, entered)
    yield from _blocks(_behind_norms(main), entered)
    yield from _split(main, branch, record, entered)


def _residual_first(record: LinearRecord, entered: Record) -> tuple[Record, Record]:
    """Return the residual connection and the branch of a sum."""
    first, second = record.operands
    for is_residual in (lambda part: entered in _terms(part), _is_normed_sum, _is_own):
        if is_residual(first):
            return first, second
        if is_residual(second):
            return second, first
    return first, second


def _is_normed_sum(record: Record) -> bool:
    return not _is_sum(behind_copies(record)) and _is_sum(_behind_norms(record))


def _is_own(record: Record) -> bool:
    return isinstance(behind_copies(record), SourceRecord)


def _split(main: Record, branch: Record, whole: LinearRecord, entered: Record) -> Iterator[Block]:
    """Yield a branch as a block; parallel attention and feed-forward as two."""
    kinds = {_reads(term, main, entered) for term in _terms(branch)}
    if len(kinds) == 1:
        yield Block(main, branch, whole, kinds.pop())
    else:
        yield from _one_by_one(main, _terms(branch), entered)


def _one_by_one(main: Record, terms: Sequence[Record], entered: Record) -> Iterator[Block]:
    """Yield terms added one by one: attention first, as if feed-forward came after it."""
    kinds = {term: _reads(term, main, entered) for term in terms}
    for term in sorted(terms, key=lambda term: (kinds[term] is None, term.number)):
        after = register_use(sum_record(main.total + term.total, main, term, 1.0))
        yield Block(main, term, after, kinds[term])
        main = after


def _reads(branch: Record, main: Record, entered: Record) -> SourceSequence | None:
    """Return which sequence an attention in a branch reads, short of any residual sum."""
    waiting, seen = [branch], {main}
    while waiting:
        record = waiting.pop()
        if record in seen:
            continue
        seen.add(record)
        if isinstance(record, AttentionRecord):
            return record.value.sequence
        if isinstance(record, SourceRecord) or (
            record is not branch and _is_residual(record, entered)
        ):
            continue
        waiting += record.inputs
    return None


def _is_residual(record: Record, entered: Record) -> bool:
    """Return whether a record is a sum with the layer's input, or with a norm of it."""
    terms = _terms(record) if _is_sum(record) else ()
    return entered in terms or any(_is_normed_sum(t) or isinstance(t, SourceRecord) for t in terms)
