"""What becomes of a type when normviz measures it: one word, and the cause where it fails.

pass         the receipt is green, the weights are the model's own, no attention is missing
left out     the same, but the receipt notes that measures were left out
incomplete   the receipt is not green because it names attentions that were not captured
missing      the receipt is green although attentions were not captured
wrong        the receipt is green although weights are not the model's own
red          the receipt is not green for another reason
refused      normviz raised one of its own errors
foreign      another exception: always a mistake
changed      the model did not come back as it was: always a mistake
slow         the time limit was reached
"""

import contextlib
import re
import signal
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

import zoo
from zoo.witness import own_attentions, watch

FAMILIES: dict[str, Any] = {
    "attention": ["weight", "value-norm", "weighted-norm", "attention"],
    "all": "all",
    "gradients": ["hidden-attribution"],
}
LIMIT = 60.0
SEED = 0
"""Some models draw random numbers in a pass; each pass that is compared starts from this seed."""
NEVER = ("foreign", "changed", "wrong")
"""Outcomes that no type may have."""
NO_ATTENTION = "none"
"""The outcome of a type that computes no softmax attention, and is refused for it."""


@dataclass(frozen=True)
class Outcome:
    """One word for what happened, the cause in general terms, and the whole message."""

    kind: str
    cause: str = ""
    detail: str = ""

    def __str__(self) -> str:
        """Return what the table holds."""
        return f"{self.kind}: {self.cause}" if self.cause else self.kind


class TimeLimitReached(BaseException):
    """Not an Exception, so that nothing under test can swallow it."""


def find_outcome(name: str, family: str, limit: float = LIMIT) -> Outcome:
    """Build a type, measure it, and say what became of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _find_outcome(name, family, limit)


def _find_outcome(name: str, family: str, limit: float) -> Outcome:
    import normviz

    specimen = zoo.build(name)
    with torch.no_grad():
        specimen.model(**specimen.inputs)  # some models change themselves in their first pass
    before = describe_state(specimen.model)
    try:
        torch.manual_seed(SEED)
        with time_limit(limit):
            flow = normviz.analyze(
                specimen.model, inputs=specimen.inputs, measures=FAMILIES[family]
            )
    except TimeLimitReached:
        return Outcome("slow", f"over {limit:.0f} s")
    except normviz.NormvizError as error:
        found = Outcome("refused", describe_error(error), str(error))
    except Exception as error:  # noqa: BLE001 (whatever it is, it is reported)
        found = Outcome("foreign", describe_error(error), repr(error))
    else:
        found = judge_flow(name, flow)
    if changes := differences(before, describe_state(specimen.model)):
        return Outcome("changed", changes[0], "; ".join(changes))
    if found.kind == "refused" and count_of(name) == 0:
        return Outcome(NO_ATTENTION, "", found.detail)
    return found


def count_of(name: str) -> int:
    """Return how many attentions a type computes."""
    specimen = zoo.build(name, attention="eager")
    return watch(specimen.model, specimen.inputs).count


# --- a flow that came back -----------------------------------------------------------------------

UNCAPTURED = re.compile(r"not captured|uncaptured|could not be captured", re.IGNORECASE)
SAID = re.compile(r"not captured|are not shown")
"""What a note says of weights that a flow does not hold."""
LEFT_OUT = re.compile(r"^left out: ")
"""Notes on measures that were left out."""


def judge_flow(name: str, flow: Any) -> Outcome:
    """Return the outcome of a flow, from its receipt and from the model's own attentions."""
    receipt = flow.receipt
    failures = tuple(receipt.failures)
    if not receipt.ok:
        if uncaptured := [failure for failure in failures if UNCAPTURED.search(failure)]:
            return Outcome("incomplete", generalize(uncaptured[0]), "; ".join(failures))
        return Outcome("red", generalize(failures[0] if failures else ""), "; ".join(failures))
    reference = zoo.build(name, attention="eager")
    torch.manual_seed(SEED)
    if missing := find_missing(flow, watch(reference.model, reference.inputs)):
        return Outcome("missing", "", missing)
    torch.manual_seed(SEED)
    wrong, compared = compare_weights(flow, own_attentions(reference.model, reference.inputs))
    if wrong:
        return Outcome("wrong", "", wrong)
    if notes := [note for note in receipt.notes if LEFT_OUT.search(note)]:
        return Outcome("left out", generalize(notes[0]), "; ".join(notes))
    return Outcome("pass", "", f"{compared} of {len(receipt.checks)} layers {COMPARED}")


COMPARED = "were compared with the model's own weights"


