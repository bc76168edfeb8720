"""Ending a forward pass early."""


class StopForward(Exception):
    """Raised in a hook or callback to end a forward pass once everything needed has been seen.

    Whoever runs the pass suppresses it: `with suppress(StopForward): model(**inputs)`.
    """
