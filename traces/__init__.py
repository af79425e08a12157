"""Workload traces: read, reshaped, generated, and converted to the events of a replay."""

from traces.events import PodSize, events_of
from traces.generate import Pattern, fitted, generate
from traces.model import Role, Trace, TraceJob, TraceProblem, Unreadable
from traces.read import FORMATS, read_trace
from traces.reshape import cut, mapped, scaled

__all__ = [
    "FORMATS",
    "Pattern",
    "PodSize",
    "Role",
    "Trace",
    "TraceJob",
    "TraceProblem",
    "Unreadable",
    "cut",
    "events_of",
    "fitted",
    "generate",
    "mapped",
    "read_trace",
    "scaled",
]
