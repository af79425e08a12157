"""Settings in which runs differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from manifests.differences import Difference, differences

__all__ = ["Difference", "differing_settings"]

Json = Mapping[str, Any]


def differing_settings(
    settings: Mapping[str, Sequence[Any]], documents: Sequence[Json] = ()
) -> Iterator[Difference]:
    """Yield the settings whose values differ, then the differences of the runs' documents.

    `settings` holds one value per run under each name; without `documents` the runs have the same.

    >>> [found.field for found in differing_settings({"cycles": [1, 3], "explain": [True, True]})]
    ['cycles']
    """
    for name, values in settings.items():
        if any(value != values[0] for value in values):
            yield Difference("options", "", name, tuple(values))
    if documents:
        yield from differences(documents)
