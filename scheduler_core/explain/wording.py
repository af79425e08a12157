"""Wording of amounts, counts and lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.resource import CPU, MEMORY, PODS, UNLIMITED_SCALAR

_BYTES = ("ephemeral-storage", "hugepages-")
_BINARY = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def quantity(resource: str, amount: float) -> str:
    """Return one amount, given in the scheduler's units, as people write it.

    Examples
    --------
    >>> quantity("cpu", 1500), quantity("memory", 3 * 2**30), quantity("pods", 3), quantity("cpu", 85_894_260)
    ('1.5 CPU', '3 GiB memory', '3 pods', '85,894.26 CPU')

    """
    if amount >= UNLIMITED_SCALAR:
        return f"unlimited {named(resource)}"
    if resource == MEMORY or resource.startswith(_BYTES):
        size = amount if resource == MEMORY else amount / 1000
        return f"{_bytes(size)} {resource}"
    if resource == PODS:
        return f"{_short(amount)} {'pod' if amount == 1 else 'pods'}"
    return f"{_short(amount / 1000)} {named(resource)}"


def named(resource: str) -> str:
    """Return the name of a resource as people write it."""
    return "CPU" if resource == CPU else resource


def _bytes(size: float) -> str:
    unit, factor = next((entry for entry in _BINARY if abs(size) >= entry[1]), ("B", 1))
    return f"{_short(size / factor)} {unit}"


def _short(value: float) -> str:
    """Return a number with at most two decimals, or with two digits if those would be zeros."""
    if 0 < abs(value) < 0.005:
        return f"{value:.2g}"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def quantities(amounts: Mapping[str, float], only: Iterable[str] | None = None) -> str:
    """Return amounts as one phrase, without `pods` unless named; "nothing" if there are none.

    Examples
    --------
    >>> quantities({"cpu": 2000, "memory": 0, "pods": 4})
    '2 CPU'

    """
    names = [name for name in amounts if name != PODS] if only is None else list(only)
    parts = [quantity(name, amounts[name]) for name in names if amounts.get(name)]
    return ", ".join(parts) if parts else "nothing"


def counted(count: int, word: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "pod"), counted(2, "pod")
    ('1 pod', '2 pods')

    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def times(count: int) -> str:
    """Return a number of times in words.

    Examples
    --------
    >>> times(1), times(2), times(3)
    ('once', 'twice', '3 times')

    """
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def capitalised(text: str) -> str:
    """Return a clause with a capital first letter; names in it are unchanged.

    Examples
    --------
    >>> capitalised("tier 1 decided by DRF")
    'Tier 1 decided by DRF'

    """
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str]) -> str:
    """Return names as one phrase.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed([])
    ('a, b and c', 'nobody')

    """
    names = list(names)
    if len(names) < 2:
        return names[0] if names else "nobody"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def agreed(count: int, one: str, many: str) -> str:
    """Return the form of a verb that agrees with a count.

    Examples
    --------
    >>> agreed(1, "waits", "wait")
    'waits'

    """
    return one if count == 1 else many


def exact_quantity(resource: str, amount: float) -> str:
    """Return one amount without rounding it.

    Examples
    --------
    >>> exact_quantity("cpu", 8001), exact_quantity("memory", 3 * 2**29), exact_quantity("memory", 2**30 + 1)
    ('8.001 CPU', '1.5 GiB memory', '1,073,741,825 B memory')

    """
    if amount >= UNLIMITED_SCALAR or resource == PODS:
        return quantity(resource, amount)
    if resource == MEMORY or resource.startswith(_BYTES):
        size = amount if resource == MEMORY else amount / 1000
        fits = (entry for entry in _BINARY if abs(size) >= entry[1] and (size / entry[1] * 100).is_integer())
        unit, factor = next(fits, ("B", 1))
        return f"{size / factor:,.2f}".rstrip("0").rstrip(".") + f" {unit} {resource}"
    return f"{amount / 1000:,.3f}".rstrip("0").rstrip(".") + f" {named(resource)}"
