"""Reading of traces in any known format."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping

from traces.columns import HEADERS, read_columns
from traces.kubernetes import read_objects
from traces.model import Trace, TraceProblem, Unreadable
from traces.philly import read_philly_json
from traces.swf import read_swf

FORMATS: Mapping[str, str] = {
    "queuecast": "CSV: name, queue, submit_seconds, run_seconds, pods, min_member, cpu, memory, gpu",
    "philly": "CSV of the Philly trace: job_id, submit_s, duration_s, queue, gang, gpu",
    "helios": "CSV of the Helios traces: job_id, vc, gpu_num, cpu_num, node_num, submit_time, duration",
    "acme": "CSV of the Acme traces: job_id, type, gpu_num, cpu_num, node_num, submit_time, duration",
    "openb": "CSV of the openb pods: name, cpu_milli, memory_mib, num_gpu, qos, creation_time, deletion_time",
    "philly-json": "JSON of the Philly trace: a list of jobs with their attempts",
    "swf": "Standard Workload Format of the Parallel Workloads Archive",
    "kubernetes": "JSON of finished Jobs, PodGroups and Pods, as kubectl prints them",
}

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_FIRST_LINE = re.compile(r"[^\r\n]*")


def read_trace(text: str, format_name: str = "") -> Trace:
    """Return a trace.

    Parameters
    ----------
    text : str
        The whole file, unpacked.
    format_name : str
        One of `FORMATS`; empty: what the text looks like.

    Raises
    ------
    Unreadable
        With line, column and fix of what is wrong.

    """
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise Unreadable([TraceProblem(line, "", "the line has a NUL character", "remove the character")])
    name = format_name or format_of(text)
    readers: dict[str, Callable[[str], Trace]] = {
        "philly-json": read_philly_json,
        "swf": read_swf,
        "kubernetes": read_objects,
    }
    if name in readers:
        return readers[name](text)
    if separator := _other_separator(text, name):
        says = f"the cells are separated by {separator}"
        fix = "separate them by commas, and write 1.5 instead of 1,5"
        raise Unreadable([TraceProblem(1, "", says, fix)])
    if name in HEADERS:
        return read_columns(text, name)
    known = ", ".join(FORMATS)
    says = f"the format {name!r} is not known" if name else "the format cannot be recognized"
    raise Unreadable([TraceProblem(0, "", says, f"name one of {known}")])


def format_of(text: str) -> str:
    """Return the format that a text seems to have; empty if none."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith("["):
        return "philly-json"
    if start.startswith("{"):
        return "kubernetes"
    if start.startswith(";") or _is_swf(start):
        return "swf"
    header = _header(start, ",")
    fitting = [name for name, columns in HEADERS.items() if columns.required <= header]
    return fitting[0] if fitting else ""


def _header(text: str, separator: str) -> set[str]:
    """Return the names in the first line of a table; empty if it has none."""
    line = _FIRST_LINE.match(text)
    try:
        names = next(csv.reader([line[0]], delimiter=separator), []) if line else []
    except csv.Error:
        return set()
    return {name.strip() for name in names}


def _other_separator(text: str, format_name: str) -> str:
    """Return what separates the columns of a table that would be known with commas; empty otherwise."""
    start = text.lstrip("\ufeff \t\r\n")
    formats = [columns for name, columns in HEADERS.items() if format_name in ("", name)]
    for separator, words in _SEPARATORS.items():
        header = _header(start, separator)
        if any(columns.required <= header for columns in formats):
            return words
    return ""


def _is_swf(text: str) -> bool:
    fields = text.split("\n", 1)[0].split()
    return len(fields) == 18 and all(_is_number(field) for field in fields)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
