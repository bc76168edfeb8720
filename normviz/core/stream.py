"""One kind of attention of a model, measured: its tokens, layers, heads and numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, overload

import numpy as np

from normviz.core.axes import Array, StreamName
from normviz.core.catalog import MEASURES, STATISTICS, axes_of, require_index, require_known
from normviz.core.tokens import Tokens
from normviz.errors import BadArrays, UnknownName


class Layers(Sequence[Array]):
    """One measure, a layer at a time; joined into one array when somebody asks for all of it."""

    def __init__(self, layers: Iterable[Array]) -> None:
        self._layers = tuple(layers)
        self._joined: Array | None = None

    def __len__(self) -> int:
        """How many layers there are."""
        return len(self._layers)

    @overload
    def __getitem__(self, index: int) -> Array: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Array, ...]: ...
    def __getitem__(self, index: int | slice) -> Array | tuple[Array, ...]:
        """The numbers of one layer, or of several."""
        return self._layers[index]

    def joined(self) -> Array:
        """All layers in one array; the single layers become views of it: nothing is kept twice."""
        if self._joined is None:
            joined = np.stack(self._layers)
            joined.flags.writeable = False
            self._layers = tuple(joined)
            self._joined = joined
        return self._joined


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """The measures of one stream (`encoder`, `decoder` or `cross`), by id.

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
    """What else is known of the measures, such as `mixing:layer-output`."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Measures that are others under a second name: rungs that coincide in this model."""

    def __post_init__(self) -> None:
        """Check every array against the axes the catalog gives it, and lock it."""
        for name in self.stored:
            require_known(name, MEASURES, "measure")
        for name, layers in (*self.stored.items(), *self.statistics.items()):
            axes = axes_of(name)[1:]
            wanted = tuple(self.size(axis) for axis in axes)
            for array in layers:
                if array.shape != wanted or array.dtype != np.float32:
                    raise BadArrays(
                        f"A layer of {name!r} has shape {array.shape} and dtype {array.dtype}.",
                        f"Its axes {', '.join(axes)} have {wanted} places here, in float32.",
                        "Give an array of that shape.",
                    )
                array.flags.writeable = False
            if len(layers) != len(self.layers):
                raise BadArrays(
                    f"{name!r} has {len(layers)} layers.",
                    f"The stream has {len(self.layers)}.",
                    "Give one array for each layer.",
                )
        for locked in ("stored", "statistics", "aliases"):
            object.__setattr__(self, locked, MappingProxyType(dict(getattr(self, locked))))

    def size(self, axis: str) -> int:
        """How long an axis is here."""
        sizes = {"layer": self.layers, "head": self.heads, "query": self.queries, "key": self.keys}
        return len(sizes[axis])

    @property
    def measures(self) -> tuple[str, ...]:
        """The ids of the measures held, in the order of the catalog."""
        return tuple(name for name in MEASURES if name in self.stored or self._is_product(name))

    def _is_product(self, name: str) -> bool:
        return name == "weighted-norm" and {"weight", "value-norm"} <= self.stored.keys()

    def __getitem__(self, measure: str) -> Array:
        """A measure as a float32 array with the axes the catalog names."""
        measure = self.require_held(measure)
        if measure in self.stored:
            return self.stored[measure].joined()
        return np.stack([self.at(measure, layer) for layer in self.layers])

    def at(self, measure: str, layer: int) -> Array:
        """A measure or statistic (such as `mixing:layer-output`) in one layer of the model."""
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
        """A measure's own name, or the one it is held under; anything else is refused."""
        name = self.canonical_id(measure)
        require_known(name, self.measures, "measure")
        return name

    def canonical_id(self, measure: str) -> str:
        """The name a measure goes by here: rungs that coincide are held once, and rolled out once.

        A name that nobody knows stays what it is.
        """
        kinds = ("", "rollout:", *(f"{kind}:" for kind in STATISTICS))
        second = {
            kind + above: kind + below for kind in kinds for above, below in self.aliases.items()
        }
        return second.get(measure, measure) if isinstance(measure, str) else measure

    def statistic(self, kind: str, measure: str) -> Array:
        """What else is known of a measure.

        Of the rungs of the ladder:
        `mixing` [layer query]: which part of each token's vector comes from other tokens; the
        length of the sum over the context, over that plus the length of the token's own part
        (Kobayashi et al. 2021, eq. 18).
        `along` [layer query key]: how far each part points along the whole vector; parts that
        point against it are negative, and are canceled by others.
        `error`, with the axes of the measure: the standard error of each number of an attribution
        that was estimated from random directions (`samples=`).

        Of `effective-weight`, in the row of α where it is greatest:
        `rank` [layer head]: how many of the value vectors that the row reads are independent.
        `null-space` [layer head]: how many dimensions of the row cannot reach the head's output.
        """
        name = self.canonical_id(f"{kind}:{measure}")
        require_known(name, self.statistics, "reading")
        return self.statistics[name].joined()

    def named_heads(self, heads: Any) -> list[int]:
        """A head or several by number, in the order of the model; others are refused."""
        several = isinstance(heads, Iterable) and not isinstance(heads, str)
        chosen = {
            require_index(head, self.heads, "head") for head in (heads if several else [heads])
        }
        if not chosen:
            raise UnknownName(
                "No head is named.",
                f"The heads are: {', '.join(map(str, self.heads))}.",
                "Name at least one, or give None for all.",
            )
        return [head for head in self.heads if head in chosen]

    def __iter__(self) -> Iterator[str]:
        """The ids of the measures held."""
        return iter(self.measures)

    def __contains__(self, measure: object) -> bool:
        """Whether a measure is held."""
        return isinstance(measure, str) and self.canonical_id(measure) in self.measures

    @property
    def tokens(self) -> Tokens:
        """The tokens that receive; in a self-attention stream they are also those that give."""
        return self.queries

    def shares(self, measure: str) -> dict[str, Array]:
        """For each category of key, its share of all that a layer's queries take, by layer.

        Averaged over heads after adding up, so that in `weighted-norm` a head that moves more
        counts more; for `weight` every head and query counts the same. Negative numbers count by
        their size.
        """
        totals = []
        for layer in self.layers:
            values = self.at(measure, layer)
            sizes = np.abs(values).reshape(-1, values.shape[-1])
            totals.append(sizes.sum(axis=0, dtype=np.float64))
        mass = np.stack(totals) if totals else np.zeros((0, len(self.keys)))
        whole = np.where(mass.sum(axis=1) > 0, mass.sum(axis=1), 1.0)
        kinds = np.array(self.keys.categories)
        return {
            kind: (mass[:, kinds == kind].sum(axis=1) / whole).astype(np.float32)
            for kind in dict.fromkeys(self.keys.categories)
        }

    def only(self, layers: tuple[int, ...]) -> "Stream":
        """The same stream with only these layers."""
        for layer in layers:
            require_known(layer, self.layers, "layer")
        places = [self.layers.index(layer) for layer in layers]
        stored, readings = (
            {name: Layers(arrays[place] for place in places) for name, arrays in held.items()}
            for held in (self.stored, self.statistics)
        )
        return replace(self, layers=layers, stored=stored, statistics=readings)

    def words(self) -> "Stream":
        """The same stream between words: keys are added up, queries averaged, ‖f(x)‖ averaged."""
        into = self.queries.membership()
        to_query = (into / into.sum(axis=0)).T
        from_key = self.keys.membership()
        merged = {}
        for name in self.measures:
            values = (self.at(name, layer) for layer in self.layers)
            if "query" in MEASURES[name].axes:
                merged[name] = Layers(to_query @ (layer @ from_key) for layer in values)
            else:
                mean = from_key / from_key.sum(axis=0)
                merged[name] = Layers(layer @ mean for layer in values)
        by_token = {"query", "key"}
        kept = {n: held for n, held in self.statistics.items() if not by_token & {*axes_of(n)}}
        return Stream(
            self.name,
            self.queries.merged(),
            self.keys.merged(),
            self.layers,
            self.heads,
            merged,
            kept,
            self.aliases,
        )

    def __repr__(self) -> str:
        """The sizes and the measures held."""
        sizes = f"{len(self.layers)} layers × {len(self.heads)} heads"
        tokens = f"{len(self.queries)} queries × {len(self.keys)} keys"
        return f"<{self.name}: {sizes}, {tokens}; {', '.join(self.measures)}>"
