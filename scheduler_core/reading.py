"""Scenarios in files, read one at a time and with the garbage collector tuned."""

from __future__ import annotations

import gc
import json
import marshal
import time
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from io import BufferedIOBase, BufferedReader, FileIO
from itertools import chain
from types import ModuleType
from typing import Any, NamedTuple

WRAPPED = b'{"scenario":'
BUFFERED = 2**20
"""The number of bytes to read at once, as a scenario is one long line."""

COLLECTED_AFTER = 20_000
"""The number of simulated pods between two collections; each scenario counts as a hundred more."""

Hook = Callable[[dict[str, Any]], dict[str, Any]]


class Entry(NamedTuple):
    """One scenario of a file, with its recorded and expected results and the time it took to read.

    `fault` is a problem of the text itself; a text with one is not simulated.
    """

    scenario: dict[str, Any]
    load_ms: float
    recorded: dict[str, Any] | None = None
    expected: dict[str, Any] = {}
    fault: str = ""


class Collector:
    """The garbage collector, disabled while a scenario is read and rarely run afterwards.

    It would traverse the growing objects of a large scenario again and again. After reading, these are
    frozen, and the young generation is collected less often the more pods there are. Sessions contain
    reference cycles; their garbage is collected before the next scenario is read if there is much of it.
    """

    def __init__(self) -> None:
        self._left = 0

    def before(self) -> None:
        """Prepare for reading."""
        gc.disable()
        gc.unfreeze()
        if self._left > COLLECTED_AFTER:
            gc.collect()
            self._left = 0

    def after(self, scenario: Any) -> None:
        """Prepare for simulating the scenario."""
        pods = scenario.get("pods") if isinstance(scenario, dict) else None
        count = len(pods) if isinstance(pods, (list, dict)) else 0
        self._left += 100 + count
        gc.freeze()
        gc.set_threshold(500_000 + 20 * count, 20, 100)
        gc.enable()


COLLECTOR = Collector()


def entries(name: str, *, with_recorded: bool = True, sharing: bool = False) -> Iterator[Entry]:
    """Yield the scenarios of a file (.json, .jsonl, .yaml, each optionally .gz; - for standard input).

    Lines are read one at a time, and no text is kept while its scenario is in use. Without `with_recorded`
    the rest of a line after the scenario is not parsed. With `sharing`, equal specs and statuses in JSON are
    one object, which must not be modified: thousands of jobs then take half the memory. A compressed file
    that is damaged ends with an entry that says so.
    """
    try:
        yield from _entries(name, with_recorded=with_recorded, sharing=sharing)
    except (EOFError, zlib.error) as error:
        yield Entry({}, 0.0, fault=f"{name}: the file is damaged, it cannot be unpacked: {error}")


def _entries(name: str, *, with_recorded: bool, sharing: bool) -> Iterator[Entry]:
    file = FileIO(0, closefd=False) if name == "-" else FileIO(name)
    with BufferedReader(file, BUFFERED) as raw:
        stream: BufferedIOBase = raw
        if raw.peek(2)[:2] == b"\x1f\x8b":
            import gzip

            stream = gzip.GzipFile(fileobj=raw)
        plain_name = name.removesuffix(".gz")
        if plain_name.endswith((".yaml", ".yml")):
            yield _read_carefully(name, stream.read())
            return
        texts = enumerate(_texts(stream, plain_name), 1)
        while (entry := _next_entry(name, texts, with_recorded=with_recorded, sharing=sharing)) is not None:
            yield entry
            del entry


def _texts(stream: BufferedIOBase, name: str) -> Iterator[bytes]:
    """Yield the text of each scenario."""
    if name.endswith(".jsonl"):
        return iter(stream.readline, b"")
    if name != "-":
        return iter(stream.read, b"")
    first = stream.readline()
    if first.startswith(b"{") and first.rstrip().endswith(b"}"):
        return chain([first], iter(stream.readline, b""))
    return iter([first + stream.read()])


def _next_entry(
    name: str, texts: Iterator[tuple[int, bytes]], *, with_recorded: bool, sharing: bool
) -> Entry | None:
    for number, text in texts:
        if text and not text.isspace():
            COLLECTOR.before()
            entry = _read_quickly(name, text, number, with_recorded=with_recorded, sharing=sharing)
            COLLECTOR.after(entry.scenario)
            return entry
    return None


def _read_quickly(name: str, line: bytes, number: int, *, with_recorded: bool, sharing: bool) -> Entry:
    """Parse a scenario in JSON; a malformed one is read again to locate the problem."""
    started = milliseconds()
    try:
        loaded = _loaded(line, with_recorded=with_recorded, hook=_sharing() if sharing else None)
        scenario = _with_structured_conf(loaded.get("scenario", loaded))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return _read_carefully(name, line, number)
    if "scenario" not in loaded:
        return Entry(scenario, milliseconds() - started)
    expected = loaded.get("expected") or {}
    return Entry(scenario, milliseconds() - started, loaded.get("result"), expected)


def _loaded(line: bytes, *, with_recorded: bool, hook: Hook | None) -> dict[str, Any]:
    """Parse one line of JSON, or only the scenario of a recorded one."""
    if line.startswith(WRAPPED) and not with_recorded:
        scenario, _ = json.JSONDecoder(object_hook=hook).raw_decode(line[len(WRAPPED) :].decode().lstrip())
        return {"scenario": scenario}
    loaded: dict[str, Any] = json.loads(line, object_hook=hook)
    return loaded


def _sharing() -> Hook:
    """Return an object hook that shares equal specs of pods and PodGroups, and equal statuses."""
    known: dict[bytes, dict[str, Any]] = {}

    def shared(thing: dict[str, Any]) -> dict[str, Any]:
        if "containers" in thing or "minMember" in thing or "phase" in thing:
            return known.setdefault(marshal.dumps(thing), thing)
        return thing

    return shared


def _with_structured_conf(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario whose configuration, if any, is a structure instead of a text."""
    conf = scenario.get("scheduler_conf")
    is_structure = isinstance(conf, dict) and conf.get("kind") != "ConfigMap"
    return scenario if is_structure else _manifests().resolve(scenario)


def _read_carefully(name: str, text: bytes, number: int = 1) -> Entry:
    """Read a scenario or manifests with the line numbers of all problems; the text begins in a line."""
    started = milliseconds()
    reading = _manifests().read([(name, text)])
    errors = [problem for problem in reading.problems if problem.severity == "error"]
    fault = ""
    if errors:
        line = f":{errors[0].line + number - 1}" if errors[0].line else ""
        fault = f"{errors[0].document or name}{line}: {errors[0].message}"
    return Entry(reading.document, milliseconds() - started, fault=fault)


def _manifests() -> ModuleType:
    """Return the reader of manifests, imported only for texts in YAML."""
    return import_module("manifests")


def milliseconds() -> float:
    """Return the time of a monotonic clock in milliseconds."""
    return time.perf_counter() * 1000.0
