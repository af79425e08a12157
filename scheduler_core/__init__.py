"""Volcano v1.15.1's scheduling decisions as a pure function."""

from scheduler_core.result import encode
from scheduler_core.simulate import ENGINE_VERSION, Options, simulate_document
from scheduler_core.validate import Problem, problems

__all__ = ["ENGINE_VERSION", "Options", "Problem", "encode", "problems", "simulate_document"]
