"""Calls of every route: the objects in its address, and a body that an editor or admin may send."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from planner.accounts.models import Role, User
from planner.accounts.services.invitations import invitation_create, invitation_offer
from planner.accounts.services.sessions import sessions_of
from planner.clusters.models import Snapshot
from planner.forecasts.selectors.targets import targets_tag, wait_targets
from planner.forecasts.services.prices import prices_set
from planner.runs.models import Run
from planner.runs.services.bundles import bundle_export
from planner.runs.services.links import link_create
from planner.scenarios.models import Scenario
from planner.scenarios.services.branches import scenario_branch
from planner.scenarios.services.history import undo
from planner.scenarios.services.queues import queue_update
from tests import factories
from tests.planner.recorded import experiment_done, forecast_done


def edited(scenario: Scenario) -> Scenario:
    """Return the scenario after one edit that stands and one that was undone."""
    for name in ("waits", "busy"):
        seen = scenario.revision
        queue_update(scenario=scenario, name=name, patch={"weight": seen + 1}, expected_revision=seen)
    return undo(scenario=scenario, expected_revision=scenario.revision)


def objects(run: Run, scenario: Scenario) -> dict[str, Any]:
    """Return one object of each kind for the addresses; `scenario` has edits, see `edited`."""
    colleague = factories.user("colleague", role=Role.VIEWER)
    admin = User.objects.get(username="admin").acting(Role.ADMIN)
    prices_set(workspace=run.workspace, pools={}, resources={"cpu": 0.03}, currency="USD")
    return {
        "import_id": factories.large_import().pk,
        "trace_id": factories.workload().pk, "forecast_id": forecast_done(factories.forecast(scenario)).pk,
        "rebase_id": factories.large_rebase(scenario).pk,
        "experiment_id": experiment_done(factories.experiment(scenario)).pk,
        "snapshot_id": scenario.snapshot_id, "cluster_id": scenario.snapshot.cluster_id,
        "scenario_id": scenario.pk, "run_id": run.pk,
        "workspace_id": run.workspace_id, "name": "waits", "username": colleague.username,
        "namespace": "default", "job": "wait", "pod": "wait-0", "node": "n0", "seq": 1,
        "order": run.victims.all()[0].order, "kind": "podgroups",
        "change_id": scenario.changes.get(revision=2).pk,
        "invitation_id": invitation_create(workspace=run.workspace, role=Role.VIEWER, user=admin)[0].pk,
        "link_id": link_create(run=run, user=admin)[0].pk, "token_key": "of-nobody", "session": "of-nobody",
    }  # fmt: skip


def tag(name: str, scenario: Scenario) -> str:
    """Return the current ETag of what a call of this name edits."""
    is_of_targets = name == "scenario-targets"
    return targets_tag(wait_targets(scenario)) if is_of_targets else str(scenario.revision)


def later_snapshot() -> Snapshot:
    """Return a snapshot taken six hours after the start of a forecast."""
    return factories.snapshot({**factories.cluster(), "now": "2026-01-01T06:00:00Z"}, name="later")


def bodies(run: Run) -> dict[tuple[str, str], Any]:
    """Return a body that each writing call of the API accepts."""
    return {
        ("post", "snapshots"): {"name": "again", "scenario": factories.cluster()},
        ("post", "import-cancel"): {},
        ("post", "rebase-cancel"): {},
        ("post", "sample"): None,
        ("post", "scenarios"): {"name": "again", "snapshot": str(run.scenario.snapshot_id)},
        ("post", "scenario-queues"): {"name": "new"},
        ("patch", "scenario-queue"): {"weight": 3},
        ("patch", "scenario-queues"): {"queues": {"busy": {"weight": "2x"}}},
        ("post", "scenario-preview"): {"queues": {"busy": {"weight": 9}}},
        ("delete", "scenario-queue"): None,
        ("delete", "scenario"): None,
        ("delete", "run"): None,
        ("delete", "snapshot"): None,
        ("delete", "cluster"): None,
        ("delete", "account"): {"confirmation": "a-long-test-password"},
        ("delete", "workspace"): None,
        ("post", "conf-lint"): {"text": factories.CONF},
        ("put", "scenario-release"): {"release": "v1.14.4"},
        ("patch", "scenario-document"): {
            "objects": {"nodes": [factories.node("n8")]},
            "removed": {"nodes": ["n0"]},
        },
        ("put", "scenario-conf"): {"text": factories.CONF.replace("reclaim", "preempt")},
        ("patch", "scenario-conf"): [{"op": "replace", "path": "/actions", "value": "allocate"}],
        ("post", "scenario-nodes"): factories.node("n9"),
        ("post", "nodes-add"): {"count": 2, "prefix": "more", "like": "n0"},
        ("patch", "scenario-node"): {"spec": {"unschedulable": True}},
        ("delete", "scenario-node"): None,
        ("post", "scenario-workloads"): {"job": {"name": "new", "replicas": 1}},
        ("patch", "scenario-workload"): {"minMember": 2},
        ("delete", "scenario-workload"): None,
        ("post", "scenario-branch"): {"name": "branch"},
        ("post", "scenario-rebase"): {"snapshot": str(run.scenario.snapshot_id)},
        ("post", "scenario-undo"): None,
        ("post", "scenario-redo"): None,
        ("post", "change-revert"): None,
        ("post", "diff-revert"): {"kind": "queues", "key": "waits", "field": "weight"},
        ("post", "scenario-runs"): {},
        ("patch", "scenario"): {"name": "renamed", "note": "for the review", "tags": ["review"]},
        ("patch", "run"): {"archived": True},
        ("post", "run-fit"): {"queue": "waits", "requests": {"cpu": "1"}},
        ("post", "run-cancel"): {},
        ("post", "traces"): {"name": "new", "text": factories.TRACE},
        ("delete", "trace"): None,
        ("put", "scenario-targets"): {"targets": {"waits": 600}},
        ("patch", "scenario-targets"): {"targets": {"waits": 300}},
        ("post", "scenario-forecasts"): {"trace": str(factories.workload().pk), "rest": "waits"},
        ("post", "forecast-cancel"): {},
        ("delete", "forecast"): None,
        ("post", "forecast-moment"): {"at": 60},
        ("post", "forecast-cost"): {"resources": {"cpu": 0.03}},
        ("post", "forecast-comparison"): {
            "with": str(forecast_done(factories.forecast(run.scenario)).pk),
            "prices": {},
        },
        ("put", "prices"): {"resources": {"cpu": 0.05}},
        ("post", "forecast-backtests"): {"snapshot": str(later_snapshot().pk)},
        ("post", "experiments"): {**factories.SWEEP, "scenario": str(run.scenario_id)},
        ("post", "experiment-cancel"): {},
        ("delete", "experiment"): None,
        ("post", "experiment-cell"): {},
        ("post", "experiment-cell-forecast"): {},
        ("post", "explain-unblock"): {},
        ("post", "run-upgrade"): {"from": "v1.14.4", "to": "v1.15.1"},
        ("post", "workspaces"): {"name": "new"},
        ("patch", "workspace"): {"name": "renamed"},
        ("put", "member"): {"role": "editor"},
        ("delete", "member"): None,
        ("post", "invitations"): {"role": "viewer"},
        ("delete", "invitation"): None,
        ("delete", "offer"): None,
        ("post", "offer-accept"): None,
        ("post", "tokens"): {"scope": "viewer"},
        ("delete", "token"): None,
        ("delete", "session"): None,
        ("post", "run-links"): {},
        ("delete", "run-link"): None,
        ("post", "bundles"): {"file": bundle_export(run=run)},
    }


def uploaded(body: Any) -> Any:
    """Return the body with a new file object, since reading a file moves its position to the end."""
    if body and "file" in body:
        return {"file": SimpleUploadedFile("run.zip", body["file"])}
    return body


def body_format(route: str | None) -> str:
    """Return the format of a route's body: only a bundle is sent as multipart."""
    return "multipart" if route == "bundles" else "json"


