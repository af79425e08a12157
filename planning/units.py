"""Units in which amounts are readable and short."""

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler_core.explain.wording import named

_BINARY = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_BYTES = ("memory", "ephemeral-storage")
_SIZES = ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k"))
_WHOLE_BELOW = 10_000
_LEAST = 0.001


def resource_label(resource: str) -> str:
    """Return the name of a resource at the start of a column or sentence; elsewhere use `named`.

    >>> resource_label("cpu"), resource_label("memory"), resource_label("nvidia.com/gpu")
    ('CPU', 'Memory', 'nvidia.com/gpu')
    """
    return {"memory": "Memory", "pods": "Pods"}.get(resource, named(resource))


def request_resources(names: Iterable[str]) -> list[str]:
    """Return the resources of a pod's request: cpu, memory, and the devices among those of some nodes.

    >>> request_resources({"pods", "memory", "nvidia.com/gpu", "hugepages-2Mi"})
    ['cpu', 'memory', 'nvidia.com/gpu']
    """
    return ["cpu", "memory", *sorted(name for name in names if "/" in name)]


def compact(number: float) -> str:
    """Return a number with three digits and the letter of its magnitude; below 10,000 at most two decimals.

    >>> compact(2_003_662), compact(125_514), compact(9_999), compact(1.5), compact(0), compact(0.00625)
    ('2.00 M', '126 k', '9,999', '1.5', '0', '0.00625')
    >>> compact(999_999), compact(-2_500_000), compact(1e-6)
    ('1.00 M', '-2.50 M', '< 0.001')
    """
    size = abs(number)
    if 0 < size < 0.1:
        return _tiny(number)
    if round(size, 2) < _WHOLE_BELOW:
        return f"{number:,.2f}".rstrip("0").rstrip(".")
    unit, letter = next(entry for entry in _SIZES if float(f"{size:.3g}") >= entry[0])
    short = float(f"{number:.3g}") / unit
    return f"{short:#.3g}".rstrip(".") + letter


@dataclass(frozen=True)
class Scale:
    """A unit for people, equal to `size` of the scheduler's units."""

    size: float
    one: str
    many: str

    def number(self, amount: float) -> float:
        """Return the amount in this unit."""
        return amount / self.size

    def say(self, amount: float) -> str:
        """Return number and unit."""
        number = self.number(amount)
        return f"{written(number)} {self.one if number == 1 else self.many}"


def scale_of(resource: str, largest: float) -> Scale:
    """Return the best unit for amounts up to `largest` of a resource."""
    if resource == "cpu":
        return Scale(1000, "core", "cores")
    if resource == "pods":
        return Scale(1, "pod", "pods")
    if resource in _BYTES or resource.startswith("hugepages-"):
        return _binary(largest, byte=1 if resource == "memory" else 1000)
    kind = resource.rpartition("/")[2]
    return Scale(1000, "GPU", "GPUs") if kind == "gpu" else Scale(1000, kind, kind)


def _binary(largest: float, *, byte: int) -> Scale:
    """Return the largest binary unit not above `largest`; a byte is `byte` scheduler's units."""
    if not largest:
        return Scale(byte * 2**30, "GiB", "GiB")
    size, power = float(byte), 0
    while abs(largest) >= size * 1024 and power < len(_BINARY) - 1:
        size, power = size * 1024, power + 1
    return Scale(size, _BINARY[power].removesuffix("s"), _BINARY[power])


def written(number: float) -> str:
    """Return a number with useful decimals: two, or three digits if it is small.

    >>> written(94384.0), written(1.5), written(2 / 3), written(0.00625), written(-1e-6)
    ('94,384', '1.5', '0.67', '0.00625', '> -0.001')
    """
    if number != 0 and abs(number) < 0.1:
        return _tiny(number)
    return f"{number:,.2f}".rstrip("0").rstrip(".")


def _tiny(number: float) -> str:
    """Return a number below 0.1 with three digits, and a bound if it is too small for a decimal."""
    if abs(number) >= _LEAST:
        return f"{number:.3g}"
    return f"< {_LEAST}" if number > 0 else f"> -{_LEAST}"


_MOST_PERCENT = 10_000
"""A queue that deserves next to nothing has a share without end: larger percentages are not written out."""


def percent(part: float) -> str:
    """Return a fraction as per cent, with one decimal; only nothing is 0 %, only the whole 100 %.

    >>> percent(0.5), percent(0.9996), percent(0.0001), percent(1.0), percent(12.5)
    ('50 %', '99.9 %', '0.1 %', '100 %', '1,250 %')
    >>> percent(1.2e14)
    '> 10,000 %'
    """
    return f"> {_MOST_PERCENT:,} %" if _is_endless(part) else f"{_hundredths(part)} %"


def points(part: float) -> str:
    """Return a difference of fractions in percentage points.

    >>> points(0.5), points(0.0001), points(1.2e14)
    ('50 pp', '0.1 pp', '10,000 pp or more')
    """
    return f"{_MOST_PERCENT:,} pp or more" if _is_endless(part) else f"{_hundredths(part)} pp"


def _is_endless(part: float) -> bool:
    return round(part * 100, 1) > _MOST_PERCENT


def _hundredths(part: float) -> str:
    number = round(part * 100, 1)
    if 1e-9 < part < 1 - 1e-9:
        number = min(max(number, 0.1), 99.9)
    return written(number)


def part_text(resource: str, part: float, whole: float) -> str:
    """Return two amounts as "a of b", in the unit of the larger one and written in full.

    >>> part_text("nvidia.com/gpu", 30_000, 50_000), part_text("memory", 2**39, 2**40)
    ('30 of 50 GPUs', '0.5 of 1 TiB')
    >>> part_text("alibabacloud.com/gpu-milli", 2_000_000, 276_000_000)
    '2,000 of 276,000 gpu-milli'
    """
    scale = scale_of(resource, max(part, whole))
    unit = scale.one if scale.number(whole) == 1 else scale.many
    return f"{written(scale.number(part))} of {written(scale.number(whole))} {unit}"


def amount_text(resource: str, amount: float) -> str:
    """Return a number in full, with its unit.

    >>> amount_text("cpu", 40_000_000), amount_text("pods", 1)
    ('40,000 cores', '1 pod')
    """
    return scale_of(resource, amount).say(amount)


def said_compact(resource: str, amount: float) -> str:
    """Return a number in few characters, with its unit.

    >>> said_compact("cpu", 125_514_000), said_compact("pods", 1)
    ('126 k cores', '1 pod')
    """
    scale = scale_of(resource, amount)
    number = scale.number(amount)
    return f"{compact(number)} {scale.one if number == 1 else scale.many}"
