"""Finding the rungs of the ladder on a layer's tape.

A layer adds what its branches give to what it was given: attention, then feed-forward, each in a
residual sum, with norms before, after or between. Walking back from the output along the sums, the
branches are told apart by what they read: a branch with an attention in it, reached without
crossing a residual sum, is attention; any other is feed-forward.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from normviz.errors import UnsupportedModel
from normviz.model.capture import LayerTrace
from normviz.model.decompose.rules.linear import sum_of_parts
from normviz.model.decompose.tape import (
    NUMBERS,
    AttentionRecord,
    LinearRecord,
    Record,
    SourceRecord,
    SourceSequence,
    register_use,
)
from normviz.model.types import at_least_single


@dataclass(frozen=True)
class Block:
    """One branch, what it was added to, and the sum."""

    before: Record
    branch: Record
    after: Record
    reads: SourceSequence | None
    """Whose tokens its attention reads; None for a branch without attention."""


def rungs(taped: LayerTrace) -> dict[SourceSequence, dict[str, Record]]:
    """The rungs of a layer for each side that its attentions read, as records on its tape."""
    top = _below_norms(taped.output)
    blocks = _with_attention(list(_blocks(top, taped.entered)), taped.entered)
    found: dict[SourceSequence, dict[str, Record]] = {}
    for number, block in enumerate(blocks):
        if block.reads is None or block.reads in found:
            continue
        later = blocks[number + 1 :]
        forward = [one for one in later if one.reads is None]
        ladder = {
            "attention": _below_norms(block.branch),
            "attention-residual": _carried(block.after),
            "attention-block": _carried(later[0].before if later else taped.output),
        }
        if forward:
            ladder["feed-forward"] = _below_norms(forward[-1].branch)
        ladder["feed-forward-residual"] = top
        ladder["layer-output"] = _carried(taped.output)
        ladder["globenc"] = _past(taped.output, top, (forward or later or [block])[-1].before)
        found[block.reads] = ladder
    if not found:
        raise UnsupportedModel(
            f"Layer {taped.name} adds nothing from an attention to what it was given.",
            "The ladder needs a residual sum around the attention.",
            "Ask for the attention measures only: weight, value-norm, weighted-norm, attention.",
        )
    return found


def _past(output: Record, top: Record, before: Record) -> Record:
    """What a layer would give without its last branch, through the norms that follow it.

    The norms keep the statistics of the whole (Modarressi et al. 2022).
    """
    if _carried(output) is top:
        return _carried(before)
    assert isinstance(output, LinearRecord)  # noqa: S101 - norms stand between the two
    below = output.of[0]
    inner = before if below is top else _past(below, top, before)
    total = output.apply(at_least_single(inner.total)[None])[0]
    if output.constant is not None:
        total = total + output.constant
    return register_use(replace(output, of=(inner,), total=total, number=next(NUMBERS), uses=0))


def _with_attention(blocks: list[Block], entered: Record) -> list[Block]:
    """The blocks, with those inside a branch where a bottleneck is wrapped around all of them."""
    if not blocks or any(block.reads is not None for block in blocks):
        return blocks
    inner = blocks[0].branch
    while isinstance(inner, LinearRecord) and inner.kind != "sum" and len(inner.of) == 1:
        inner = inner.of[0]
    return [*_with_attention(list(_blocks(inner, entered)), entered), *blocks]


def _carried(record: Record) -> Record:
    """The record behind casts, copies and dropouts."""
    while isinstance(record, LinearRecord) and record.kind == "carry":
        record = record.of[0]
    return record


def _below_norms(record: Record) -> Record:
    """The record behind norms and scales."""
    while isinstance(record, LinearRecord) and record.kind in ("carry", "diagonal"):
        record = record.of[0]
    return record


def _is_sum(record: Record) -> bool:
    return isinstance(record, LinearRecord) and record.kind == "sum"


def _terms(record: Record) -> list[Record]:
    """Everything a sum was added up from."""
    record = _carried(record)
    if isinstance(record, LinearRecord) and record.kind == "sum":
        return [term for one in record.of for term in _terms(one)]
    return list(record.terms or (record,)) if isinstance(record, SourceRecord) else [record]


def _blocks(record: Record, entered: Record) -> Iterator[Block]:
    """The residual sums on the way from what entered to a record, first to last."""
    record = _carried(record)
    if isinstance(record, SourceRecord) and record.terms and entered in record.terms:
        rest = [term for term in record.terms if term is not entered]
        yield from _stacked(entered, rest, entered)
        return
    if not isinstance(record, LinearRecord) or record.kind != "sum":
        return
    main, branch = _main_first(record, entered)
    yield from _blocks(_below_norms(main), entered)
    yield from _split(main, branch, record, entered)


def _main_first(record: LinearRecord, entered: Record) -> tuple[Record, Record]:
    """The two sides of a sum: the way on, and the branch."""
    first, second = record.of
    for leads in (lambda one: entered in _terms(one), _is_normed_sum, _is_own):
        if leads(first):
            return first, second
        if leads(second):
            return second, first
    return first, second


def _is_normed_sum(record: Record) -> bool:
    return not _is_sum(_carried(record)) and _is_sum(_below_norms(record))


def _is_own(record: Record) -> bool:
    return isinstance(_carried(record), SourceRecord)


def _split(main: Record, branch: Record, whole: LinearRecord, entered: Record) -> Iterator[Block]:
    """A branch as a block; one that is attention and feed-forward side by side, as two."""
    kinds = {_reads(term, main, entered) for term in _terms(branch)}
    if len(kinds) == 1:
        yield Block(main, branch, whole, kinds.pop())
    else:
        yield from _stacked(main, _terms(branch), entered)


def _stacked(main: Record, terms: Sequence[Record], entered: Record) -> Iterator[Block]:
    """Terms added one by one: attention first, as if feed-forward came after it."""
    kinds = {term: _reads(term, main, entered) for term in terms}
    for term in sorted(terms, key=lambda one: (kinds[one] is None, one.number)):
        after = register_use(sum_of_parts(main.total + term.total, main, term, 1.0))
        yield Block(main, term, after, kinds[term])
        main = after


def _reads(branch: Record, main: Record, entered: Record) -> SourceSequence | None:
    """Whose tokens an attention in a branch reads, before any residual sum is crossed."""
    waiting, seen = [branch], {main}
    while waiting:
        record = waiting.pop()
        if record in seen:
            continue
        seen.add(record)
        if isinstance(record, AttentionRecord):
            return record.value.side
        if isinstance(record, SourceRecord) or (
            record is not branch and _residual(record, entered)
        ):
            continue
        waiting += record.inputs
    return None


def _residual(record: Record, entered: Record) -> bool:
    """Whether a record is a sum that carries on what a layer was given, or a norm of it."""
    terms = _terms(record) if _is_sum(record) else ()
    return entered in terms or any(_is_normed_sum(t) or isinstance(t, SourceRecord) for t in terms)
