"""The command line of the core: simulate, explain, replay, compare with recorded results."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from itertools import chain
from typing import Any

from scheduler_core import Options, prepare
from scheduler_core.fault import NOT_OURS, fault_of
from scheduler_core.reading import Entry, entries, milliseconds
from scheduler_core.result import encoded

SIGPIPE_STATUS = 141
"""The exit status that a shell reports for a program killed by SIGPIPE."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scheduler_core", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    simulate = commands.add_parser("simulate", help="print the result of each scenario, one line each")
    simulate.add_argument("--no-explain", action="store_true", help="omit the explanations")
    simulate.add_argument(
        "--timing", action="store_true", help="add the time for reading and for each action"
    )
    simulate.add_argument("--cycles", type=_cycles, help="number of cycles instead of the scenario's own")
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
        if name != "-" and not os.path.isfile(name):
            parser.error(f"no such file: {name}")
    commanded = {
        "simulate": print_results,
        "explain": print_explanations,
        "replay": print_replays,
        "parity": print_parity,
    }
    return commanded[options.command](options)


def _cycles(text: str) -> int:
    """Return a number of cycles that a scenario may have, too."""
    from scheduler_core.validate.scenario import MOST_CYCLES

    if not text.isdecimal() or not 1 <= int(text) <= MOST_CYCLES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of cycles: write 1 to {MOST_CYCLES:,}")
    return int(text)


def print_results(options: argparse.Namespace) -> int:
    """Print one result per scenario; return 1 if any of them could not be simulated."""
    status = 0
    how = Options(
        explain=not options.no_explain,
        cycles=options.cycles,
        timer=milliseconds if options.timing else None,
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
    """Return a scenario's result; eviction loops include the changes that end them."""
    prepared = prepare(scenario)
    result = prepared.simulate(options=how)
    if "loops" not in result:
        return result
    from scheduler_core.explain import with_loops

    return with_loops(prepared, result, how)


def _extender(hosts: Sequence[str]) -> Any:
    """Return the function that calls extenders; its client is imported only if there is a host."""
    client = import_module("extender_client")
    return client.ExtenderClient(client.AllowedHosts(hosts)).post


def _refused(entry: Entry) -> dict[str, Any]:
    return {"name": str(entry.scenario.get("name") or ""), "error": entry.fault}


def print_explanations(options: argparse.Namespace) -> int:
    """Print the requested stories; return 1 if a scenario cannot be simulated or lacks a name.

    Without names, print the stories of all waiting jobs.
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
            limits=Limits(milliseconds=options.seconds * 1000, timer=milliseconds),
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
    """Print one result per document; return 1 if any of them could not be replayed."""
    from scheduler_core.replay import replay_document

    status = 0
    documents = (entries(name, with_recorded=False, sharing=True) for name in options.scenarios)
    for entry in chain.from_iterable(documents):
        document = entry.scenario
        if options.until is not None:
            document = _ended(document, options.until)
        watch = _Watch(log=options.log, progress=options.progress)
        result = _refused(entry) if entry.fault else replay_document(document, watch=watch)
        watch.end()
        if options.log or options.no_log:
            result.pop("log", None)
        sys.stdout.buffer.writelines(encoded(result))
        status = max(status, int("error" in result))
    return status


def _ended(document: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return a document whose horizon is at most so many seconds; a wrong timeline is left to the replay."""
    timeline = document.get("replay") or {}
    if not isinstance(timeline, dict):
        return document
    horizon = timeline.get("horizon_seconds") or seconds
    if not isinstance(horizon, int | float):
        return document
    return {**document, "replay": {**timeline, "horizon_seconds": min(seconds, horizon)}}


class _Watch:
    """Prints a replay's progress and log while it runs."""

    def __init__(self, *, log: bool, progress: bool) -> None:
        self._log = log
        self._progress = progress
        self._printed = 0
        self._started = self._shown = milliseconds()

    def __call__(self, replay: Any) -> None:
        """Print the new part of the log after a session."""
        if self._log:
            for entry in replay.records.log(self._printed):
                sys.stdout.buffer.writelines(encoded(entry))
            self._printed = len(replay.records.decided)
        if self._progress and milliseconds() - self._shown > 200.0:
            self._shown = milliseconds()
            finished = sum(record.finished is not None for record in replay.records.jobs.values())
            rate = replay.computed / (self._shown - self._started) * 1000.0
            where = f"{replay.end:,.0f} of {replay.timeline.horizon:,.0f} s simulated"
            text = f"\r{where}, {finished:,} jobs finished, {rate:,.0f} sessions a second "
            print(text, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the progress line."""
        if self._progress:
            print(file=sys.stderr)


def print_parity(options: argparse.Namespace) -> int:
    """Print, per file, how many scenarios equal the recorded results; return 1 if any does not.

    Also for a file that cannot be read, or that has no recorded results.
    """
    from scheduler_core.tally import Tally

    status = 0
    for name in options.files:
        tally = Tally()
        for entry in entries(name):
            if entry.fault:
                tally.faults.append(entry.fault)
            elif entry.recorded is not None:
                tally.add(entry)
            del entry
        for fault in tally.faults:
            print(fault, file=sys.stderr)
        for differences in tally.differences[: options.failures]:
            print(f"  {differences}")
        print(f"{os.path.basename(name)}: {tally.line()}", flush=True)
        status = status or int(not tally.is_equal)
    return status


def until_closed(command: Callable[[], int]) -> int:
    """Run a command and return its exit status; exit silently if the pipe closes, as with ``| head``."""
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SIGPIPE_STATUS
    return status


if __name__ == "__main__":
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name may have half of a surrogate pair
    ended_with = until_closed(main)
    os._exit(ended_with)  # skip freeing each object, as the system frees the memory at once
