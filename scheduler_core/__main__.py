"""The command line of the core: simulate scenarios, say why, compare with recorded answers."""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import marshal
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from io import BufferedIOBase, BufferedReader, FileIO
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from scheduler_core import Options, prepare, simulate_document
from scheduler_core.conf import UNMODELLED_PLUGINS, parse_conf
from scheduler_core.errors import InputError
from scheduler_core.fault import NOT_OURS, fault_of
from scheduler_core.parity import first_difference, first_message_difference, unmet
from scheduler_core.result import encoded

WRAPPED = b'{"scenario":'
BUFFERED = 2**20
"""Bytes that are read at once: a scenario is one long line."""

NOBODY_READS = 141
"""The exit status that a shell reports of a program that SIGPIPE ended."""

Hook = Callable[[dict[str, Any]], dict[str, Any]]

COLLECTED_AFTER = 20_000
"""Pods that were simulated, a hundred counted for each scenario."""


YOUNG_IN_REPLAYS = 150_000
"""Objects that a replay makes before the young ones are looked at; jobs that have ended hold themselves."""


class Entry(NamedTuple):
    """One scenario of a file, what was recorded and is expected of it, and how long reading took.

    `fault` is what is wrong with the text itself; a text with a fault is not simulated.
    """

    scenario: dict[str, Any]
    load_ms: float
    recorded: dict[str, Any] | None = None
    expected: dict[str, Any] = {}
    fault: str = ""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scheduler_core", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    simulate = commands.add_parser("simulate", help="print the result of each scenario, one line each")
    simulate.add_argument("--no-explain", action="store_true", help="omit the explanations")
    simulate.add_argument(
        "--timing", action="store_true", help="add the time for reading and for each action"
    )
    simulate.add_argument("--cycles", type=int, help="number of cycles instead of the scenario's own")
    simulate.add_argument(
        "--extender-host",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="a host that the extender plugin may call (repeat for more hosts; default: none)",
    )
    simulate.add_argument("scenarios", nargs="+", metavar="SCENARIO")
    why = commands.add_parser("explain", help="explain the decisions as text")
    why.add_argument("--job", action="append", default=[], metavar="NAME", help="namespace/name of a job")
    why.add_argument("--queue", action="append", default=[], metavar="NAME", help="a queue")
    why.add_argument("--pod", action="append", default=[], metavar="NAME", help="namespace/name of a pod")
    why.add_argument("--node", action="append", default=[], metavar="NAME", help="a node")
    why.add_argument("--cycle", type=int, help="number of the cycle (default: the last)")
    why.add_argument(
        "--unblock", action="store_true", help="search by simulation for changes that let a job run"
    )
    why.add_argument(
        "--seconds", type=float, default=5.0, help="how long to search for each job (%(default)s)"
    )
    why.add_argument("scenarios", nargs=1, metavar="SCENARIO")
    replayed = commands.add_parser("replay", help="print what happens over time, one line for each document")
    log = replayed.add_mutually_exclusive_group()
    log.add_argument("--log", action="store_true", help="print the log as it grows, a line for each session")
    log.add_argument("--no-log", action="store_true", help="leave the log out of the result")
    replayed.add_argument("--until", type=float, metavar="SECONDS", help="end there, before the horizon")
    replayed.add_argument("--progress", action="store_true", help="show the simulated time on standard error")
    replayed.add_argument("scenarios", nargs="+", metavar="DOCUMENT")
    parity = commands.add_parser("parity", help="compare with the recorded answers of golden files")
    parity.add_argument(
        "--failures", type=int, default=None, help="show at most so many failing scenarios a file"
    )
    parity.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args(arguments)
    for name in options.files if options.command == "parity" else options.scenarios:
        if name != "-" and not Path(name).is_file():
            parser.error(f"no such file: {name}")
    commanded = {
        "simulate": print_results,
        "explain": print_explanations,
        "replay": print_replays,
        "parity": print_parity,
    }
    return commanded[options.command](options)


