"""How much is a quantity as people write it, in the scheduler's units?"""

from planning.rows import Amounts, Quantities
from scheduler_core.quantity import QuantityError, milli_value, whole_value

_WHOLE = ("memory", "pods")


def amounts(quantities: Quantities) -> Amounts:
    """Return the amounts; a text that is no quantity is left out.

    >>> amounts({"cpu": "1.5", "memory": "1Gi", "nvidia.com/gpu": "2", "pods": "many"})
    {'cpu': 1500.0, 'memory': 1073741824.0, 'nvidia.com/gpu': 2000.0}
    """
    read = {resource: _amount(resource, text) for resource, text in quantities.items()}
    return {resource: value for resource, value in read.items() if value is not None}


def _amount(resource: str, text: str) -> float | None:
    try:
        return whole_value(text) if resource in _WHOLE else milli_value(text)
    except QuantityError:
        return None
