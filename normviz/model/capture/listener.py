"""Listening to a forward pass: each attention is followed to what leaves its block, then reported.

No table of module names is needed: an attention is recognized by what it computes (`registry`,
`tracking`), and everything that the model does with the heads' outputs afterwards, up to the
residual sum or the end of the attention module, is part of f(x) (`following`).
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from normviz.core.axes import StreamKind
from normviz.errors import UnsupportedModel
from normviz.model.capture import registry
from normviz.model.capture.finishing import Context, ContextAxes, assemble, root_form
from normviz.model.capture.following import ContextFollower, is_bias
from normviz.model.capture.hooks import active_observer, hook
from normviz.model.capture.layers import encoder_prefix
from normviz.model.capture.layout import Layout  # noqa: TC001 - beartype reads it
from normviz.model.capture.output_map import Followed, Form, Lost, NotLinear, apply_linear
from normviz.model.capture.patching import attention_implementation, eval_mode, without_cache
from normviz.model.capture.projection import Projection, is_linear, is_plain, probe, rounding_type
from normviz.model.capture.tape import LayerTrace, layers_on_tape
from normviz.model.capture.towers import LayerLists
from normviz.model.capture.tracking import (
    CROSS_INPUT_NAMES,
    AttentionTracker,
    Product,
    multihead_value_map,
)
from normviz.model.capture.value_bias import ValueBiasTracker
from normviz.model.decompose import DecomposedTensor, Record, unwrap
from normviz.model.types import (
    AttentionKey,
    ModelVectors,
    StreamId,
    Values,
    Weights,
    at_least_single,
)

Result = TypeVar("Result")
SUMS = {"add", "add_", "__add__", "__radd__", "__iadd__", "sub", "__sub__", "__rsub__"}


@dataclass(frozen=True)
class CapturedAttention:
    """One attention with all that its measures need; dropped before the next one is captured."""

    stream: StreamId
    layer: int
    """The number of its layer in the model."""
    name: str
    module: nn.Module
    weight: Weights
    value: Values
    mask: Tensor | None
    projection: Projection
    output: ModelVectors
    """What leaves the attention block, as the model computed it."""
    value_bias: Values | None = None
    """The part of the values that is the bias of their projection, if asked for."""
    axes: ContextAxes | None = None
    """How the tensor of the heads' outputs is ordered."""
    started: int = 0
    """How many attentions of the pass were computed before it; they may leave in another order."""
    inside: tuple[nn.Module, ...] = ()
    """The modules that were running, the outermost first."""
    record: Record | None = None
    """The output on the tape, where the layer runs on one."""

    @property
    def key(self) -> AttentionKey:
        """Which attention of the pass it is."""
        return self.stream, self.layer

    def at_least_single(self) -> "CapturedAttention":
        """Return it with numbers in float32 or wider; each tensor is converted once."""
        bias = self.value_bias
        weight = at_least_single(self.projection.weight)
        return replace(
            self,
            weight=at_least_single(self.weight),
            value=at_least_single(self.value),
            value_bias=None if bias is None else at_least_single(bias),
            projection=replace(self.projection, weight=weight),
            output=at_least_single(self.output),
        )


class CapturedPass(list[Result]):
    """What `reduce` returned for each attention of a pass, in the order they ran."""

    other_layers: Mapping[str, Mapping[int, str]]
    """For each tower, the layers in which no attention ran, with what they have instead."""
    missed: tuple[str, ...] = ()
    """The attentions that ran and could not be captured, by the name of their module."""
    dtype: torch.dtype
    """The least precise floating-point type that any result of a function had."""


@dataclass(eq=False)
class _PendingAttentions:
    """The attentions of one module, on their way to what leaves it."""

    module: nn.Module
    running: tuple[nn.Module, ...]
    """The modules that were running when the first of them was observed."""
    started: int
    """How many attentions of the pass were computed before them."""
    contexts: list[Context] = field(default_factory=list)
    finished: set[int] = field(default_factory=set)
    probed: dict[str, str | None] = field(default_factory=dict)
    """The modules that unit vectors were sent through, and the type each rounds to."""
    mapped_by: str = ""
    """The name of the last linear module that read the context."""

    @property
    def is_finished(self) -> bool:
        """Whether all of them were reported."""
        return len(self.finished) == len(self.contexts)


