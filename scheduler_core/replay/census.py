"""Where the pods of a Job stand, in sums that are kept up to date pod by pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from scheduler_core.controllers.lifecycle import Counts
from scheduler_core.controllers.vcjob import Task
from scheduler_core.replay.progress import Life
from scheduler_core.replay.world import World


class Standing(NamedTuple):
    """What counts of one pod.

    Attributes
    ----------
    place : str
        The sum of `Counts` to which it belongs; absent or requested: it does not exist.
    of_task : str
        The task that it names.
    is_ready : bool
        Whether its gang need not wait for it.
    has_succeeded : bool
        Whether it has succeeded, also if it terminates.
    restarts : int
        The restarts of its containers, while it lives.
    pace : str
        Whether its work goes on or is paused; empty: it does not run, or its node is lost.

    """

    place: str
    of_task: str = ""
    is_ready: bool = False
    has_succeeded: bool = False
    restarts: int = 0
    pace: str = ""


class Census:
    """The sums over the pods of a Job.

    Parameters
    ----------
    places : mapping
        Task and index of every pod, by namespace/name.

    Attributes
    ----------
    stirred : dict
        The pods whose standing may have changed since they were last counted; `World.stir` adds them.
    ready : int
        How many pods the gang need not wait for.
    absent : dict
        The pods that neither exist nor are requested, by the identity of their task.
    going, paused : dict
        The running pods whose work goes on, and those whose work is paused.
    succeeded : Counter
        By task: how many of its pods have succeeded.
    restarts : Counter
        By the identity of a task: the restarts of the containers of its living pods.

    """

    def __init__(self, places: Mapping[str, tuple[Task, int]]) -> None:
        self._places = places
        self._standings: dict[str, Standing] = {}
        self._sums = Counter[str]()
        self._successes = Counter[str]()
        self.stirred: dict[str, None] = dict.fromkeys(places)
        self.ready = 0
        self.absent: dict[int, dict[str, None]] = {}
        self.going: dict[str, None] = {}
        self.paused: dict[str, None] = {}
        self.succeeded = Counter[str]()
        self.restarts = Counter[int]()

    def renew(self, world: World, requested: Mapping[str, None]) -> Census:
        """Count the stirred pods again, and return the sums."""
        while self.stirred:
            key, _ = self.stirred.popitem()
            before = self._standings.get(key)
            self._standings[key] = standing = _standing(world, key, requested)
            if standing != before:
                if before is not None:
                    self._add(key, before, -1)
                self._add(key, standing, 1)
        return self

    def counts(self, requested: int) -> Counts:
        """Return the number of pods in each state; requested pods count as pending."""
        sums, successes = self._sums, self._successes
        return Counts(
            pending=requested + sums["pending"],
            running=sums["running"],
            succeeded=sums["succeeded"],
            failed=sums["failed"],
            terminating=sums["terminating"],
            successes={task: successes[task] for task in sorted(successes) if successes[task]},
        )

    def _add(self, key: str, standing: Standing, sign: int) -> None:
        """Add a pod with a standing to all sums, or subtract it."""
        task = self._places[key][0]
        self._sums[standing.place] += sign
        self.ready += sign * standing.is_ready
        self.succeeded[task.name] += sign * standing.has_succeeded
        self.restarts[id(task)] += sign * standing.restarts
        if standing.place == "succeeded":
            self._successes[standing.of_task] += sign
        for holds, pods in (
            (standing.place == "absent", self.absent.setdefault(id(task), {})),
            (standing.pace == "going", self.going),
            (standing.pace == "paused", self.paused),
        ):
            if holds and sign > 0:
                pods[key] = None
            elif holds:
                del pods[key]


def _standing(world: World, key: str, requested: Mapping[str, None]) -> Standing:
    """Return where a pod stands now."""
    life = world.lives.get(key)
    if life is None:
        return Standing("requested" if key in requested else "absent")
    runs = life.runs and not life.on_lost_node
    return Standing(
        _place(world, key, life),
        life.task,
        is_ready=life.has_ended or runs,
        has_succeeded=life.succeeded,
        restarts=0 if life.has_ended else life.restarts,
        pace="" if not runs else "paused" if life.since is None else "going",
    )


def _place(world: World, key: str, life: Life) -> str:
    """Return as what a pod counts; one whose container waits for its restart, or whose node is lost, runs."""
    if life.terminates:
        return "terminating"
    if life.succeeded:
        return "succeeded"
    if life.failed:
        return "failed"
    status = world.cluster.pods.infos[key].given.get("status") or {}
    return "running" if status.get("phase") == "Running" else "pending"