def form_data(run: Run, scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Return valid form data for each page that changes something."""
    seen = {"revision": str(scenario.revision)}
    newer = factories.snapshot(name=run.scenario.snapshot.name)
    return {
        "sample": {}, "import-begin": {}, "import-cancel": {}, "rebase-cancel": {}, "run-cancel": {},
        "import": {"documents": "apiVersion: v1\nkind: List\nitems: []\n", "name": "a"},
        "branch": {"name": "branch", **seen}, "scenario-remove": seen,
        "difference-revert": {"kind": "queues", "key": "waits", "field": "weight", **seen},
        "changes-walk": seen, "change-revert": seen,
        "carry-over": {"snapshot": str(newer.pk), **seen},
        "nodes-add": {"count": "1", "prefix": "more", "like": "n0", **seen},
        "nodes-change": {"action": "cordon", "node": "n0", **seen},
        "workloads-add": {"name": "new", "namespace": "default", "replicas": "1", "queue": "waits", **seen},
        "workload": {"remove": "1", **seen},
        "release": {"release": "v1.14.4", **seen},
        "conf": {"text": factories.CONF.replace("reclaim", "preempt"), **seen},
        "conf-edit": {
            "operations": '[{"op": "replace", "path": "/actions", "value": "allocate"}]', **seen,
        },
        "undo": seen, "redo": seen, "queues": {"name": "new", **seen}, "queue": {"weight": "9", **seen},
        "queues-preview": {"resource": "cpu"}, "reach": {"queue": "waits", "patch": '{"weight": 9}', **seen},
        "queues-edit": {"selected": "busy", "field": "weight", "value": "9", **seen},
        "queue-move": {"parent": "busy", **seen}, "queue-duplicate": seen, "queue-remove": seen,
        "scenario-labels": {"name": "renamed", "note": "", "tags": "review"},
        "run-labels": {"archived": "true"}, "compare-parent": {},
        "run-fit": {"queue": "waits", "requests.cpu": "1"},
        "run-submit": {}, "run-job-unblock": {}, "scenario-upgrade": {},
        "traces": {"name": "new", "text": factories.TRACE}, "trace-delete": {},
        "scenario-forecasts": {"trace": str(factories.workload().pk), "rest": "waits"},
        "scenario-targets": {"target.waits": "10m"}, "forecast-changes": {"change-0-at": "1h"},
        "forecast-prices": {"resources.cpu": "0.05"},
        "forecast-backtests": {"snapshot": str(later_snapshot().pk)},
        "scenario-experiments": {
            "first.setting": '{"field": "weight"}', "first.queue": "waits", "first.values": "2, 4",
        },
        "experiment-cancel": {}, "experiment-delete": {}, "experiment-cell": {},
        "forecast-cancel": {}, "forecast-delete": {}, "forecast-moment": {"at": "60"},
        "run-upgrade": {"from": "v1.14.4", "to": "v1.15.1"},
        "link-add": {"label": "review", "days": "7"}, "link-remove": {},
        "token-create": {"name": "report", "scope": "viewer", "days": "7"},
        "member": {"do": "remove"}, "invite": {"role": "viewer"}, "uninvite": {},
        "workspace-make": {"name": "new"}, "workspace-switch": {}, "workspace-rename": {"name": "renamed"},
        "workspace-leave": {}, "offer": {"do": "accept"},
        "password": {
            "old_password": "a-long-test-password",
            "new_password1": "another-long-phrase-8", "new_password2": "another-long-phrase-8",
        },
        "sessions": {}, "second-factor": {"do": "begin"},
        "account-delete": {"confirmation": "a-long-test-password"},
    }  # fmt: skip


def route_objects(run: Run, scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Return the objects in the address of a route where they differ from `objects`."""
    admin = User.objects.get(username="admin").acting(Role.ADMIN)
    _, invited = invitation_create(workspace=run.workspace, role=Role.VIEWER, user=admin)
    _, link = link_create(run=run, user=admin)
    kept = factories.large_import()
    type(kept).objects.filter(pk=kept.pk).update(snapshot=scenario.snapshot)
    waiting = {"run_id": factories.run(scenario).pk}
    tried = {"experiment_id": factories.experiment(scenario, {**factories.SWEEP, "run": {"cycles": 2}}).pk}
    forecasts = {**factories.FORECAST_SEARCH["forecast"], "seeds": 2, "period_seconds": 600}
    written = {**factories.FORECAST_SEARCH, "forecast": forecasts}
    in_time = {"experiment_id": experiment_done(factories.experiment(scenario, written)).pk, "number": 0}
    queued = {"forecast_id": factories.forecast(scenario).pk}
    timed = factories.scenario(document={**factories.cluster(), "now": "2026-01-01T00:00:00Z"})
    begun = {"forecast_id": forecast_done(factories.forecast(timed)).pk}
    token = {"token_key": factories.token(admin)[:15]}
    offer = invitation_offer(workspace=run.workspace, username="outsider", role=Role.EDITOR, user=admin)
    branch = scenario_branch(scenario=scenario, name="branch", user=admin)
    return {
        "planner:compare-parent": {"scenario_id": branch.pk},
        "planner:run-cancel": waiting, "api:run-cancel": waiting, "api:forecast-cancel": queued,
        "api:forecast-backtests": begun, "planner:forecast-backtests": begun,
        "api:experiment-cancel": tried, "planner:experiment-cancel": tried,
        "planner:forecast-cancel": queued,
        "api:session": {"session": sessions_of(admin).first().name},  # type: ignore[union-attr]
        "planner:token-revoke": token, "api:token": token,
        "planner:import-begin": {"import_id": kept.pk},
        "planner:run-queue": {"queue": "waits"}, "planner:run-job": {"name": "wait"},
        "planner:run-job-unblock": {"name": "wait"}, "planner:run-job-try": {"name": "wait", "number": 0},
        "planner:run-pod": {"name": "wait-0"}, "planner:workload": {"name": "wait"},
        "planner:revision": {"number": 1}, "planner:changes-walk": {"way": "undo"},
        "planner:export-download": {"part": "changed"},
        "api:experiment-cell": {"number": 1}, "planner:experiment-cell": {"number": 1},
        "api:experiment-cell-forecast": in_time,
        "planner:invitation": {"secret": invited}, "planner:shared": {"secret": link},
        "planner:offer": {"invitation_id": offer.pk}, "api:offer": {"invitation_id": offer.pk},
        "api:offer-accept": {"invitation_id": offer.pk},
    }  # fmt: skip
