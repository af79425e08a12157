"""Volcano v1.15.1's scheduling decisions as a pure function."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scheduler_core.framework.reuse import Reuse
    from scheduler_core.options import Options
    from scheduler_core.prepared import Prepared, prepare, simulate_document
    from scheduler_core.result import encode
    from scheduler_core.validate import Problem, problems

__all__ = [
    "Options",
    "Prepared",
    "Problem",
    "Reuse",
    "encode",
    "prepare",
    "problems",
    "simulate_document",
]

_MODULES = {
    "Options": "options",
    "Prepared": "prepared",
    "Problem": "validate",
    "Reuse": "framework.reuse",
    "encode": "result",
    "prepare": "prepared",
    "problems": "validate",
    "simulate_document": "prepared",
}


def __getattr__(name: str) -> Any:
    """Import a name's module when it is first used: whoever reads only rows or units simulates nothing."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value
