"""Impact of another release: the differences in decisions, and the rules that cause them.

The same cluster is simulated under both releases. A rule causes a difference if the difference
disappears when the newer release is simulated without that rule: every attribution is a simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from scheduler_core.options import Options
from scheduler_core.parity import first_difference, first_replay_difference
from scheduler_core.prepared import Prepared, Result
from scheduler_core.release import Release, Rule
from scheduler_core.replay import replay_document

FIGURES = ("deserved", "realCapability", "inqueue", "share", "allocated")
LIVES = ("enqueued", "started", "finished", "evictions", "lost_seconds")
_CLOSE = 1e-9
_DECISIONS = Options(explain=False)


class Item(NamedTuple):
    """The key of one fact in a result.

    Attributes
    ----------
    kind : str
        "pod" (its node), "job" (whether it is enqueued, or a time in its life cycle), "queue" (a figure) or
        "scenario" (that it cannot be simulated).
    name : str
        The name of the pod, job or queue.
    what : str
        The fact.

    """

    kind: str
    name: str
    what: str


Facts = Mapping[Item, Any]


@dataclass(frozen=True)
class Difference:
    """A fact that differs between two releases.

    Attributes
    ----------
    old, new : any
        The fact under each release; None: absent.
    rules : tuple of Rule
        The rules that cause the difference.
    together : bool
        Whether only all these rules together cause it; otherwise reverting any one restores the old fact.

    """

    item: Item
    old: Any
    new: Any
    rules: tuple[Rule, ...] = ()
    together: bool = False


@dataclass(frozen=True)
class Impact:
    """The differences between two releases.

    Attributes
    ----------
    old, new : Release
        The releases before and after.
    differences : list of Difference
        The scenario first, then pods, jobs, queues; by name.
    kinds : tuple of str
        The kinds of things that are compared; a replay compares only jobs.
    causes : list of Rule
        The rules of the differences, and those that change anything else in the result; in the order of
        `Rule`.

    """

    old: Release
    new: Release
    differences: list[Difference] = field(default_factory=list)
    causes: list[Rule] = field(default_factory=list)
    kinds: tuple[str, ...] = ("pod", "job", "queue")

    @property
    def is_empty(self) -> bool:
        """Return whether the results of both releases are equal."""
        return not self.causes

    def of_kind(self, kind: str) -> list[Difference]:
        """Return the differences about pods, jobs, queues or the scenario."""
        return [difference for difference in self.differences if difference.item.kind == kind]


def upgrade_impact(
    prepared: Prepared,
    old: Release,
    new: Release,
    changes: Mapping[str, Any] | None = None,
    *,
    options: Options = _DECISIONS,
    begun: Callable[[Release], None] = lambda release: None,
) -> Impact:
    """Return how the decisions on a scenario differ under another release.

    Parameters
    ----------
    prepared : Prepared
        The scenario.
    old, new : Release
        The releases before and after; `new` may be the older one.
    changes : mapping, optional
        Parts of the document that differ, as `Prepared.simulate` takes them.
    options : Options
        How to simulate; its release is replaced in each simulation.
    begun : callable
        Called with the release before each simulation.

    """

    def decide(release: Release) -> Result:
        begun(release)
        return prepared.simulate(changes, replace(options, release=release))

    return _Comparison(decide, facts_of, first_difference, old, new).impact()


def replay_impact(document: Mapping[str, Any], old: Release, new: Release) -> Impact:
    """Return how the decisions of a replay differ under another release."""

    def decide(release: Release) -> Result:
        return replay_document(document, release=release)

    impact = _Comparison(decide, facts_over_time, first_replay_difference, old, new).impact()
    return replace(impact, kinds=("job",))


class _Comparison:
    """The results of two releases, and of the newer one with rules reverted.

    Parameters
    ----------
    decide : callable
        ``decide(release)``: the result under a release.
    facts : callable
        ``facts(result)``: the facts of a result, by item.
    parted : callable
        ``parted(some, others)``: where two results first differ, None if they are equal.

    """

    def __init__(
        self,
        decide: Callable[[Release], Result],
        facts: Callable[[Result], Iterator[tuple[Item, Any]]],
        parted: Callable[[Result, Result], str | None],
        old: Release,
        new: Release,
    ) -> None:
        self._decide = decide
        self._facts = facts
        self._parted = parted
        self.old, self.new = old, new
        self.switched = [rule for rule in Rule if rule in old.rules ^ new.rules]
        self._known: dict[frozenset[Rule], tuple[Result, Facts]] = {}

    def without(self, rules: Iterable[Rule]) -> tuple[Result, Facts]:
        """Return result and facts of the newer release with some rules reverted, simulated once per set."""
        key = frozenset(rules)
        if key not in self._known:
            result = self._decide(self.new.switched(key))
            self._known[key] = result, dict(self._facts(result))
        return self._known[key]

    def impact(self) -> Impact:
        """Return the differences with their causes."""
        (before, old_facts), (after, new_facts) = self.without(self.switched), self.without(())
        if self._parted(before, after) is None:
            return Impact(self.old, self.new)
        items = [
            item
            for item in sorted({*old_facts, *new_facts}, key=_place)
            if _differ(old_facts, new_facts, item)
        ]
        differences = [
            Difference(item, old_facts.get(item), new_facts.get(item), *self._causes_of(item))
            for item in items
        ]
        involved = {rule for difference in differences for rule in difference.rules}
        involved |= {
            rule for rule in self.switched if self._parted(self.without([rule])[0], after) is not None
        }
        involved = involved or {*self._together(lambda result, _: self._parted(result, before) is None)}
        causes = [rule for rule in self.switched if rule in involved]
        return Impact(self.old, self.new, differences, causes)

    def _causes_of(self, item: Item) -> tuple[tuple[Rule, ...], bool]:
        """Return the rules that cause the difference of an item, and whether only all of them together do."""
        _, before = self.without(self.switched)
        alone = [rule for rule in self.switched if not _differ(self.without([rule])[1], before, item)]
        if alone:
            return tuple(alone), False
        return tuple(self._together(lambda _, facts: not _differ(facts, before, item))), True

    def _together(self, restores: Callable[[Result, Facts], bool]) -> list[Rule]:
        """Return rules that have to be reverted together, none of which can be left out."""
        needed = list(self.switched)
        for rule in self.switched:
            fewer = [other for other in needed if other is not rule]
            if restores(*self.without(fewer)):
                needed = fewer
        return needed


_KINDS = ("scenario", "pod", "job", "queue")


def _place(item: Item) -> tuple[int, str, str]:
    return _KINDS.index(item.kind), item.name, item.what


def _differ(some: Facts, others: Facts, item: Item) -> bool:
    """Return whether a fact differs; an absent queue figure equals 0."""
    absent = 0 if item.kind == "queue" else None
    one, other = some.get(item, absent), others.get(item, absent)
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) > _CLOSE * max(abs(one), abs(other), 1.0)
    return bool(one != other)


def facts_of(result: Result) -> Iterator[tuple[Item, Any]]:
    """Yield the facts of a result about pods, jobs and queues, cycle by cycle."""
    if "error" in result:
        yield Item("scenario", "", "error"), result["error"]
    cycles = result.get("cycles") or []
    for cycle in cycles:
        where = f"cycle {cycle['cycle']}: " if len(cycles) > 1 else ""
        yield from _pod_facts(cycle, where)
        for podgroup in cycle["podgroups"]:
            yield Item("job", podgroup["name"], f"{where}phase"), podgroup["phase_after"]
        for moment, name in (("at_open", ""), ("at_end", " at the end")):
            yield from _queue_facts(cycle[moment], where, name)


def _pod_facts(cycle: Mapping[str, Any], where: str) -> Iterator[tuple[Item, Any]]:
    """Yield the nodes to which pods are bound or pipelined, and by what and for whom they are evicted."""
    for decision in cycle["decisions"]:
        if decision["op"] not in ("bind", "pipeline", "evict"):
            continue
        if decision["op"] == "evict":
            yield Item("pod", decision["pod"], f"{where}evicted by"), decision["action"]
            yield Item("pod", decision["pod"], f"{where}evicted for"), decision.get("for")
        else:
            yield Item("pod", decision["pod"], f"{where}{decision['op']}"), decision["node"]


def _queue_facts(state: Mapping[str, Any], where: str, when: str) -> Iterator[tuple[Item, Any]]:
    for queue in state.get("queues") or ():
        for figure in FIGURES:
            value = queue.get(figure)
            if isinstance(value, Mapping):
                for resource, amount in value.items():
                    yield Item("queue", queue["name"], f"{where}{figure} {resource}{when}"), amount
            elif value is not None:
                yield Item("queue", queue["name"], f"{where}{figure}{when}"), value


def facts_over_time(result: Mapping[str, Any]) -> Iterator[tuple[Item, Any]]:
    """Yield the times in the life cycles of a replay's jobs."""
    if "error" in result:
        yield Item("scenario", "", "error"), result["error"]
    for key, life in (result.get("jobs") or {}).items():
        for name in LIVES:
            if life[name] is not None:
                yield Item("job", key, name), life[name]