class Collector:
    """The garbage collector, off while a scenario is read and seldom at work afterwards.

    It would walk the growing objects of a large scenario again and again. What was read is left alone, and
    the young objects are looked at the more rarely the more pods there are. Sessions refer to themselves:
    what they left behind is collected before the next scenario is read, when it is much.
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
        """Prepare for simulating what was read."""
        pods = scenario.get("pods") if isinstance(scenario, dict) else None
        count = len(pods) if isinstance(pods, (list, dict)) else 0
        self._left += 100 + count
        gc.freeze()
        is_replay = isinstance(scenario, dict) and "replay" in scenario
        gc.set_threshold((YOUNG_IN_REPLAYS if is_replay else 500_000) + 20 * count, 20, 100)
        gc.enable()


COLLECTOR = Collector()


def entries(name: str, *, with_recorded: bool = True, sharing: bool = False) -> Iterator[Entry]:
    """Yield the scenarios of a file (.json, .jsonl, .yaml, each optionally .gz; - for standard input).

    Lines are read one at a time, and no text is kept while its scenario is in use. Without `with_recorded`
    what a line holds behind its scenario is not parsed. With `sharing` equal specs and statuses in JSON are
    one object, which nobody may write: thousands of jobs then take half the memory.
    """
    file = FileIO(0, closefd=False) if name == "-" else FileIO(name)
    with BufferedReader(file, BUFFERED) as raw:
        packed = raw.peek(2)[:2] == b"\x1f\x8b"
        stream: BufferedIOBase = gzip.GzipFile(fileobj=raw) if packed else raw
        plain_name = name.removesuffix(".gz")
        if plain_name.endswith((".yaml", ".yml")):
            yield _read_carefully(name, stream.read())
            return
        texts = _texts(stream, plain_name)
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


def _next_entry(name: str, texts: Iterator[bytes], *, with_recorded: bool, sharing: bool) -> Entry | None:
    for text in texts:
        if text and not text.isspace():
            COLLECTOR.before()
            entry = _read_quickly(name, text, with_recorded=with_recorded, sharing=sharing)
            COLLECTOR.after(entry.scenario)
            return entry
    return None


def _read_quickly(name: str, line: bytes, *, with_recorded: bool, sharing: bool) -> Entry:
    """Parse a scenario in JSON; one that is not what it should be is read again to say where."""
    started = _milliseconds()
    try:
        loaded = _loaded(line, with_recorded=with_recorded, hook=_sharing() if sharing else None)
        scenario = _with_structured_conf(loaded.get("scenario", loaded))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return _read_carefully(name, line)
    if "scenario" not in loaded:
        return Entry(scenario, _milliseconds() - started)
    expected = loaded.get("expected") or {}
    return Entry(scenario, _milliseconds() - started, loaded.get("result"), expected)


def _loaded(line: bytes, *, with_recorded: bool, hook: Hook | None) -> dict[str, Any]:
    """Parse one line of JSON, or of a recorded one the scenario alone."""
    if line.startswith(WRAPPED) and not with_recorded:
        scenario, _ = json.JSONDecoder(object_hook=hook).raw_decode(line[len(WRAPPED) :].decode().lstrip())
        return {"scenario": scenario}
    loaded: dict[str, Any] = json.loads(line, object_hook=hook)
    return loaded


def _sharing() -> Hook:
    """Return what makes equal specs of pods and PodGroups, and equal statuses, one object."""
    known: dict[bytes, dict[str, Any]] = {}

    def shared(thing: dict[str, Any]) -> dict[str, Any]:
        if "containers" in thing or "minMember" in thing or "phase" in thing:
            return known.setdefault(marshal.dumps(thing), thing)
        return thing

    return shared


def _with_structured_conf(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario whose configuration, if it has one, is a structure and not a text."""
    conf = scenario.get("scheduler_conf")
    is_structure = isinstance(conf, dict) and conf.get("kind") != "ConfigMap"
    return scenario if is_structure else _manifests().resolve(scenario)