def find_missing(flow: Any, witness: Any) -> str:
    """Return how many weights are missing without a word, or ''.

    By numbers, not by calls: a layer may call its attention once for each window or image.
    """
    streams = [stream["weight"] for stream in flow.streams.values() if "weight" in stream.measures]
    if not streams or any(SAID.search(note) for note in flow.receipt.notes):
        return ""
    captured = sum(layer.size for stream in streams for layer in stream)
    if captured < witness.weights:
        return f"{captured} of {witness.weights} weights were captured"
    return ""


def compare_weights(flow: Any, own: list[torch.Tensor]) -> tuple[str, int]:
    """Return which weights are not among the model's own of the same shape, and how many are.

    A model may report the weights of some of its towers only: then each of these must be here.
    """
    captured = [
        (f"{stream.name} layer {layer}", torch.as_tensor(weights))
        for stream in flow.streams.values()
        if "weight" in stream.measures
        for layer, weights in zip(stream.layers, stream["weight"], strict=True)
    ]
    compared = 0
    for shape in {weights.shape for _, weights in captured}:
        ours = [(name, w) for name, w in captured if w.shape == shape]
        theirs = [("", w) for w in own if w.shape == shape]
        few, many = (theirs, ours) if len(theirs) < len(ours) else (ours, theirs)
        for name, weights in few:
            if not any(torch.allclose(weights, w, atol=1e-4, rtol=1e-3) for _, w in many):
                return f"{name or shape}: the weights are not the model's own", compared
            compared += 1
    return "", compared


# --- the model as it was -------------------------------------------------------------------------


def describe_state(model: torch.nn.Module) -> dict[str, Any]:
    """Return what must be the same afterward, by name."""
    state: dict[str, Any] = {
        f"weight {k}": v.detach().clone() for k, v in model.state_dict().items()
    }
    for path, module in model.named_modules():
        hooks = [value for key, value in vars(module).items() if key.endswith("_hooks")]
        state[f"hooks of {path}"] = sum(len(value) for value in hooks if isinstance(value, dict))
        state[f"mode of {path}"] = module.training
        state[f"methods of {path}"] = sorted(k for k, v in vars(module).items() if callable(v))
    for path, parameter in model.named_parameters():
        state[f"gradient of {path}"] = (parameter.requires_grad, parameter.grad is None)
    state["configuration"] = str(model.config.to_dict())
    state["attention"] = attention_of(model.config)
    state |= {f"torch.{owner}.{name}": id(f) for owner, name, f in watched_functions()}
    return state


def attention_of(config: Any) -> list[str]:
    """Return the attention implementations of a configuration and its parts."""
    parts = [value for value in vars(config).values() if hasattr(value, "to_dict")]
    return [
        str(getattr(config, "_attn_implementation", "")),
        *(a for p in parts for a in attention_of(p)),
    ]


def watched_functions() -> Iterator[tuple[str, str, Any]]:
    """Yield functions that somebody may replace for a while."""
    from torch.nn import functional

    for name in ("softmax", "scaled_dot_product_attention", "linear", "dropout"):
        yield "functional", name, getattr(functional, name)
    for name in ("softmax", "matmul", "bmm", "einsum"):
        yield "torch", name, getattr(torch, name)


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the names of what is not as it was."""
    names = [name for name in before if name not in after] + [n for n in after if n not in before]
    for name in before.keys() & after.keys():
        one, other = before[name], after[name]
        same = torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other
        if not same and not (isinstance(one, torch.Tensor) and one.isnan().any()):
            names.append(name)
    return sorted(names)


# --- words for what went wrong -------------------------------------------------------------------


def describe_error(error: Exception) -> str:
    """Return the class of an error and its message in general terms."""
    message = getattr(error, "found", None) or str(error)
    return f"{type(error).__name__}: {generalize(message)}".removesuffix(": ")


def generalize(message: str) -> str:
    """Return a message without what differs between models: numbers, paths, class names."""
    message = " ".join(message.split())
    message = re.sub(
        r"\b\w+(\.\w+)*\.\d+(\.\w+)*\b|\b[a-z_]\w*(\.[a-z_]\w*){1,}\b(?!\()", "<name>", message
    )
    message = re.sub(r"\b(?=\w*[a-z])[A-Z]\w*[A-Z]\w*\b", "<Class>", message)
    message = re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "N", message)
    message = re.sub(r"\[N(, N)*\]|\(N(, N)*,?\)", "[N]", message)
    return message[:100].rstrip()


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimitReached` in the main thread after so many seconds of this process's work.

    Not of the clock, so that an outcome is the same on a busy machine.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeLimitReached

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
