"""Validation of all parts of a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scheduler_core.conf import SchedulerConf
from scheduler_core.model.pod_info import PodInfo
from scheduler_core.problem import Place, Problem
from scheduler_core.release import Release, release_of
from scheduler_core.schema_rules import schema_problems
from scheduler_core.validate.configuration import ReadConf
from scheduler_core.validate.fields import (
    Check,
    anything,
    flag,
    list_of,
    number,
    one_of,
    record,
    text,
    time,
    version,
    whole,
)
from scheduler_core.validate.integrity import check_integrity
from scheduler_core.validate.kinds import KINDS, NAMESPACED
from scheduler_core.validate.listed import Listed, ListedPods
from scheduler_core.validate.ordinary import Ordinary, OrdinaryPods
from scheduler_core.validate.references import check_references
from scheduler_core.validate.replay import check_confs, timeline
from scheduler_core.validate.report import Report

MOST_CYCLES = 10_000

SETTINGS: Mapping[str, Check] = {
    "name": anything,
    "now": time,
    "cycles": whole(1, MOST_CYCLES),
    "cycle_seconds": number(),
    "evicted": one_of("requeue", "delete"),
    "termination_cycles": whole(0, MOST_CYCLES),
    "scheduler_names": list_of(text),
    "default_queues": flag,
    "admission_defaults": flag,
    "controllers": flag,
    "release": version,
    "replay": timeline,
}
_SETTINGS = record(SETTINGS)


class Inspection:
    """The findings about the parts of a scenario.

    Parameters
    ----------
    document : mapping
        A scenario.
    before : Inspection, optional
        The inspection of another scenario; findings on identical lists, events and configuration are reused.
    release : Release, optional
        The release that reads the configuration; None: the one that the scenario names.

    """

    def __init__(
        self,
        document: Mapping[str, Any],
        before: Inspection | None = None,
        release: Release | None = None,
    ) -> None:
        self.document = document
        self.settings: Report = Report() if before is None else Report(before.settings.sound)
        _SETTINGS(document, (), self.settings)
        structure, release = document.get("scheduler_conf"), release or release_of(document)
        known: ReadConf | None = None if before is None else before._read_conf
        self._read_conf: ReadConf = (
            known
            if known is not None and known.is_of(structure, release)
            else ReadConf.of(structure, release)
        )
        self.lists: dict[str, InspectedList] = {
            name: before.lists[name]
            if before is not None and before.lists[name].source is document.get(name)
            else _inspect(document, name, None if before is None else before.lists[name])
            for name in KINDS
        }

    @property
    def conf(self) -> SchedulerConf | None:
        """Return the configuration, None if Volcano would reject it."""
        return self._read_conf.conf

    def errors(self) -> list[Problem]:
        """Return the errors that prevent a simulation, empty if there are none."""
        report = self._forms()
        check_integrity(self._objects(), report)
        return [problem for problem in report.sorted() if problem.severity == "error"]

    def problems(self) -> list[Problem]:
        """Return all problems and remarks, errors first."""
        report, objects = self._forms(), self._objects()
        check_integrity(objects, report)
        check_references(objects, self.document, self.conf, report)
        return report.sorted()

    def read_pods(self) -> list[PodInfo]:
        """Return the pods of a scenario without errors as read, in their order."""
        return self.lists["pods"].pods

    def _objects(self) -> dict[str, Listed]:
        return {name: inspected.listed for name, inspected in self.lists.items()}

    def _forms(self) -> Report:
        report = Report()
        for part in (
            self.settings,
            self._read_conf.report,
            *(inspected.report for inspected in self.lists.values()),
        ):
            report.include(part)
        check_confs(self.document, self._read_conf.release, report)
        return report


@dataclass(frozen=True)
class InspectedList:
    """A list of a scenario with the findings about it.

    Attributes
    ----------
    source : any
        The list in the document.
    listed : Listed
        The objects with valid names.
    ordinary : Ordinary
        Recognises objects by parts of earlier ones.
    known : list
        What each object is recognised as; None for an object with findings.

    """

    source: Any
    listed: Listed
    report: Report
    ordinary: Ordinary
    known: list[Any]

    @cached_property
    def known_objects(self) -> dict[int, Any]:
        """Return what objects are recognised as, by identity."""
        return dict(zip(map(id, self.listed.all), self.known, strict=True))

    @cached_property
    def of_schema(self) -> list[Problem]:
        """Return the problems of the API server with queues or PodGroups, all of which are valid."""
        name = self.listed.name
        return [
            found
            for index, thing in enumerate(self.listed.all)
            for found in schema_problems(name, index, thing)
        ]

    @cached_property
    def pods(self) -> list[PodInfo]:
        """Return the pods as read, if this is a list of valid pods."""
        assert isinstance(self.ordinary, OrdinaryPods), "only pods are read"
        read = self.ordinary.read
        return [info or read(pod) for pod, info in zip(self.listed.all, self.known, strict=True)]


def problems(document: Any) -> list[Problem]:
    """Return all problems and remarks of a scenario; errors first, else in their own order.

    Any JSON value is accepted.

    Parameters
    ----------
    document : any
        A scenario as `simulate_document` takes it.

    """
    if not isinstance(document, Mapping):
        report = Report()
        report.wrong_type((), "an object", document)
        return report.problems
    return Inspection(document).problems()


def _inspect(document: Mapping[str, Any], name: str, before: InspectedList | None) -> InspectedList:
    """Inspect the objects of one list; objects found valid `before` are skipped."""
    kind, check = KINDS[name]
    report = Report()
    place, things = _things(document, name, report)
    same = {} if before is None else before.known_objects
    ordinary = (OrdinaryPods() if name == "pods" else Ordinary()) if before is None else before.ordinary
    known = []
    nameless = set()
    for index, (thing, recognised) in enumerate(zip(things, _known_as(things, same, ordinary), strict=True)):
        known.append(recognised)
        if recognised is not None:
            continue
        found = report.found()
        at = (place, index)
        report.set_subject(
            _subject(kind, thing, index, namespaced=name in NAMESPACED), at, _queue_name(name, thing)
        )
        check(thing, at, report)
        if found == report.found():
            known[-1] = ordinary.learn(thing)
        if not _is_named(thing):
            nameless.add(index)
    listed = (
        ListedPods(name, place, things, known)
        if name == "pods" and None not in known
        else Listed(name, place, things, frozenset(nameless))
    )
    return InspectedList(document.get(name), listed, report, ordinary, known)


def _known_as(things: list[Any], same: Mapping[int, Any], ordinary: Ordinary) -> Iterator[Any]:
    """Yield what each object is recognised as, None for an object that must be validated."""
    if not same:
        return ordinary.recognise(things)
    others = ordinary.recognise([thing for thing in things if same.get(id(thing)) is None])
    return (same.get(id(thing)) or next(others) for thing in things)


def _things(document: Mapping[str, Any], name: str, report: Report) -> tuple[Place, list[Any]]:
    """Return a list of the scenario and its place; it may be written as a Kubernetes List."""
    value = document.get(name)
    place: Place = ((), name)
    if isinstance(value, Mapping):
        value, place = value.get("items"), (place, "items")
    if value is None:
        return place, []
    if not isinstance(value, list):
        report.set_subject("the scenario", ())
        report.wrong_type(place, "a list of objects", value)
        return place, []
    return place, value


def _is_named(thing: Any) -> bool:
    if not isinstance(thing, Mapping) or not isinstance(thing.get("metadata"), Mapping):
        return False
    metadata = thing["metadata"]
    name, namespace = metadata.get("name"), metadata.get("namespace")
    parts = all(isinstance(thing.get(part, {}) or {}, Mapping) for part in ("spec", "status"))
    return isinstance(name, str) and bool(name) and isinstance(namespace or "", str) and parts


def _subject(kind: str, thing: Any, number: int, *, namespaced: bool) -> str:
    """Return the name of an object in messages: its own name, else its position."""
    if not _is_named(thing):
        return f"{kind} number {number + 1}"
    metadata = thing["metadata"]
    space = f"{metadata.get('namespace') or 'default'}/" if namespaced else ""
    return f"{kind} {space}{metadata['name']}"


def _queue_name(list_name: str, thing: Any) -> str:
    return str(thing["metadata"]["name"]) if list_name == "queues" and _is_named(thing) else ""
