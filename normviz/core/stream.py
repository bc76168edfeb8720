"""The measured attention of one part of a model: its tokens, layers, heads and numbers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, overload

import numpy as np
from jaxtyping import Float64

from normviz.core.axes import STREAM_KINDS, Array, StreamKind, StreamName
from normviz.core.catalog import (
    MEASURES,
    ROLLOUT_OF,
    axes_of,
    base_of,
    require_held,
    require_index,
    require_known,
    split_statistic,
    statistic_id,
)
from normviz.core.counts import pluralize
from normviz.core.tokens import FIRST_TOKEN, Tokens
from normviz.errors import BadArrays, UnknownName

if TYPE_CHECKING:
    from normviz.core.catalog import MeasureId


class Layers(Sequence[Array]):
    """The numbers of one measure, layer by layer; stacked into one array on demand."""

    def __init__(self, layers: Iterable[Array]) -> None:
        self._layers = tuple(layers)
        self._stacked: Array | None = None

    def __len__(self) -> int:
        """Return the number of layers."""
        return len(self._layers)

    @overload
    def __getitem__(self, index: int) -> Array: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Array, ...]: ...
    def __getitem__(self, index: int | slice) -> Array | tuple[Array, ...]:
        """Return the numbers of one layer, or of several."""
        return self._layers[index]

    def stack(self) -> Array:
        """Return all layers in one array; the single layers become views of it, not copies."""
        if self._stacked is None:
            stacked = np.stack(self._layers)
            stacked.flags.writeable = False
            self._layers = tuple(stacked)
            self._stacked = stacked
        return self._stacked


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """One kind of attention in one tower of a model, with its measures by id.

    Not the residual stream: a stream here is all layers of self-attention in one tower, or of the
    attention from one tower to another. It is named by its kind (`encoder`, `decoder`, `cross`)
    where a model has one of each, else by its tower (`vision`, `text`, `text.cross`).
    `weighted-norm` is not stored where `weight` and `value-norm` are: it is their product.
    """

    name: StreamName
    queries: Tokens
    keys: Tokens
    layers: tuple[int, ...]
    """The layers held, numbered from 0 as in the model."""
    heads: tuple[int, ...]
    """The heads held, numbered from 0 as in the model."""
    stored: Mapping[str, Layers]
    statistics: Mapping[str, Layers] = field(default_factory=dict)
    """Further numbers that belong to the measures, such as `mixing:layer-output`."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """For measures that coincide with another in this model, the id they are held under."""
    kind: StreamKind | None = None
    """Self-attention in both directions (`encoder`) or causal (`decoder`), or `cross`-attention.

    By default what the name says.
    """
    other_layers: Mapping[int, str] = field(default_factory=dict)
    """The layers of the tower without an attention of this stream, and what they have instead."""
    interruption: str = ""
    """Why its layers cannot be chained: what else moves tokens between or beside them."""

    def __post_init__(self) -> None:
        """Check every array against the axes of the catalog, and make it read-only."""
        if re.fullmatch(r"[\w-]+(\.[\w-]+)*", self.name) is None:
            raise BadArrays(
                f"A stream is named {self.name!r}.",
                "Expected words of letters and digits, joined by dots.",
                'Name it "encoder", "decoder", "cross", or after its tower.',
            )
        if self.kind is None:
            kind = self.name.rpartition(".")[2]
            require_known(kind, STREAM_KINDS, "stream")
            object.__setattr__(self, "kind", kind)
        for name in self.stored:
            require_known(name, MEASURES, "measure")
        for name, layers in (*self.stored.items(), *self.statistics.items()):
            axes = axes_of(name)[1:]
            shape = tuple(self.size(axis) for axis in axes)
            for array in layers:
                if array.shape != shape or array.dtype != np.float32:
                    raise BadArrays(
                        f"A layer of {name!r} has shape {array.shape} and dtype {array.dtype}.",
                        f"Expected float32 of shape {shape}: the axes {', '.join(axes)}.",
                        "Pass an array of that shape.",
                    )
                array.flags.writeable = False
            if len(layers) != len(self.layers):
                raise BadArrays(
                    f"{name!r} has {len(layers)} layers.",
                    f"The stream has {len(self.layers)}.",
                    "Pass one array for each layer.",
                )
        for mapping in ("stored", "statistics", "aliases", "other_layers"):
            object.__setattr__(self, mapping, MappingProxyType(dict(getattr(self, mapping))))

    def size(self, axis: str) -> int:
        """Return the length of an axis: `layer`, `head`, `query` or `key`."""
        sizes = {"layer": self.layers, "head": self.heads, "query": self.queries, "key": self.keys}
        return len(sizes[axis])

    @property
    def layer_contents(self) -> dict[int, str]:
        """What each layer of the tower has, by its number: `attention`, or what it has instead."""
        contents = dict.fromkeys(self.layers, "attention") | dict(self.other_layers)
        return dict(sorted(contents.items()))

    @property
    def measures(self) -> tuple[str, ...]:
        """The ids of the measures held, in the order of the catalog."""
        return tuple(name for name in MEASURES if name in self.stored or self._is_product(name))

    def _is_product(self, name: str) -> bool:
        return name == "weighted-norm" and {"weight", "value-norm"} <= self.stored.keys()

    def __getitem__(self, measure: "MeasureId | str") -> Array:
        """Return a measure as a float32 array with the axes that the catalog names."""
        held = self.require_held(measure)
        if held in self.stored:
            return self.stored[held].stack()
        return np.stack([self.at(held, layer) for layer in self.layers])

    def _ipython_key_completions_(self) -> list[str]:
        """Return what a notebook offers after `stream["`."""
        return list(self.measures)

    def at(self, measure: str, layer: int) -> Array:
        """Return a measure or statistic (such as `mixing:layer-output`) in one layer."""
        require_known(layer, self.layers, "layer")
        index = self.layers.index(layer)
        if measure in self.statistics:
            return self.statistics[measure][index]
        measure = self.require_held(measure)
        if measure in self.stored:
            return self.stored[measure][index]
        weight, norm = self.stored["weight"][index], self.stored["value-norm"][index]
        product: Array = weight * norm[:, None, :]
        return product

    def require_held(self, measure: str) -> str:
        """Return the id that a measure is held under; raise `UnknownName` where it is not held."""
        name = self.canonical_id(measure)
        require_held(name, self.measures)
        return name

    def canonical_id(self, measure: str) -> str:
        """Return the id that a measure, rollout or statistic is held under in this model.

        Measures that coincide are held once. An id that is not in the catalog is returned as it is.
        """
        if not isinstance(measure, str):
            return measure
        kind, name = split_statistic(measure)
        if kind:
            return statistic_id(kind, self.aliases.get(name, name))
        base = base_of(name)
        if base != name and base in self.aliases:
            return ROLLOUT_OF[self.aliases[base]]
        return self.aliases.get(name, name)

    def statistic(self, kind: str, measure: str) -> Array:
        """Return further numbers that belong to a measure.

        Of the rungs of the ladder:
        `mixing` [layer query]: the share of each token's vector that comes from other tokens; the
        norm of the sum over the context, over that plus the norm of the token's own part
        (Kobayashi et al. 2021, eq. 18).
        `projection` [layer query key]: the length of each part's projection on the whole vector;
        parts that point against it are negative, and are canceled by others.

        Of attributions that were estimated from random directions (`samples`):
        `error`, with the axes of the measure: the standard error of each number.

        Of `effective-weight`, in the row of α where it is greatest:
        `rank` [layer head]: how many of the value vectors that the row reads are independent.
        `null-space` [layer head]: how many dimensions of the row cannot reach the head's output.
        """
        name = self.canonical_id(statistic_id(kind, measure))
        require_known(name, self.statistics, "statistic")
        return self.statistics[name].stack()

    def require_heads(self, heads: object) -> list[int]:
        """Return one or several heads in the order of the model; raise `UnknownName` for others."""
        several = heads if isinstance(heads, Iterable) and not isinstance(heads, str) else [heads]
        requested = {require_index(head, self.heads, "head") for head in several}
        if not requested:
            raise UnknownName(
                "No head is named.",
                f"The heads are: {', '.join(map(str, self.heads))}.",
                "Name at least one, or pass None for all.",
            )
        return [head for head in self.heads if head in requested]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids of the measures held."""
        return iter(self.measures)

    def __contains__(self, measure: object) -> bool:
        """Whether a measure is held, under this id or another."""
        return isinstance(measure, str) and self.canonical_id(measure) in self.measures

    @property
    def tokens(self) -> Tokens:
        """The queries; in self-attention they are the keys too."""
        return self.queries

    @property
    def key_categories(self) -> tuple[str, ...]:
        """The category of each key; a decoder's first token is one of its own, an attention sink.

        Much weight goes there because every token can read it, whatever it is.
        """
        categories = self.keys.categories
        return (FIRST_TOKEN, *categories[1:]) if self.kind == "decoder" else categories

    def key_shares(self, measure: str) -> Float64[np.ndarray, "layer key"]:
        """Return each key's share of all that the queries of a layer receive [layer key].

        Heads are added up before dividing, so that in `weighted-norm` a head that moves more
        counts more; for `weight` every head and query counts the same. Negative numbers count by
        their absolute value.
        """
        totals = [self._sum_by_key(measure, layer) for layer in self.layers]
        mass = np.stack(totals) if totals else np.zeros((0, len(self.keys)))
        whole = mass.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(mass, whole, out=np.zeros_like(mass), where=whole > 0))

    def _sum_by_key(self, measure: str, layer: int) -> Float64[np.ndarray, " key"]:
        """Return the sizes of one layer summed over heads and queries [key]."""
        measure, index = self.require_held(measure), self.layers.index(layer)
        if measure not in self.stored:  # a product, which need not be multiplied out
            columns = self.stored["weight"][index].sum(axis=-2, dtype=np.float64)
            return np.asarray((columns * self.stored["value-norm"][index]).sum(axis=0))
        values = self.at(measure, layer)
        values = np.abs(values) if MEASURES[measure].signed else values
        return np.asarray(values.reshape(-1, values.shape[-1]).sum(axis=0, dtype=np.float64))

    def shares(self, measure: str) -> dict[str, Array]:
        """Return each key category's share of all that the queries receive: see `key_shares`."""
        by_key, categories = self.key_shares(measure), np.array(self.key_categories)
        return {
            category: by_key[:, categories == category].sum(axis=1).astype(np.float32)
            for category in dict.fromkeys(self.key_categories)
        }

    def select_layers(self, layers: tuple[int, ...]) -> "Stream":
        """Return the stream with only these layers."""
        for layer in layers:
            require_known(layer, self.layers, "layer")
        indices = [self.layers.index(layer) for layer in layers]
        stored, statistics = (
            {name: Layers(arrays[index] for index in indices) for name, arrays in held.items()}
            for held in (self.stored, self.statistics)
        )
        return replace(self, layers=layers, stored=stored, statistics=statistics)

    def words(self) -> "Stream":
        """Return the stream between words: keys are summed, queries and ‖f(x)‖ averaged."""
        query_words = self.queries.membership()
        mean_of_queries = (query_words / query_words.sum(axis=0)).T
        key_words = self.keys.membership()
        merged = {}
        for name in self.measures:
            values = (self.at(name, layer) for layer in self.layers)
            if "query" in MEASURES[name].axes:
                merged[name] = Layers(mean_of_queries @ (layer @ key_words) for layer in values)
            else:
                mean_of_keys = key_words / key_words.sum(axis=0)
                merged[name] = Layers(layer @ mean_of_keys for layer in values)
        return Stream(
            self.name,
            self.queries.merge_words(),
            self.keys.merge_words(),
            self.layers,
            self.heads,
            merged,
            {
                n: held
                for n, held in self.statistics.items()
                if not {"query", "key"} & {*axes_of(n)}
            },
            self.aliases,
            self.kind,
            self.other_layers,
            self.interruption,
        )

    def __repr__(self) -> str:
        """Return the sizes and the measures held."""
        sizes = f"{pluralize(len(self.layers), 'layer')} × {pluralize(len(self.heads), 'head')}"
        tokens = f"{len(self.queries)} queries × {len(self.keys)} keys"
        return f"<{self.name}: {sizes}, {tokens}; {', '.join(self.measures)}>"
