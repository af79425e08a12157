"""The annotations of pods and PodGroups that say how replays run the pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any

from scheduler_core.errors import InputError

RUN_SECONDS = "queuecast/run-seconds"
CHECKPOINT_SECONDS = "queuecast/checkpoint-seconds"
RESTORE_SECONDS = "queuecast/restore-seconds"
EXIT_CODE = "queuecast/exit-code"


def seconds_of(text: str) -> float:
    """Return a duration in seconds.

    Raises
    ------
    InputError
        If the text is not a number of at least 0.

    Examples
    --------
    >>> seconds_of("1.5")
    1.5

    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not (isfinite(seconds) and seconds >= 0):
        raise InputError(f"{text[:40]!r} is not a number of seconds, 0 or more")
    return seconds


def exit_codes_of(text: str) -> list[int]:
    """Return the exit codes of a pod's runs, in order.

    Raises
    ------
    InputError
        If the text is not a list of whole numbers.

    Examples
    --------
    >>> exit_codes_of("1,0")
    [1, 0]

    """
    try:
        return [int(code) for code in text.split(",")]
    except ValueError:
        raise InputError(f"{text[:40]!r} is not an exit code, or several with commas in between") from None


READERS: Mapping[str, Callable[[str], object]] = {
    RUN_SECONDS: seconds_of,
    CHECKPOINT_SECONDS: seconds_of,
    RESTORE_SECONDS: seconds_of,
    EXIT_CODE: exit_codes_of,
}
"""What reads the text of each annotation; it raises InputError if the text has no meaning."""


def unreadable(annotations: Mapping[str, Any]) -> Iterator[tuple[str, InputError]]:
    """Yield the annotations of an object that replays cannot read, with the reason; only strings are read."""
    for name, read in READERS.items():
        if isinstance(annotations.get(name), str):
            try:
                read(annotations[name])
            except InputError as error:
                yield name, error


def are_readable(annotations: Mapping[str, Any]) -> bool:
    """Return whether replays can read the annotations of an object, all of which are strings."""
    return READERS.keys().isdisjoint(annotations) or not any(unreadable(annotations))