def _read_carefully(name: str, text: bytes) -> Entry:
    """Read a scenario or manifests with the line of every problem."""
    started = _milliseconds()
    reading = _manifests().read([(name, text)])
    errors = [problem for problem in reading.problems if problem.severity == "error"]
    fault = f"{errors[0].document}:{errors[0].line}: {errors[0].message}" if errors else ""
    return Entry(reading.document, _milliseconds() - started, fault=fault)


def _manifests() -> ModuleType:
    """Return the reader of manifests; without a text in YAML nobody waits for it."""
    return import_module("manifests")


def print_results(options: argparse.Namespace) -> int:
    """Print one result per scenario; 1 when any of them could not be simulated."""
    status = 0
    how = Options(
        explain=not options.no_explain,
        cycles=options.cycles,
        timer=_milliseconds if options.timing else None,
        extender=_extender(options.extender_host) if options.extender_host else None,
    )
    for entry in chain.from_iterable(entries(name, with_recorded=False) for name in options.scenarios):
        status = max(status, _print_result(entry, how))
        del entry
    return status


def _print_result(entry: Entry, how: Options) -> int:
    result = _refused(entry) if entry.fault else _simulated(entry.scenario, how)
    if how.timer is not None:
        result["load_ms"] = entry.load_ms
    sys.stdout.buffer.writelines(encoded(result))
    return int("error" in result)


def _simulated(scenario: dict[str, Any], how: Options) -> dict[str, Any]:
    """Return a scenario's result; when pods are evicted without end, with what ends that."""
    prepared = prepare(scenario)
    result = prepared.simulate(options=how)
    if "loops" not in result:
        return result
    from scheduler_core.explain import with_loops

    return with_loops(prepared, result, how)


def _extender(hosts: Sequence[str]) -> Any:
    """Return what calls extenders; without a host nobody waits for the client."""
    client = import_module("extender_client")
    return client.ExtenderClient(client.AllowedHosts(hosts)).post


def _refused(entry: Entry) -> dict[str, Any]:
    return {"name": str(entry.scenario.get("name") or ""), "error": entry.fault}


def print_explanations(options: argparse.Namespace) -> int:
    """Print the requested stories; 1 when a scenario cannot be simulated or knows no such name.

    Without a name it is every job that waits.
    """
    from scheduler_core.explain import Limits, Unknown, text

    status = 0
    for entry in entries(options.scenarios[0], with_recorded=False):
        prepared = prepare(entry.scenario)
        result = _refused(entry) if entry.fault else prepared.simulate()
        if "error" in result:
            print(result["error"], file=sys.stderr)
            status = 1
            continue
        for note in result["notes"]:
            print(f"note: {note}", file=sys.stderr)
        selection = text.Selection(
            options.queue,
            options.pod,
            options.node,
            options.job,
            cycle=options.cycle,
            unblock=options.unblock,
            limits=Limits(milliseconds=options.seconds * 1000, timer=_milliseconds),
        )
        try:
            for line in text.lines(selection, prepared.document, result, prepared.simulate):
                print(line)
        except NOT_OURS:
            raise
        except Unknown as error:
            print(error, file=sys.stderr)
            status = 1
        except Exception as error:
            fault = fault_of(error)
            print(fault.sentence, *fault.calls, sep="\n  ", file=sys.stderr)
            status = 1
    return status


def print_replays(options: argparse.Namespace) -> int:
    """Print one result per document; 1 when any of them could not be replayed."""
    from scheduler_core.replay import replay_document

    status = 0
    documents = (entries(name, with_recorded=False, sharing=True) for name in options.scenarios)
    for entry in chain.from_iterable(documents):
        document = entry.scenario
        if options.until is not None:
            timeline = document.get("replay") or {}
            horizon = min(options.until, timeline.get("horizon_seconds") or options.until)
            document = {**document, "replay": {**timeline, "horizon_seconds": horizon}}
        watch = _Watch(log=options.log, progress=options.progress)
        result = _refused(entry) if entry.fault else replay_document(document, watch=watch)
        watch.end()
        if options.log or options.no_log:
            result.pop("log", None)
        sys.stdout.buffer.writelines(encoded(result))
        status = max(status, int("error" in result))
    return status


