"""Figures of the queue table, before and after a change, calculated by the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from planning.amounts import limited_amounts
from planning.deficits import share_of
from planning.demands import Demand, demand_of
from planning.reach.jobs import placed, podgroup_of
from planning.reach.kinds import (
    DOUBLED,
    WEIGHT,
    Grid,
    Kind,
    Move,
    amount_sizes,
    chain_of,
    request_sizes,
)
from planning.reach.limits import queue_limit
from planning.reach.questions import DESERVED, Question
from scheduler_core import Options, Reuse, prepare
from scheduler_core.conf import SchedulerConf, parse_conf
from scheduler_core.demand import queues_at_open
from scheduler_core.errors import InputError
from scheduler_core.explain import Unknown
from scheduler_core.explain.cycle_view import CycleView
from scheduler_core.explain.pending import diagnosis
from scheduler_core.explain.remedies.waiting import Waiting
from scheduler_core.release import release_of
from scheduler_core.resource import Resource
from traces.text import counted

Json = Mapping[str, Any]


class Unanswered(Exception):
    """The figure has no value in this scenario; the message says why."""


class Value(NamedTuple):
    """A figure after a change; `refused` says why the change cannot be made, empty if it can."""

    figure: float | None
    refused: str = ""


class Figure(Protocol):
    """A figure of one scenario.

    Attributes
    ----------
    now : float
        Its current value.

    """

    now: float

    def chain(self) -> Sequence[str]:
        """Return the queue whose fields change, and its ancestors if queues form a tree."""

    def grid(self) -> Grid:
        """Return the steps of each kind."""

    def after(self, kind: Kind, move: Move) -> Value:
        """Return the figure after a move."""

    def limit(self) -> str:
        """Return what bounds the figure, empty if nothing is known to."""


def conf_of(document: Json) -> SchedulerConf:
    """Return the configuration that applies.

    Raises
    ------
    Unanswered
        If it cannot be used.

    """
    try:
        return parse_conf(document.get("scheduler_conf"), release_of(document))
    except InputError as error:
        raise Unanswered(str(error)) from None


class QueueFigure:
    """The deserved amount of a queue, or its share, when a session opens: as on the page.

    Parameters
    ----------
    document : mapping
        The scenario, its configuration a structure.
    question : Question
        A question about a queue.
    demand : Demand, optional
        The result of `demand_of` for the document, if it is at hand.

    Raises
    ------
    Unanswered
        If the scenario cannot be simulated, or the queue has no such figure.

    """

    def __init__(self, document: Json, question: Question, demand: Demand | None = None) -> None:
        self.document, self.question = document, question
        try:
            self.demand = demand_of(document) if demand is None else demand
        except InputError as error:
            raise Unanswered(str(error)) from None
        opened = self._opened(self.demand, document["queues"])
        if wrong := opened.get("error") or opened.get("obstacle"):
            raise Unanswered(str(wrong))
        value = self._value(opened)
        if value is None:
            raise Unanswered(self._why_none(opened))
        self.now, self._entry = value, self._named(opened) or {}
        self._plugin = str(opened["queue_plugin"])

    def chain(self) -> Sequence[str]:
        """Return the queue and its ancestors."""
        is_tree = conf_of(self.document).hierarchy_enabled("capacity")
        return chain_of(self.document, self.question.queue, is_tree=is_tree)

    def grid(self) -> Grid:
        """Return steps that suit the missing amount of the resource."""
        resource, amount = self.question.resource, self.question.amount
        held = limited_amounts(self._entry.get("allocated")).get(resource) or 0.0
        deserved = limited_amounts(self._entry.get("deserved")).get(resource) or 0.0
        # A share is what is allocated of what is deserved: at the amount it deserves allocated / amount.
        wanted = amount if self.question.figure == DESERVED else held / amount if amount else deserved
        limit = self.demand.total.get(resource)
        return Grid(amount_sizes(resource, abs(wanted - deserved) or 1.0, limit))

    def after(self, kind: Kind, move: Move) -> Value:
        """Return the figure after a move."""
        demand, queues = self.demand, self.document["queues"]
        if move.count:
            demand = replace(demand, total=self._total_with(kind, move.count))
        else:
            queues = kind.parts(self.document, move)["queues"]
        opened = self._opened(demand, queues)
        return Value(self._value(opened), str(opened.get("error") or opened.get("obstacle") or ""))

    def limit(self) -> str:
        """Return what bounds the figure, empty if nothing is known to."""
        return queue_limit(self.question, self._entry, self._plugin)

    def _opened(self, demand: Demand, queues: Sequence[Json]) -> Json:
        return queues_at_open(demand, queues, self.document.get("scheduler_conf"))

    def _total_with(self, kind: Kind, count: int) -> Resource:
        """Return the total with added nodes, summed one by one as in the core."""
        sums = self._sums.setdefault(kind.like, [self.demand.total])
        if len(sums) == 1:
            model = next(node for node in self.document["nodes"] if node["metadata"]["name"] == kind.like)
            alone = {**self.document, "nodes": [model], "pods": [], "podgroups": [], "jobs": []}
            alone["nodes"] = kind.parts(alone, Move("1", {}, 1))["nodes"][1:]
            sums.append(demand_of(alone).total)
        one = sums[1]
        total = self.demand.total.clone()
        for _ in range(count):
            total.add(one)
        return total

    @cached_property
    def _sums(self) -> dict[str, list[Resource]]:
        return {}

    def _named(self, opened: Json) -> Json | None:
        queues: Sequence[Json] = opened.get("queues") or ()
        return next((queue for queue in queues if queue["name"] == self.question.queue), None)

    def _value(self, opened: Json) -> float | None:
        entry = self._named(opened)
        if entry is None or entry.get("deserved") is None:
            return None
        if self.question.figure == DESERVED:
            amount = limited_amounts(entry["deserved"]).get(self.question.resource, 0.0)
            return float("inf") if amount is None else amount
        return share_of(entry)

    def _why_none(self, opened: Json) -> str:
        name = self.question.queue
        if all(queue["metadata"]["name"] != name for queue in self.document["queues"]):
            return f"There is no queue {name!r}."
        if "queue_plugin" not in opened:
            return "Without plugin proportion or capacity no queue deserves anything."
        if self._named(opened) is None:
            return f"Queue {name} has no job, so it takes no part in the session and deserves nothing."
        return f"Queue {name} has no {self.question.figure}: there is nothing that it deserves."


class JobFigure:
    """The number of a job's pods with a node after one session, bound or pipelined.

    Parameters
    ----------
    document : mapping
        The scenario, its configuration a structure.
    question : Question
        A question about a job.

    Raises
    ------
    Unanswered
        If the scenario cannot be simulated, or has no such job.

    """

    def __init__(self, document: Json, question: Question) -> None:
        self.document = {**document, "cycles": 1}
        self._job, self._wanted = podgroup_of(document, question.job), question.amount
        self._prepared = prepare(self.document)
        shows = frozenset({"podgroups", "decisions"})
        self._options = Options(explain=False, reasons=False, reuse=Reuse(), shows=shows, job=self._job)
        result = self._prepared.simulate(options=self._options)
        if "error" in result:
            raise Unanswered(str(result["error"]))
        try:
            self._waiting = Waiting(CycleView(self.document, result), self._job, {})
        except Unknown as error:
            raise Unanswered(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
        self.now = float(placed(self._waiting.entry))

    def chain(self) -> Sequence[str]:
        """Return the job's queue and its ancestors."""
        is_tree = conf_of(self.document).hierarchy_enabled("capacity")
        return chain_of(self.document, self._waiting.queue, is_tree=is_tree)

    def grid(self) -> Grid:
        """Return doubled steps, for the sum of the waiting pods' requests.

        Raises
        ------
        Unanswered
            If no pod waits, so that nothing can place more of them.

        """
        if not self._waiting.pods:
            raise Unanswered(f"No pod of job {self._job} waits.")
        return Grid(request_sizes(self._waiting.request), DOUBLED, DOUBLED)

    def after(self, kind: Kind, move: Move) -> Value:
        """Return the figure after a move."""
        parts = kind.parts(self.document, move)
        if kind.field == WEIGHT and self._opens_as_before(parts):
            return Value(self.now)
        result = self._prepared.simulate(parts, self._options)
        if "error" in result:
            return Value(None, str(result["error"]))
        [entry] = result["cycles"][-1]["podgroups"]
        return Value(float(placed(entry)))

    def limit(self) -> str:
        """Return that the job has too few pods, or why it waits in the unchanged scenario."""
        pods = len(self._waiting.entry["tasks"])
        if pods < self._wanted:
            return f"Job {self._job} has only {counted(pods, 'pod')}."
        result = self._prepared.simulate({}, Options())
        known = diagnosis(CycleView(self.document, result), self._job)
        return "" if known is None else str(known["reason"]["sentence"])

    def _opens_as_before(self, parts: Json) -> bool:
        """Return whether a session with other weights equals the present one and need not be simulated again.

        Weights are read only by proportion, when a session opens, and by extenders. With equal accounts and
        no other change, sessions therefore decide alike.
        """
        if conf_of(self.document).first_option("extender") is not None:
            return False
        return self._opened(parts["queues"]) == self._opens

    @cached_property
    def _opens(self) -> Json:
        return self._opened(self.document["queues"])

    @cached_property
    def _demand(self) -> Demand:
        return demand_of(self.document)

    def _opened(self, queues: Sequence[Json]) -> Json:
        opened = queues_at_open(self._demand, queues, self.document.get("scheduler_conf"))
        listed = opened.get("queues") or ()
        return {**opened, "queues": [{**queue, "weight": None} for queue in listed]}
