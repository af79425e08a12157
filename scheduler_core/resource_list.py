"""Resource lists of Kubernetes, read into vectors and written as quantities."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from scheduler_core.quantity import milli_value, whole_value
from scheduler_core.resource import CPU, MEMORY, PODS, Resource
from scheduler_core.resource_names import is_scalar_name


def read_resource_list(amounts: Mapping[str, object] | None) -> Resource:
    """Return a new vector of the amounts of a resource list.

    Names that the scheduler does not count are left out.
    """
    resource = Resource()
    for name, quantity in (amounts or {}).items():
        if name == CPU:
            resource.cpu += milli_value(quantity)
        elif name == MEMORY:
            resource.memory += whole_value(quantity)
        elif name == PODS:
            resource.add_scalar(PODS, whole_value(quantity))
        elif name == "ephemeral-storage" or (not name.startswith("count/") and is_scalar_name(name)):
            resource.add_scalar(name, milli_value(quantity))
    return resource


def resource_of(amounts: Mapping[str, object]) -> Resource:
    """Return the vector of a resource list, one object for equal lists; never change it."""
    return _vector((*amounts.items(),))


@lru_cache(maxsize=65536)
def _vector(entries: tuple[tuple[str, object], ...]) -> Resource:
    return read_resource_list(dict(entries))


def quantities(resource: Resource) -> dict[str, str]:
    """Return a vector as Kubernetes quantities; fractions are truncated.

    Examples
    --------
    >>> quantities(Resource(1500.0, 5 * 2.0**30, {"pods": 4.0}))
    {'cpu': '1500m', 'memory': '5Gi', 'pods': '4'}

    """
    texts = {}
    for name, amount in resource.items():
        whole = int(amount)
        if name == MEMORY:
            texts[name] = _with_suffix(whole, 1024, ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))
        elif name == PODS:
            texts[name] = _with_suffix(whole, 1000, ("", "k", "M", "G", "T", "P", "E"))
        else:
            texts[name] = _with_suffix(whole, 1000, ("m", "", "k", "M", "G", "T", "P", "E"))
    return texts


def _with_suffix(amount: int, base: int, suffixes: tuple[str, ...]) -> str:
    if amount == 0:
        return "0"
    position = 0
    while amount % base == 0 and position < len(suffixes) - 1:
        amount //= base
        position += 1
    return f"{amount}{suffixes[position]}"
