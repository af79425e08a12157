"""Completion of names on the command line: scenarios, snapshots, runs, queues, nodes, jobs, contexts."""

import argparse
from collections.abc import Iterator, Sequence

from queuecast.backend import Backend
from queuecast.client import Client
from queuecast.contexts import Contexts

_KINDS = {
    "scenario": "scenarios", "scenarios": "scenarios", "snapshot": "snapshots", "run": "runs", "runs": "runs",
    "trace": "traces", "forecast": "forecasts", "forecasts": "forecasts",
    "before": "forecasts", "after": "forecasts",
    "experiment": "experiments", "queue": "queues", "node": "nodes", "nodes": "nodes", "job": "jobs",
}  # fmt: skip
"""The kind of object that an argument names."""


def names_after(parser: argparse.ArgumentParser, words: Sequence[str], backend: Backend) -> list[str]:
    """Return the completions after these words, sorted; empty if no name is expected."""
    chain, given, expected = _arguments(parser, words)
    if chain[:1] == ["context"]:
        return sorted(Contexts.read().by_name)
    kind = given.get("kind", "") + "s" if chain == ["delete"] else _KINDS.get(expected, "")
    return sorted(set(_names(backend, kind, given.get("scenario", ""))))


def _names(backend: Backend, kind: str, scenario: str) -> Iterator[str]:
    if kind == "scenarios":
        yield from (one["name"] for one in backend.scenarios())
    elif kind == "snapshots":
        yield from (one["name"] for one in backend.snapshots())
    elif kind == "runs":
        names = {one["id"]: str(one["name"]) for one in backend.scenarios()}
        yield from (names.get(run["scenario"], str(run["id"])) for run in backend.runs())
    elif kind == "traces" and isinstance(backend, Client):
        yield from (one["name"] for one in backend.traces())
    elif kind == "forecasts" and isinstance(backend, Client):
        names = {one["id"]: str(one["name"]) for one in backend.scenarios()}
        yield from (names.get(one["scenario"], str(one["id"])) for one in backend.forecasts())
    elif kind == "experiments" and isinstance(backend, Client):
        yield from (one["name"] for one in backend.experiments())
    elif kind == "queues":
        yield from (one["name"] for one in backend.queues(scenario))
    elif kind == "nodes":
        yield from (one["metadata"]["name"] for one in backend.nodes(scenario))
    elif kind == "jobs":
        document = backend.scenario_document(scenario)
        for listed in ("jobs", "podgroups"):
            for one in document.get(listed) or ():
                yield f"{one['metadata'].get('namespace') or 'default'}/{one['metadata']['name']}"


def _arguments(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> tuple[list[str], dict[str, str], str]:
    """Return the chain of commands, the arguments given, and the argument that is expected next."""
    chain: list[str] = []
    given: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith("-"):
            option = parser._option_string_actions.get(word)
            if option is not None and option.nargs != 0 and rest:
                rest.pop(0)
            continue
        waiting = _positional(parser, given)
        if isinstance(waiting, argparse._SubParsersAction):
            if word not in waiting.choices:
                return chain, given, ""
            chain.append(word)
            parser = waiting.choices[word]
        elif waiting is not None:
            given[waiting.dest] = word
    waiting = _positional(parser, given)
    return chain, given, "" if waiting is None else waiting.dest


def _positional(parser: argparse.ArgumentParser, given: dict[str, str]) -> argparse.Action | None:
    """Return the argument of the next word; one with several values takes all that follow."""
    for action in parser._actions:
        if not action.option_strings and (action.dest not in given or action.nargs in ("+", "*")):
            return action
    return None
