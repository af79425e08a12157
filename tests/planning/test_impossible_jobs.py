"""A job that can never run does not run alone in the cluster either."""

import gzip
import json
from itertools import islice
from typing import Any

import pytest

from planning.impossible_jobs import never_runs
from planning.outcomes import rows_of
from planning.rows import waits
from scheduler_core import Options, simulate_document
from scheduler_core.model.pod_info import GROUP_NAME
from tests.builders import Object, conf, node, podgroup, pods, scenario
from tests.needs import unavailable
from tests.shared import SHARED
from tests.trials import trials

FAMILIES = sorted((SHARED / "golden").glob("*.jsonl.gz"), key=lambda path: path.name != "predicates.jsonl.gz")
LARGEST = 400_000
"""The maximum length of a recorded scenario and its result, in characters."""


def never_running_jobs(document: Object) -> dict[str, str]:
    """Return the jobs reported as never running, with the reasons."""
    result = simulate_document(document)
    if "error" in result:
        return {}
    rows = rows_of(result, document)
    found = {job["job"]: never_runs(job) for job in rows.jobs if waits(job)}
    return {job: why for job, why in found.items() if why}


def alone(document: Object, job: str) -> Object:
    """Return the scenario with this job only, in three cycles."""

    def is_own(entry: Object, name: Any) -> bool:
        return f"{entry['metadata'].get('namespace', 'default')}/{name}" == job

    groups = [one for one in document["podgroups"] if is_own(one, one["metadata"]["name"])]
    notes = [one["metadata"].get("annotations") or {} for one in document["pods"]]
    named = zip(document["pods"], notes, strict=True)
    own = [one for one, note in named if is_own(one, note.get(GROUP_NAME))]
    return {**document, "podgroups": groups, "pods": own, "cycles": 3}


def runs(document: Object, job: str) -> bool:
    result = simulate_document(document, Options(explain=False))
    (entry,) = [entry for entry in result["cycles"][-1]["podgroups"] if entry["name"] == job]
    return bool(entry["ready"]) and any(task["status"] in ("Bound", "Running") for task in entry["tasks"])


@pytest.mark.parametrize("path", trials(FAMILIES, always=1), ids=lambda path: path.name.partition(".")[0])
def test_a_job_reported_as_never_running_does_not_run_alone(path: Any) -> None:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in islice(lines, 0, 90, 3) if len(line) < LARGEST]
    false = [
        (document["name"], job, why)
        for document in (entry["scenario"] for entry in recorded)
        if not document.get("jobs")
        for job, why in never_running_jobs(document).items()
        if runs(alone(document, job), job)
    ]
    assert false == []


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"nodeSelector": {"zone": "nowhere"}}, "barred"),
        ({"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]}, ""),
    ],
    ids=["no node has the label", "another pod uses the port"],
)
def test_only_refusals_not_caused_by_other_pods_are_permanent(spec: Object, why: str) -> None:
    port = {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
    document = scenario(
        nodes=[node("n1", cpu=8)],
        podgroups=[podgroup("old", phase="Running"), podgroup("j")],
        pods=[*pods("old", 1, node="n1", cpu=1, spec=port), *pods("j", 1, cpu=1, spec=spec)],
        conf=conf("allocate", ["gang"], ["predicates", "proportion"]),
    )
    assert never_running_jobs(document) == ({"default/j": why} if why else {})


@pytest.mark.parametrize(("members", "why"), [(2, ""), (3, "members")])
def test_terminating_pods_count_as_members_since_they_are_created_again(members: int, why: str) -> None:
    leaving, waiting = pods("j", 2, cpu=1)
    leaving["spec"]["nodeName"], leaving["status"] = "n1", {"phase": "Running"}
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z"
    document = scenario(
        nodes=[node("n1", cpu=8)],
        podgroups=[podgroup("j", min_member=members)],
        pods=[leaving, waiting],
        conf=conf("allocate", ["gang"], ["predicates", "proportion"]),
    )
    assert never_running_jobs(document) == ({"default/j": why} if why else {})


def test_recorded_scenarios_are_available() -> None:
    if not FAMILIES:
        unavailable(f"{SHARED / 'golden'} has no recorded scenarios")
