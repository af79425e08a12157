"""The range, step and unit of the slider beside a field."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.web.views.pages import whole_number
from planning.amounts import read_amounts
from planning.units import scale_of

_STEPS = 400
_MOST_WEIGHT = 10
_SUFFIXES: Mapping[str, str] = {
    "bytes": "", "KiB": "Ki", "MiB": "Mi", "GiB": "Gi", "TiB": "Ti", "PiB": "Pi",
}  # fmt: skip
_PARTS = ("cpu", "memory", "ephemeral-storage")
"""Divisible resources; hugepages and devices are counted in whole units."""


@dataclass(frozen=True)
class Slider:
    """A range from 0: its end, step and position, in the unit that is the number's `suffix`."""

    most: str
    step: str
    value: str
    suffix: str


def amount_slider(resource: str, text: str, largest: float, *, unset: float = 0.0) -> Slider:
    """Return the slider of an amount.

    Parameters
    ----------
    resource : str
        The resource that it is an amount of.
    text : str
        The quantity as Kubernetes writes it; empty when the field is not set.
    largest : float
        Where the slider ends, unless the amount itself is larger, in the scheduler's units.
    unset : float
        Where it stands when the field is not set.

    """
    held = read_amounts({resource: text}).get(resource)
    position = unset if held is None else held
    most = max(largest, position)
    scale = scale_of(resource, most)
    step = _step(scale.number(most), whole=resource not in _PARTS)
    return Slider(
        most=_plain(-(-scale.number(most) // step) * step),
        step=_plain(step),
        value=_plain(scale.number(position)),
        suffix=_SUFFIXES.get(scale.many, ""),
    )


def weight_slider(text: str, largest: int) -> Slider:
    """Return the slider of a weight, which ends at twice the largest weight of the table."""
    value = whole_number(text)
    most = max(_MOST_WEIGHT, 2 * largest, value)
    return Slider(most=str(most), step=_plain(_step(most, whole=True)), value=str(value), suffix="")


def _step(most: float, *, whole: bool) -> float:
    """Return the smallest of 1, 2, 5, 10, 20 … (and of 0.1, 0.2, 0.5 for parts) with few enough steps.

    >>> _step(504, whole=True), _step(6_212_000, whole=True), _step(24, whole=False), _step(30, whole=True)
    (2.0, 20000.0, 0.1, 1.0)
    """
    size = 1.0 if whole else 0.1
    while True:
        for times in (1, 2, 5):
            if most / (size * times) <= _STEPS:
                return size * times
        size *= 10


def _plain(number: float) -> str:
    """Return a number as a quantity.

    >>> _plain(2.0), _plain(0.30000000000000004), _plain(6_220_000.0)
    ('2', '0.3', '6220000')
    """
    return f"{number:.6f}".rstrip("0").rstrip(".")
