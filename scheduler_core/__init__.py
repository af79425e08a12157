"""Volcano v1.15.1's scheduling decisions as a pure function."""

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
