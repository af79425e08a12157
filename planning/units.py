"""Units in which amounts are readable and short."""

from collections.abc import Iterable, Iterator

from scheduler_core.units import Scale, amount_text, amount_texts, named, scale_of, tiny, written
from traces.text import exact

__all__ = ["Scale", "amount_text", "amount_texts", "exact", "named", "scale_of", "written"]

_SIZES = ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k"))
_WHOLE_BELOW = 10_000


def resource_label(resource: str) -> str:
    """Return the name of a resource at the start of a column or sentence; elsewhere use `named`.

    >>> resource_label("cpu"), resource_label("memory"), resource_label("nvidia.com/gpu")
    ('CPU', 'Memory', 'nvidia.com/gpu')
    """
    return {"memory": "Memory", "pods": "Pods"}.get(resource, named(resource))


def hours_label(resource: str) -> str:
    """Return the heading of a column of a resource's use over time, in its unit times hours.

    >>> hours_label("nvidia.com/gpu"), hours_label("alibabacloud.com/gpu-milli")
    ('nvidia.com/gpu, GPU-hours', 'alibabacloud.com/gpu-milli, gpu-milli-hours')
    """
    return f"{resource_label(resource)}, {scale_of(resource, 0.0).one}-hours"


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
        return tiny(number)
    if round(size, 2) < _WHOLE_BELOW:
        return f"{number:,.2f}".rstrip("0").rstrip(".")
    unit, letter = next(entry for entry in _SIZES if float(f"{size:.3g}") >= entry[0])
    short = float(f"{number:.3g}") / unit
    return f"{short:#.3g}".rstrip(".") + letter


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


def compared_percents(one: float, other: float) -> tuple[str, str]:
    """Return two different fractions as per cent, with as many decimals as tell them apart.

    >>> compared_percents(0.5, 0.25), compared_percents(1 / 3, 0.33334), compared_percents(200.0, 150.5)
    (('50 %', '25 %'), ('33.333 %', '33.334 %'), ('20,000.0 %', '15,050.0 %'))
    """
    for texts in ((percent(one), percent(other)), *_with_decimals(one, other)):
        if texts[0] != texts[1]:
            return texts
    return texts


def _with_decimals(one: float, other: float) -> Iterator[tuple[str, str]]:
    for decimals in range(1, 15):
        yield f"{one * 100:,.{decimals}f} %", f"{other * 100:,.{decimals}f} %"


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
    return f"{written(scale.number(part))} of {scale.say(whole)}"


def said_compact(resource: str, amount: float) -> str:
    """Return a number in few characters, with its unit.

    >>> said_compact("cpu", 125_514_000), said_compact("pods", 1)
    ('126 k cores', '1 pod')
    """
    scale = scale_of(resource, amount)
    number = compact(scale.number(amount))
    return f"{number} {scale.unit(number)}"
