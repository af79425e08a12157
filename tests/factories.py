"""Rows for tests: a small cluster with two queues, one of which uses what the other deserves."""

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from planner.accounts.models import Membership, Role, User, Workspace
from planner.accounts.services.tokens import token_make
from planner.clusters.models import Import, Snapshot
from planner.clusters.services.imports import import_create, packed_files
from planner.clusters.services.snapshots import snapshot_create
from planner.experiments.models import Experiment
from planner.experiments.services.experiments import experiment_create
from planner.forecasts.models import Forecast, WorkloadTrace
from planner.forecasts.services.forecasts import forecast_create
from planner.forecasts.services.traces import trace_create, trace_of_text
from planner.runs.models import Run
from planner.runs.services.runs import run_create
from planner.scenarios.models import Rebase, Scenario
from planner.scenarios.services.rebases import rebase_create
from planner.scenarios.services.scenarios import scenario_create

GROUP = "scheduling.k8s.io/group-name"


def user(
    name: str = "editor", password: str = "a-long-test-password", *, role: Role | None = Role.EDITOR
) -> User:
    """Return an account with a role in the default workspace; without a role it is an outsider.

    It acts with all its rights, as in a browser session.
    """
    account = User.objects.filter(username=name).first() or User.objects.create_user(name, password=password)
    if role is not None:
        Membership.objects.get_or_create(workspace=workspace(), user=account, defaults={"role": role})
    return account.acting(Role.ADMIN)


def token(account: User, scope: Role = Role.ADMIN) -> str:
    """Return an API token of an account."""
    return token_make(user=account.acting(Role.ADMIN), scope=scope)[1]


def workspace() -> Workspace:
    return Workspace.objects.get_or_create(name=Workspace.DEFAULT)[0]


def node(name: str, **allocatable: str) -> dict[str, Any]:
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110", **allocatable}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def queue(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"weight": 1, "reclaimable": True, **spec},
        "status": {"state": "Open"},
    }


def podgroup(name: str, queue: str, *, min_member: int = 1, phase: str = "Pending") -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"minMember": min_member, "queue": queue},
        "status": {"phase": phase},
    }


def pod(name: str, group: str, *, node: str = "", cpu: str = "1") -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": "1Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {GROUP: group},
        },
        "spec": {
            "schedulerName": "volcano",
            "containers": [{"name": "c", "image": "busybox", "resources": {"requests": requests}}],
            **({"nodeName": node} if node else {}),
        },
        "status": {"phase": "Running" if node else "Pending"},
    }


def cluster(*, nodes: int = 2, waiting: int = 4) -> dict[str, Any]:
    """Return a scenario document: queue `busy` fills every node, queue `waits` has pending pods."""
    return {
        "name": "two queues",
        "nodes": [node(f"n{number}") for number in range(nodes)],
        "queues": [queue("busy", weight=1), queue("waits", weight=1, capability={"cpu": "12"})],
        "podgroups": [podgroup("run", "busy", phase="Running"), podgroup("wait", "waits", phase="Inqueue")],
        "pods": [
            *(pod(f"run-{number}", "run", node=f"n{number // 8}") for number in range(nodes * 8)),
            *(pod(f"wait-{number}", "wait") for number in range(waiting)),
        ],
    }


CONF = """\
actions: "enqueue, allocate, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: proportion
  - name: predicates
  - name: nodeorder
"""


def snapshot(document: dict[str, Any] | None = None, *, name: str = "small", conf: str = CONF) -> Snapshot:
    return snapshot_create(
        workspace=workspace(),
        name=name,
        document=document or cluster(),
        scheduler_conf=conf,
        counts={"Node": 2, "Queue": 2},
        provenance="made for a test",
    )


def large_import(
    files: Sequence[tuple[str, bytes]] | None = None, *, owner: User | None = None, is_dry: bool = False
) -> Import:
    """Return a queued import, of the small cluster unless files are given."""
    sent = files or [("small.json", json.dumps({**cluster(), "scheduler_conf": CONF}).encode())]
    return import_create(
        files=packed_files([(label, BytesIO(content)) for label, content in sent]),
        workspace=workspace(),
        name="large",
        provenance=", ".join(label for label, _ in sent),
        is_dry=is_dry,
        user=owner,
    )


