"""Rows for tests: a small cluster with two queues, one of which holds what the other deserves."""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from planner.accounts.models import Membership, Role, User, Workspace
from planner.accounts.services.tokens import token_make
from planner.clusters.models import Import, Snapshot
from planner.clusters.services.imports import import_create, packed_files
from planner.clusters.services.snapshots import snapshot_create
from planner.runs.models import Run
from planner.runs.services.runs import run_create
from planner.scenarios.models import Scenario
from planner.scenarios.services.scenarios import scenario_create

GROUP = "scheduling.k8s.io/group-name"


def user(
    name: str = "editor", password: str = "a-long-test-password", *, role: Role | None = Role.EDITOR
) -> User:
    """Return an account with a role in the default workspace; without a role it is an outsider.

    It acts without a limit, as somebody in a session does.
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
    """Return an import that waits for a worker, of the small cluster unless files are given."""
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


def run(of: Scenario | None = None, **options: Any) -> Run:
    return run_create(scenario=of or scenario(), options=options, user=user())