class _Watch:
    """Prints what a replay does while it runs."""

    def __init__(self, *, log: bool, progress: bool) -> None:
        self._log = log
        self._progress = progress
        self._printed = 0
        self._started = self._shown = _milliseconds()

    def __call__(self, replay: Any) -> None:
        """Print what is new after a session."""
        if self._log:
            for entry in replay.records.log[self._printed :]:
                sys.stdout.buffer.writelines(encoded(entry))
            self._printed = len(replay.records.log)
        if self._progress and _milliseconds() - self._shown > 200.0:
            self._shown = _milliseconds()
            finished = sum(record.finished is not None for record in replay.records.jobs.values())
            rate = replay.computed / (self._shown - self._started) * 1000.0
            where = f"{replay.end:,.0f} of {replay.timeline.horizon:,.0f} s simulated"
            text = f"\r{where}, {finished:,} jobs finished, {rate:,.0f} sessions a second "
            print(text, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the line of progress."""
        if self._progress:
            print(file=sys.stderr)


class Tally:
    """How the scenarios of one recorded file compare.

    Attributes
    ----------
    total, equal, messages : int
        Scenarios compared, equal ones, and those whose texts are equal too.
    apart : Counter
        Scenarios that name a plugin which is not modelled, by plugin; they do not count.
    differences : list of str
        What differs, one line a scenario.

    """

    def __init__(self) -> None:
        self.total = self.equal = self.messages = 0
        self.apart: Counter[str] = Counter()
        self.differences: list[str] = []

    def add(self, entry: Entry) -> None:
        """Simulate a recorded scenario and compare."""
        assert entry.recorded is not None, "only recorded scenarios are compared"
        unmodelled = unmodelled_plugins(entry.scenario)
        if unmodelled:
            self.apart.update(unmodelled)
            return
        name = entry.scenario.get("name")
        ours = simulate_document(entry.scenario, Options(explain=False))
        difference = first_difference(ours, entry.recorded)
        message = first_message_difference(ours, entry.recorded)
        self.total += 1
        self.equal += difference is None
        self.messages += difference is None and message is None
        if difference is not None or message is not None:
            kind = "differs" if difference is not None else "message"
            self.differences.append(f"{name}: {kind}: {difference or message}")
        self.differences += [
            f"{name}: expected by Volcano's test: {text}" for text in unmet(ours, entry.expected)
        ]

    def line(self) -> str:
        """Return the figures in one line."""
        parts = [
            f"{self.equal} of {self.total} equal ({_percent(self.equal, self.total)})",
            f"messages {_percent(self.messages, self.total)}",
        ]
        parts += [f"{count} apart for {plugin}" for plugin, count in sorted(self.apart.items())]
        return ", ".join(parts)


def unmodelled_plugins(scenario: dict[str, Any]) -> list[str]:
    """Return the plugins of a scenario's configuration that the core accepts but does not model."""
    try:
        conf = parse_conf(scenario.get("scheduler_conf"))
    except InputError:
        return []
    return sorted({option.name for option in conf.options()} & set(UNMODELLED_PLUGINS))


def print_parity(options: argparse.Namespace) -> int:
    """Print, per file, how many scenarios are equal to the recorded answers; 1 when any is not."""
    status = 0
    for name in options.files:
        tally = Tally()
        for entry in entries(name):
            if entry.recorded is not None:
                tally.add(entry)
            del entry
        for differences in tally.differences[: options.failures]:
            print(f"  {differences}")
        print(f"{Path(name).name}: {tally.line()}", flush=True)
        status = status or int(tally.equal != tally.total)
    return status


def _percent(part: int, whole: int) -> str:
    return f"{100.0 * part / whole if whole else 100.0:.1f} %"


def _milliseconds() -> float:
    return time.perf_counter() * 1000.0


def until_closed(command: Callable[[], int]) -> int:
    """Run a command and return its exit status; end quietly when nobody reads on, as behind ``| head``."""
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    return status


if __name__ == "__main__":
    ended_with = until_closed(main)
    os._exit(ended_with)  # the rest would only give back, object by object, what the system takes at once
