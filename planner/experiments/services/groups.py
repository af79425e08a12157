"""Measurement of a claimed group of cells by a worker."""

import logging
import time
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connection

from planner.experiments.models import ExperimentGroup
from planner.experiments.selectors.experiments import VERIFYING
from planner.experiments.services.settling import experiment_settle
from planner.work.execution import Watch, retry_on_db_error
from planner.work.lifecycle import Claim, work_end, work_release
from planner.work.subprocess_runner import (
    ChildFailed,
    ChildKilled,
    ChildStopped,
    Task,
    run_child,
)
from planner.work.turns import has_awaited_work
from planning.documents import encoded
from planning.experiments.outcomes import Entry

logger = logging.getLogger(__name__)

KEEP_SECONDS = 0.3
"""The least interval at which new entries are stored."""
PATIENCE_BEATS = 2
"""After this many consecutive heartbeats with interactive work in the queue, a group yields to it."""


@dataclass
class _Measuring:
    """A group while its child measures it: the known entries, and the waiting interactive work."""

    claim: Claim[ExperimentGroup]
    watch: Watch
    entries: list[Entry]
    waits: int = 0
    makes_room: bool = False
    has_new: bool = False
    """Whether this attempt has measured a cell."""
    _next_keep: float = 0.0

    def beat(self, progress: float, doing: str) -> bool:
        """Renew the lease; return False if the child must stop, also to yield to interactive work."""
        if not self.watch.beat(progress, doing):
            return False
        try:
            self.waits = self.waits + 1 if has_awaited_work() else 0
        except DatabaseError:
            connection.close()
        self.makes_room = self.waits >= PATIENCE_BEATS
        return not self.makes_room

    def on_report(self, found: Any) -> None:
        """Add new entries; store them at intervals, while the database is unavailable with the next ones."""
        self.add(found["entry"])
        if time.monotonic() < self._next_keep:
            return
        self._next_keep = time.monotonic() + KEEP_SECONDS
        try:
            self.keep()
        except DatabaseError:
            logger.warning("The database is unavailable; measurement continues.")
            connection.close()

    def add(self, entry: Entry) -> None:
        """Add the entry of the next cell."""
        self.entries.append(entry)
        self.has_new = True

    def keep(self) -> bool:
        """Store the entries; a worker or child lost after this was working on a later cell."""
        later = {"losses": 0, "kills": 0} if self.has_new else {}
        return bool(self.claim.mine().update(measured=self.entries, **later))


def group_measure(claim: Claim[ExperimentGroup], watch: Watch) -> None:
    """Measure the cells of a group that are not measured yet, and end the group.

    A cell whose child exceeds time or memory, or is killed twice, is stored as an error, and the others
    continue. Raises ChildStopped, and ChildKilled the first time that a child is killed at a cell, as
    `run_child` does.
    """
    group = retry_on_db_error(
        lambda: ExperimentGroup.objects.select_related("experiment__input", "experiment__workload").get(
            pk=claim.id
        )
    )
    measuring = _Measuring(claim, watch, list(group.measured))
    try:
        _measure(group, measuring)
    except ChildStopped:
        kept = retry_on_db_error(measuring.keep)
        if not measuring.makes_room:
            raise
        retry_on_db_error(lambda: kept and work_release(claim=claim))
        return
    except ChildKilled as error:
        retry_on_db_error(measuring.keep)
        if measuring.has_new or not group.kills:
            raise
        measuring.add({"error": f"{error} This happened twice."})
    except ChildFailed as error:
        if len(measuring.entries) < len(group.cells):
            measuring.add({"error": str(error)})
    if len(measuring.entries) < len(group.cells):
        retry_on_db_error(lambda: measuring.keep() and work_release(claim=claim))
        return
    ended = retry_on_db_error(
        lambda: work_end(
            claim=claim, state=ExperimentGroup.State.SUCCEEDED, measured=measuring.entries, error=""
        )
    )
    if ended:
        retry_on_db_error(lambda: experiment_settle(experiment_id=group.experiment_id))


def _measure(group: ExperimentGroup, measuring: _Measuring) -> None:
    if len(measuring.entries) >= len(group.cells):
        return
    task = Task("The experiment", "planner.experiments.measuring")
    experiment, limits = group.experiment, measuring.watch.limits
    given = {
        "scenario": experiment.input.document(),
        "written": experiment.written,
        "workload": experiment.workload.content().decode() if experiment.workload else "",
        "cells": group.cells[len(measuring.entries) :],
        "verifies": group.number == VERIFYING,
        "seconds": limits.seconds / 2,
    }
    with run_child(task, [encoded(given)], limits, measuring.beat, measuring.on_report):
        return  # every cell was reported
