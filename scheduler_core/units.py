"""Amounts as people write them: in cores, binary bytes, pods and devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduler_core.resource import CPU, MEMORY, PODS, UNLIMITED_SCALAR

_BINARY = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_OTHER_BYTES = ("ephemeral-storage", "hugepages-")
_LEAST = 0.001


@dataclass(frozen=True)
class Scale:
    """A unit for people, equal to `size` of the scheduler's units."""

    size: float
    one: str
    many: str

    def number(self, amount: float) -> float:
        """Return the amount in this unit."""
        return amount / self.size

    def unit(self, number: str) -> str:
        """Return the unit after a number as written: singular after 1."""
        return self.one if number in ("1", "-1") else self.many

    def say(self, amount: float) -> str:
        """Return number and unit, rounded."""
        number = written(self.number(amount))
        return f"{number} {self.unit(number)}"


def scale_of(resource: str, largest: float) -> Scale:
    """Return the best unit for amounts up to `largest` of a resource."""
    if resource == CPU:
        return Scale(1000, "core", "cores")
    if resource == PODS:
        return Scale(1, "pod", "pods")
    if _is_bytes(resource):
        return _binary(_byte(resource), largest)
    kind = resource.rpartition("/")[2]
    return Scale(1000, "GPU", "GPUs") if kind == "gpu" else Scale(1000, kind, kind)


def written(number: float) -> str:
    """Return a number with useful decimals: two, or three digits if it is small.

    Examples
    --------
    >>> written(94384.0), written(1.5), written(2 / 3), written(0.00625), written(-1e-6)
    ('94,384', '1.5', '0.67', '0.00625', '> -0.001')

    """
    if number != 0 and abs(number) < 0.1:
        return tiny(number)
    return f"{number:,.2f}".rstrip("0").rstrip(".")


def tiny(number: float) -> str:
    """Return a number below 0.1 with three digits, and a bound if it is too small for a decimal."""
    if abs(number) >= _LEAST:
        return f"{number:.3g}"
    return f"< {_LEAST}" if number > 0 else f"> -{_LEAST}"


def named(resource: str) -> str:
    """Return the name of a resource in a sentence."""
    return "CPU" if resource == CPU else resource


def amount_text(resource: str, amount: float) -> str:
    """Return one amount, given in the scheduler's units, rounded; the unit names the resource.

    Examples
    --------
    >>> amount_text("cpu", 1500), amount_text("memory", 3 * 2**30), amount_text("pods", 1)
    ('1.5 cores', '3 GiB', '1 pod')
    >>> amount_text("nvidia.com/gpu", 8000), amount_text("ephemeral-storage", 2**30 * 1000)
    ('8 GPUs', '1 GiB of ephemeral-storage')

    """
    if amount >= UNLIMITED_SCALAR:
        return f"unlimited {named(resource)}"
    return f"{scale_of(resource, amount).say(amount)}{_of(resource)}"


def exact_amount_text(resource: str, amount: float) -> str:
    """Return one amount without rounding it.

    Examples
    --------
    >>> exact_amount_text("cpu", 8001), exact_amount_text("memory", 3 * 2**29)
    ('8.001 cores', '1.5 GiB')
    >>> exact_amount_text("memory", 2**30 + 1)
    '1,073,741,825 bytes'

    """
    if amount >= UNLIMITED_SCALAR or resource == PODS:
        return amount_text(resource, amount)
    scale, decimals = scale_of(resource, amount), 3
    if _is_bytes(resource):
        decimals, byte = 2, _byte(resource)
        while scale.size > byte and not (scale.number(amount) * 100).is_integer():
            scale = _binary(byte, scale.size / 1024)
    number = f"{scale.number(amount):,.{decimals}f}".rstrip("0").rstrip(".")
    return f"{number} {scale.unit(number)}{_of(resource)}"


def compared_texts(resource: str, one: float, other: float) -> tuple[str, str]:
    """Return two amounts of a resource, exact where rounding would make different ones look equal.

    Examples
    --------
    >>> compared_texts("cpu", 4000, 8000), compared_texts("cpu", 8001, 8000)
    (('4 cores', '8 cores'), ('8.001 cores', '8 cores'))

    """
    texts = amount_text(resource, one), amount_text(resource, other)
    if texts[0] != texts[1] or one == other:
        return texts
    return exact_amount_text(resource, one), exact_amount_text(resource, other)


def amount_texts(amounts: Mapping[str, float], names: Iterable[str]) -> list[str]:
    """Return amounts of some resources; those with a common unit are followed by their names.

    Examples
    --------
    >>> amount_texts({"amd.com/gpu": 1000, "cpu": 500, "nvidia.com/gpu": 0}, ["cpu", "amd.com/gpu"])
    ['0.5 cores', '1 GPU']
    >>> amount_texts({"amd.com/gpu": 1000, "nvidia.com/gpu": 2000}, ["amd.com/gpu", "nvidia.com/gpu"])
    ['1 GPU (amd.com/gpu)', '2 GPUs (nvidia.com/gpu)']

    """
    names = list(names)
    kinds = Counter(name.rpartition("/")[2] for name in names)
    return [
        amount_text(name, amounts[name]) + (f" ({name})" if kinds[name.rpartition("/")[2]] > 1 else "")
        for name in names
    ]


def _is_bytes(resource: str) -> bool:
    return resource == MEMORY or resource.startswith(_OTHER_BYTES)


def _byte(resource: str) -> int:
    """Return a byte in the scheduler's units."""
    return 1 if resource == MEMORY else 1000


def _of(resource: str) -> str:
    return f" of {resource}" if resource.startswith(_OTHER_BYTES) else ""


def _binary(byte: int, largest: float) -> Scale:
    """Return the largest binary unit not above `largest`; a byte is `byte` scheduler's units."""
    if not largest:
        return Scale(byte * 2**30, "GiB", "GiB")
    size, power = float(byte), 0
    while abs(largest) >= size * 1024 and power < len(_BINARY) - 1:
        size, power = size * 1024, power + 1
    return Scale(size, _BINARY[power].removesuffix("s"), _BINARY[power])