def scenario(name: str = "what if", **kwargs: Any) -> Scenario:
    return scenario_create(snapshot=snapshot(**kwargs), name=name, owner=user())


def large_rebase(scenario: Scenario) -> Rebase:
    """Return a queued rebase of a scenario onto its own snapshot."""
    return rebase_create(
        scenario=scenario,
        snapshot=scenario.snapshot,
        name="rebased",
        choices={},
        expected_revision=scenario.revision,
    )


def run(of: Scenario | None = None, **options: Any) -> Run:
    return run_create(scenario=of or scenario(), options=options, user=user())


TRACE = """\
name,queue,submit_seconds,run_seconds,pods,min_member,cpu,memory
first,busy,0,600,4,4,1,1Gi
second,waits,60,300,2,2,1,1Gi
third,waits,120,1200,6,6,1,1Gi
fourth,other,180,60,1,1,1,1Gi
"""


def workload(text: str = TRACE, *, name: str = "four jobs") -> WorkloadTrace:
    """Return a small workload with one queue that the small cluster lacks."""
    return trace_create(workspace=workspace(), name=name, read=trace_of_text(text=text), user=user())


def forecast(of: Scenario | None = None, *, under: WorkloadTrace | None = None, **options: Any) -> Forecast:
    """Return a queued forecast of an hour."""
    payload = {"horizon_seconds": 3600.0, "period_seconds": 10.0, "rest": "waits", **options}
    return forecast_create(scenario=of or scenario(), trace=under or workload(), options=payload, user=user())


SWEEP = {
    "name": "weight or nodes",
    "settings": [
        {"queue": "waits", "field": "weight", "values": [2, 3, 4]},
        {"like": "n0", "range": {"from": 1, "to": 2, "step": 1}, "price": 3},
    ],
    "figures": [
        {"figure": "waiting_pods", "better": "less"},
        {"figure": "evictions", "better": "less"},
        {"figure": "allocated", "queue": "waits", "resource": "cpu"},
    ],
}
"""Twelve cells of the small cluster."""
SEARCH = {
    "name": "until nothing waits",
    "settings": SWEEP["settings"],
    "goals": [{"figure": "waiting_pods", "at_most": 0}, {"figure": "evictions", "at_most": 0}],
}


FORECAST_SWEEP = {
    "name": "waits by nodes",
    "settings": [
        {"like": "n0", "values": [1, 2], "price": 3},
        {"queue": "waits", "field": "capability", "resource": "cpu", "values": ["16"], "at": "10m"},
    ],
    "figures": [
        {"figure": "wait_p95", "better": "less"},
        {"figure": "wait_p50", "queue": "waits"},
        {"figure": "evictions", "better": "less"},
        {"figure": "lost_hours"},
        {"figure": "utilisation", "resource": "cpu"},
        {"figure": "deficit", "resource": "cpu"},
        {"figure": "cost"},
        {"figure": "waiting_jobs"},
    ],
    "forecast": {
        "trace": "morning",
        "horizon_seconds": 3600,
        "period_seconds": 20,
        "rest": "waits",
        "prices": {"resources": {"cpu": 0.05}},
    },
}
"""Six cells, each a forecast of an hour under the trace `morning`."""
FORECAST_SEARCH = {
    "name": "nodes until the wait is short",
    "settings": [{"like": "n0", "range": {"from": 1, "to": 3, "step": 1}, "price": 3}],
    "goals": [{"figure": "wait_p95", "queue": "waits", "at_most": "10m"}],
    "forecast": {
        "patterns": [
            {
                "queue": "waits",
                "jobs_per_hour": 6,
                "run_median": 120,
                "run_spread": 0.5,
                "requests": {"cpu": "1"},
            }
        ],
        "horizon_seconds": 3600,
        "period_seconds": 20,
        "seeds": 3,
        "unseen_seeds": 4,
    },
}
"""Four cells, each three forecasts."""


def experiment(
    of: Scenario | None = None, written: Mapping[str, Any] = SWEEP, owner: User | None = None
) -> Experiment:
    """Return an experiment without measured cells."""
    return experiment_create(scenario=of or scenario(), written=written, user=owner)
