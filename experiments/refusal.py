"""`Refusal`: what a person asked for cannot be done, in one sentence; `gin` prints it and exits with 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Refusal(Exception):  # noqa: N818 - not a fault of the program
    """What was asked for cannot be done. The message is one sentence for the person who asked."""


@contextmanager
def refusing(kinds: type[Exception] = ValueError, about: str = "") -> Iterator[None]:
    """Turn exceptions of ``kinds`` into a `Refusal` with their own sentence.

    Used around the reading of input only, so that a ValueError of the program's own keeps its traceback.
    """
    try:
        yield
    except kinds as error:
        raise Refusal(f"{about}: {error}" if about else str(error)) from error