class Listener(Generic[Result]):
    """Captures every attention of one forward pass and collects what `reduce` returns for it."""

    def __init__(
        self,
        model: nn.Module,
        reduce: Callable[[CapturedAttention], Result],
        bias_tracker: ValueBiasTracker | None = None,
    ) -> None:
        self.names = {module: name for name, module in model.named_modules()}
        self.reduce = reduce
        self.results = CapturedPass[Result]()
        self.pending: _PendingAttentions | None = None
        self.follower = ContextFollower()
        self.tracker = AttentionTracker(self)
        self.roots: dict[Any, Layout] = {}
        self.running: list[nn.Module] = []
        self.layers = LayerLists(model)
        self.calls: Counter[Any] = Counter()
        """How often each owner of a list of layers ran, and each layer in that call."""
        self.inputs: dict[nn.Module, torch.Size] = {}
        """The shape of what each layer received last."""
        self.keys: set[AttentionKey] = set()
        self.unread: list[nn.Module] = []
        """Where a softmax was computed that no product with values has read so far."""
        self.cross_attending: set[nn.Module] = set()
        self.encoder = encoder_prefix(model, self.names)
        self.model = model
        self.bias_tracker = bias_tracker

    @property
    def is_following(self) -> bool:
        """Whether a context is on its way to what leaves its block."""
        return bool(self.follower)

    # --- attentions -----------------------------------------------------------------------------

    def attending(self) -> AbstractContextManager[None]:
        """Observe nothing while an attention function runs, which is observed as a whole."""
        return self.tracker.pause()

    def observe_attention(
        self, module: nn.Module, value: Tensor, mask: Tensor | None, output: Tensor, weight: Tensor
    ) -> Tensor:
        """Follow the output of an attention that the registry ran."""
        bias, shape = self._value_bias(unwrap(value)), unwrap(output).shape
        plain = unwrap((weight, value, mask))
        context = Context(plain[0], plain[1], plain[2], bias, "queries first", shape)
        self.follower.set(output, self._start(context, module))
        return output

    def observe_product(self, product: Product, output: Tensor) -> Tensor:
        """Follow the output of an attention that is off the registry."""
        if self.unread and self.unread[-1] in self.running:
            self.unread.pop()
        bias, shape = self._value_bias(product.value), unwrap(output).shape
        context = Context(product.weight, product.value, None, bias, product.axes, shape)
        self.follower.set(output, self._start(context, self.running[-1]))
        return output

    def observe_multihead(
        self, arguments: Mapping[str, Any], weight: Tensor, output: Tensor
    ) -> Tensor:
        """Follow the output of torch's own multi-head attention, which is projected already."""
        with torch._C.DisableTorchFunction():  # noqa: SLF001 - our own work is not observed
            value, bias = _multihead_values(arguments)
        if arguments["query"] is not arguments["key"]:
            self.cross_attending.add(self.running[-1])
        context = Context(weight, value, None, bias, "sequence first", None)
        form = self._start(context, self.running[-1])
        if value.shape[-2] != weight.shape[-1]:
            self._refuse("its keys have a bias of their own")
        out: Tensor = arguments["out_proj_weight"]
        self.follower.set(output, apply_linear(form, out.detach().T, arguments["out_proj_bias"]))
        return output

    def edit_heads(self, context: Tensor) -> Tensor:
        """Return the heads' outputs as they are."""
        return context

    def _start(self, context: Context, module: nn.Module) -> Form:
        """Return the form of a new context, after the attentions before it were followed."""
        pending = self.pending
        if pending is None or pending.module is not module or pending.is_finished:
            self.require_finished()
            self.follower.clear()
            before = 0 if pending is None else pending.started + len(pending.contexts)
            pending = self.pending = _PendingAttentions(module, tuple(self.running), before)
        pending.contexts.append(context)
        return root_form(pending.contexts, self.roots)

    # --- following ------------------------------------------------------------------------------

    def before_function(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """End the following at a residual sum: what is added to the output is not attention."""
        del options
        if name == "softmax":
            self._note_softmax()
        if not self.follower or name not in SUMS or len(args) < 2:  # noqa: PLR2004
            return
        for term, other in (args[:2], args[1::-1]):
            form = self.follower.get(term)
            is_residual = self.follower.get(other) is None and not is_bias(other)
            if isinstance(form, Form) and form.is_mapped and is_residual:
                self._finish(form, term)

    def _note_softmax(self) -> None:
        """Note where a softmax is computed, in an attention: elsewhere it may be a router's."""
        if self.running and _is_attention(self.running[-1]):
            self.unread.append(self.running[-1])

    def after_function(
        self, name: str, args: tuple[Any, ...], options: dict[str, Any], result: Any
    ) -> None:
        """Follow the context into what a function makes of it."""
        if self.follower and self.follower.reads((*args, *options.values())):
            if name in ("linear", "addmm"):
                self._note_mapping(args)
            self.follower.observe(name, args, options, result)

    def _note_mapping(self, args: tuple[Any, ...]) -> None:
        """Note which linear module reads the context: a part of the one that is running."""
        if self.pending is None or not any(isinstance(self.follower.get(a), Form) for a in args):
            return
        for child in self.running[-1].children():
            if any(getattr(child, "weight", None) is arg for arg in args):
                self.pending.mapped_by = self.names[child]

    def before_module(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Note that a module runs, and whether it is given another sequence to attend to."""
        self.running.append(module)
        if module in self.layers.owners:
            self.calls[module] += 1
        position = self.layers.positions.get(module)
        if position is not None:
            self.calls[module, self.calls[position.owner]] += 1
            given = next((a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)), None)
            self.inputs[module] = torch.Size() if given is None else given.shape
        names = _parameter_names(type(module).forward)
        if not CROSS_INPUTS & set(names):
            return
        arguments = dict(zip(names[1:], args, strict=False)) | kwargs
        query, key = (arguments.get(name) for name in ("query", "key"))
        if isinstance(query, Tensor) and isinstance(key, Tensor) and query is not key:
            self.cross_attending.add(module)
            return
        # An extra keyword that is only passed through is not what this module attends to.
        if any(name in names and arguments.get(name) is not None for name in CROSS_INPUT_NAMES):
            self.cross_attending.add(module)
        else:
            self.cross_attending.discard(module)

    def after_module(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Follow the context through a module without rules, and end where its block ends."""
        self.running.pop()
        if is_linear(module):
            self.after_linear(module, args, output)
        pending = self.pending
        if pending is None or module not in pending.running or not self.follower:
            return
        for tensor in _tensors(output):
            form = self.follower.get(tensor)
            if isinstance(form, Form) and form.is_mapped:
                self._finish(form, tensor)
        if pending.is_finished and module is not pending.running[-1]:
            self.follower.clear()  # the block is left

    def after_linear(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """Map the context through a linear module; send unit vectors through if it has no rules."""
        if not args:
            return
        given, pending = args[0], self.pending
        if self.bias_tracker is not None:
            self.bias_tracker.add_output(module, unwrap(given), unwrap(output))
        form = self.follower.get(given)
        if pending is None or not isinstance(form, Form) or not isinstance(output, Tensor):
            return
        name = self.names[module]
        pending.mapped_by = name
        known = self.follower.get(output)
        if isinstance(known, Form):
            return
        with self.attending(), torch._C.DisableTorchFunction():  # noqa: SLF001
            matrix, bias = probe(module, name, unwrap(given))
            try:
                followed: Followed = apply_linear(form, matrix, bias)
            except NotLinear as reason:
                followed = Lost(f"{name}: {reason}")
            self.follower.set(output, followed)
        pending.probed[name] = rounding_type(module)

    def _finish(self, form: Form, tensor: Tensor) -> None:
        """Report the attentions whose output leaves their block in this tensor."""
        pending = self.pending
        assert pending is not None  # noqa: S101 - something is followed
        self.follower.set(tensor, None)
        module = pending.module
        with torch._C.DisableTorchFunction():  # noqa: SLF001 - our own work is not observed
            assembled = assemble(form, unwrap(tensor), pending.contexts)
            if not assembled:
                self._refuse("its output is not made of whole heads")
            for context, _ in assembled:
                number = pending.contexts.index(context)
                if number in pending.finished:
                    self._refuse("its output is added to the residual stream in two places")
                pending.finished.add(number)
            record = tensor.record if isinstance(tensor, DecomposedTensor) else None
            for captured in self._build_attentions(pending, module, assembled, record):
                self.results.append(self.reduce(captured))

    def _build_attentions(
        self, pending: _PendingAttentions, module: nn.Module, assembled: Any, record: Record | None
    ) -> Iterator[CapturedAttention]:
        rounding = [kind for kind in pending.probed.values() if kind is not None]
        for context, parts in assembled:
            chunk = pending.contexts.index(context)
            stream, layer = self._key(pending, parts.attention_weight.shape, chunk)
            projection = Projection(
                pending.mapped_by or self.names[module],
                parts.weight,
                parts.bias,
                parts.terms,
                tuple(pending.probed),
                rounding[0] if rounding else None,
            )
            yield CapturedAttention(
                stream=stream,
                layer=layer,
                name=self.names[module],
                module=module,
                weight=parts.attention_weight,
                value=parts.value,
                mask=parts.mask,
                projection=projection,
                output=parts.output,
                value_bias=parts.value_bias,
                axes=parts.axes,
                started=pending.started + chunk,
                inside=pending.running,
                record=record,
            )

    def _key(self, pending: _PendingAttentions, shape: torch.Size, chunk: int) -> AttentionKey:
        """Return the stream of an attention, and the model's own number of its layer.

        Layers that run several times in one call, such as those with shared weights, are counted.
        """
        module = pending.module
        sequences, _, queries, keys = shape
        layer = self.layers.find_layer(pending.running, module)
        if layer is None:
            tower = self.names[module] or "model"
            stream = StreamId(self.kind_of(module), tower, queries, keys, sequences, chunk=chunk)
            number, again = 0, True
        else:
            position = self.layers.positions[layer]
            call = self.calls[position.owner]
            entered = self.inputs[layer][:-1]
            whole = entered in ((sequences, queries), (queries,) if sequences == 1 else ())
            stream = StreamId(
                kind=self.kind_of(module),
                tower=position.tower,
                queries=queries,
                keys=keys,
                sequences=sequences,
                is_windowed=not whole,
                chunk=chunk,
                call=call - 1,
            )
            number, again = position.number, self.calls[layer, call] > 1
        if stream.kind == "encoder" and queries != keys:
            stream = replace(stream, kind="cross")  # queries of its own, or pooled ones
        if again:
            number = sum(stream == other for other, _ in self.keys)
        while (stream, number) in self.keys:
            stream = replace(stream, branch=stream.branch + 1)
        self.keys.add((stream, number))
        return stream, number

    def _value_bias(self, value: Tensor) -> Tensor | None:
        """Return the part of the values that is bias, if asked for."""
        if self.bias_tracker is None:
            return None
        bias = self.bias_tracker.bias_in(value)
        self.bias_tracker.clear()
        if bias is None:
            raise UnsupportedModel(
                f"In {type(self.model).__name__}, the value vectors of an attention do not come "
                "straight from a linear module.",
                'effective_form="paper" leaves out the bias of that module, and has to find it.',
                'Use effective_form="bias" (the default) or effective_form="stochastic".',
            )
        return bias

    def kind_of(self, module: nn.Module) -> StreamKind:
        """Return whether a module attends to its own sequence, causally or not, or to another."""
        if module in self.cross_attending:
            return "cross"
        if self.encoder is not None:
            return "encoder" if self.names[module].startswith(self.encoder) else "decoder"
        return "decoder" if getattr(module, "is_causal", False) else "encoder"

    def finish_pass(self) -> CapturedPass[Result]:
        """Return the results, once the model has run."""
        self.require_finished()
        results = self.results
        numbers: dict[str, list[int]] = {}
        for stream, number in self.keys:
            numbers.setdefault(stream.tower, []).append(number)
        others = {t: self.layers.describe_others(t, seen) for t, seen in numbers.items()}
        results.other_layers = {tower: found for tower, found in others.items() if found}
        results.dtype = self.tracker.least_precise()
        results.missed = tuple(dict.fromkeys(self.names[module] for module in self.unread))
        if not results:
            self._refuse_pass()
        return results

    def _refuse_pass(self) -> None:
        name = type(self.model).__name__
        if self.unread:
            places = ", ".join(dict.fromkeys(self.names[module] for module in self.unread))
            raise UnsupportedModel(
                f"{name} computes attention ({places}) in a way that normviz cannot capture.",
                "normviz supports models on transformers' AttentionInterface, and attention "
                "written as a softmax over the keys followed by a product with the values.",
                "Use normviz.from_arrays with attention weights of your own.",
            )
        raise UnsupportedModel(
            f"No attention was captured in {name}: no softmax was computed in it that weights "
            "values, as in models that mix tokens by convolution, recurrence or a transform.",
            "normviz measures softmax attention: models on transformers' AttentionInterface, and "
            "attention written as a softmax followed by a product with the values.",
            "Use normviz.from_arrays with attention weights of your own.",
        )

    def require_finished(self) -> None:
        """Raise if the last attentions were not followed to the end of their block."""
        pending = self.pending
        if pending is None or pending.is_finished:
            return
        lost = [f.operation for _, f in self.follower.known.values() if isinstance(f, Lost)]
        self._refuse(
            f"the operation {lost[0]!r} is not linear in it"
            if lost
            else "no linear module reads it"
        )

    def _refuse(self, reason: str) -> None:
        assert self.pending is not None  # noqa: S101
        module, mapped_by = self.pending.module, self.pending.mapped_by
        through = f", which {mapped_by} reads," if mapped_by else ""
        raise UnsupportedModel(
            f"In {type(self.model).__name__}, the output of the attention {self.names[module]} "
            f"({type(module).__name__}){through} could not be followed to the end of its block: "
            f"{reason}.",
            "normviz needs every step between the heads and the residual sum to be linear in the "
            "heads' outputs, to compute f(x).",
            "Ask for the weights of this model with output_attentions=True and give them to "
            "normviz.from_arrays, or report the model.",
        )


CROSS_INPUTS = {*CROSS_INPUT_NAMES, "key"}


def _is_attention(module: nn.Module) -> bool:
    """Whether a module's class is named as an attention."""
    return re.search("atten|attn", type(module).__name__, re.IGNORECASE) is not None


@cache
def _parameter_names(forward: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters of a class's forward, `self` first; wrapped instances hide them."""
    return tuple(inspect.signature(forward).parameters)


def _tensors(output: Any) -> Iterator[Tensor]:
    """Yield the tensors in what a module returned."""
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, Mapping):
        yield from _tensors(tuple(output.values()))
    elif isinstance(output, list | tuple):
        for item in output:
            yield from _tensors(item)


def _multihead_values(arguments: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
    """Return the values of torch's own multi-head attention and their bias, both by head."""
    heads, value = arguments["num_heads"], arguments["value"]
    weight, bias = multihead_value_map(arguments)
    projected = torch.nn.functional.linear(value, weight, bias)  # key batch model
    biases = projected * 0 if bias is None else bias.expand_as(projected)
    by_head, bias_by_head = (
        tensor.reshape(*tensor.shape[:2], heads, -1).permute(1, 2, 0, 3)
        for tensor in (projected, biases)
    )
    return by_head, bias_by_head


@contextmanager
def _listening(listener: Listener[Any]) -> Iterator[None]:
    """Make the listener the active observer of this thread, and hook it into the model."""
    with ExitStack() as stack:
        token = active_observer.set(listener)
        stack.callback(active_observer.reset, token)
        for module in listener.names:
            before, after = module.register_forward_pre_hook, module.register_forward_hook
            if next(module.children(), None) is None and not _is_attention(module):
                # What it computes counts as its parent's; a plain linear module has a rule.
                if is_linear(module) and not (is_plain(module) and listener.bias_tracker is None):
                    hook(stack, after, listener.after_linear, observer=listener)
                continue
            hook(stack, before, listener.before_module, observer=listener, with_kwargs=True)
            hook(stack, after, listener.after_module, observer=listener)
        yield


def capture(
    model: nn.Module,
    inputs: Mapping[str, Any],
    reduce: Callable[[CapturedAttention], Result],
    on_layer: Callable[[LayerTrace], None] | None = None,
    *,
    through_all_layers: bool = False,
    value_bias: bool = False,
) -> CapturedPass[Result]:
    """Run the model once and return what `reduce` makes of each attention, in the order they run.

    With `on_layer`, every layer runs on tape, and its trace is passed there once its attentions
    have been reduced; with `through_all_layers`, one tape runs through all layers, from the input
    of the first. With `value_bias`, the bias part of the values is captured too. The model is left
    as it was (mode, attention implementation, hooks, random numbers), also after an error.
    """
    for implementation in (registry.NAME, "eager"):
        bias_tracker = ValueBiasTracker() if value_bias else None
        listener = Listener(model, reduce, bias_tracker)
        try:
            _run_listened(model, inputs, listener, implementation, on_layer, through_all_layers)
        except KeyError as error:
            # Some models have a table of attention functions of their own, which lacks the name.
            first = implementation is registry.NAME
            if error.args != (registry.NAME,) or not first or listener.results:
                raise
        else:
            break
    return listener.finish_pass()


def _run_listened(  # noqa: PLR0917 - `capture` alone calls it
    model: nn.Module,
    inputs: Mapping[str, Any],
    listener: Listener[Any],
    implementation: str,
    on_layer: Callable[[LayerTrace], None] | None,
    through_all_layers: bool,  # noqa: FBT001 - the same
) -> None:
    """Run a model once with a listener, under the name of an attention implementation."""
    bias_tracker = listener.bias_tracker
    modules = list(listener.names)
    with ExitStack() as stack:
        stack.enter_context(eval_mode(modules))
        stack.enter_context(attention_implementation(modules, implementation))
        stack.enter_context(without_cache(modules))
        stack.enter_context(_listening(listener))
        if bias_tracker is not None:
            stack.enter_context(bias_tracker)
        stack.enter_context(listener.tracker)
        if on_layer is not None:
            stack.enter_context(
                layers_on_tape(model, on_layer, through_all_layers=through_all_layers)
            )
        model(**inputs)
