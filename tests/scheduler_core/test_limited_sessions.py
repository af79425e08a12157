"""Sessions limited to one job end early, and report the same about it as full sessions."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from scheduler_core import Options, Reuse, prepare
from scheduler_core.actions.registry import ACTIONS
from scheduler_core.errors import SchedulerPanic
from scheduler_core.framework.worklist import is_left_out
from scheduler_core.reading import entries
from tests.builders import Object, session_of
from tests.shared import ROOT
from tests.trials import trials

CASES = ROOT / "tests" / "fidelity" / "cases"
FAMILIES = (
    "mixed",
    "gang",
    "preempt",
    "capacity_hierarchy",
    "proportion_reclaim",
    "overcommit",
    "gated",
    "mutated",
)
EACH = trials([6, 20], always=1)
"""Scenarios of each family."""


def documents(each: int) -> list[Object]:
    """Return recorded scenarios, each with its own actions and with some at random, in any order."""
    dice, found = Random(22), []
    for family in FAMILIES:
        for entry in islice(entries(str(CASES / f"{family}.jsonl.gz")), each):
            actions = ", ".join(dice.choices([*ACTIONS], k=dice.randint(2, 7)))
            conf = {**(entry.scenario.get("scheduler_conf") or {"tiers": []}), "actions": actions}
            found += [entry.scenario, {**entry.scenario, "scheduler_conf": conf}]
    return found


@pytest.mark.parametrize("each", EACH)
def test_job_reported_as_left_out_does_not_change_until_the_session_ends(each: int) -> None:
    actual = 0
    for document in documents(each):
        session = session_of(document)
        left_out: dict[str, Object] = {}
        try:
            for position, action in enumerate(session.conf.actions, start=1):
                session.action = action
                ACTIONS[action](session)
                for job in session.jobs.values():
                    if is_left_out(session, job, session.conf.actions[position:]):
                        left_out.setdefault(job.key, job.status_counts())
        except SchedulerPanic:
            continue
        for key, statuses in left_out.items():
            assert session.jobs[key].status_counts() == statuses, (document["name"], key)
        actual += len(left_out)
    assert actual > 5 * each


@pytest.mark.parametrize("each", EACH)
def test_result_limited_to_one_job_equals_that_part_of_the_full_result(each: int) -> None:
    """The sessions follow each other over one state."""
    shows = frozenset({"podgroups", "decisions"})
    requested = 0
    for document in documents(each)[::3]:
        prepared, reuse = prepare(document), Reuse()
        whole = prepared.simulate(options=Options(explain=False, reasons=False, cycles=1))
        for group in [] if "error" in whole else whole["cycles"][0]["podgroups"]:
            options = Options(
                explain=False, reasons=False, cycles=1, reuse=reuse, shows=shows, job=group["name"]
            )
            [shown] = prepared.simulate(options=options)["cycles"][0]["podgroups"]
            assert shown["tasks"] == group["tasks"], (document["name"], group["name"])
            requested += 1
    assert requested > 5 * each
