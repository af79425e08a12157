"""Volcano v1.15.1's scheduling decisions as a pure function."""

from scheduler_core.prepared import Prepared, prepare, simulate_document
from scheduler_core.result import encode
from scheduler_core.simulate import ENGINE_VERSION, Options
from scheduler_core.validate import Problem, problems

__all__ = [
    "ENGINE_VERSION",
    "Options",
    "Prepared",
    "Problem",
    "encode",
    "prepare",
    "problems",
    "simulate_document",
]
