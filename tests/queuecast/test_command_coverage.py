"""Every operation of the API has a command, or a stated reason for having none."""

import json
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from pytest_django.live_server_helper import LiveServer

from planner.accounts.models import Invitation, Membership, Role, Workspace
from planner.accounts.services.invitations import invitation_offer
from planner.accounts.services.workspaces import workspace_create
from queuecast.__main__ import main
from queuecast.arguments import parser
from queuecast.completion import chains
from tests import factories

COMMANDS = {
    "bundles_create": "bundle import",
    "clusters_destroy": "delete",
    "forecasts_destroy": "delete",
    "workspaces_destroy": "delete",
    "runs_destroy": "delete",
    "snapshots_destroy": "delete",
    "comparisons_retrieve": "compare",
    "conf_lint_create": "conf lint",
    "experiments_create": "sweep",
    "experiments_retrieve": "sweep",
    "experiments_cells_list": "sweep",
    "forecasts_list": "forecasts list",
    "forecasts_retrieve": "forecasts wait",
    "forecasts_cancel_create": "forecasts cancel",
    "forecasts_comparison_create": "forecast",
    "forecasts_comparison_retrieve": "forecasts compare",
    "forecasts_cost_create": "forecasts cost",
    "forecasts_evictions_list": "forecasts evictions",
    "forecasts_jobs_list": "forecasts jobs",
    "forecasts_moment_create": "forecasts moment",
    "forecasts_series_retrieve": "forecasts queues",
    "forecasts_verdict_retrieve": "forecasts show",
    "imports_retrieve": "import",
    "snapshots_create": "import",
    "invitations_list": "offer list",
    "invitations_destroy": "offer decline",
    "invitations_accept_create": "offer accept",
    "runs_list": "runs",
    "runs_retrieve": "wait",
    "runs_cancel_create": "cancel",
    "runs_bundle_retrieve": "bundle export",
    "runs_decisions_list": "decisions",
    "runs_victims_list": "victims",
    "runs_queues_list": "queues",
    "runs_jobs_list": "jobs",
    "runs_explain_jobs_retrieve": "explain",
    "runs_explain_queues_retrieve": "explain",
    "runs_explain_victims_retrieve": "explain",
    "runs_explain_nodes_retrieve": "explain",
    "runs_links_list": "link list",
    "runs_links_create": "link create",
    "runs_links_destroy": "link revoke",
    "sample_create": "sample",
    "scenarios_list": "scenario list",
    "scenarios_create": "scenario create",
    "scenarios_retrieve": "open",
    "scenarios_partial_update": "scenario rename",
    "scenarios_destroy": "scenario remove",
    "scenarios_branch_create": "scenario branch",
    "scenarios_changes_list": "history",
    "scenarios_conf_retrieve": "conf patch",
    "scenarios_conf_update": "conf set",
    "scenarios_conf_partial_update": "conf patch",
    "scenarios_diff_retrieve": "scenario diff",
    "scenarios_diff_revert_create": "revert",
    "scenarios_document_retrieve": "diff",
    "scenarios_document_partial_update": "apply",
    "scenarios_export_retrieve": "scenario export",
    "scenarios_validate_retrieve": "scenario validate",
    "scenarios_forecasts_create": "forecast",
    "scenarios_targets_retrieve": "target list",
    "scenarios_targets_partial_update": "target set",
    "scenarios_nodes_list": "node list",
    "scenarios_nodes_add_create": "node add",
    "scenarios_nodes_partial_update": "node set",
    "scenarios_nodes_destroy": "node remove",
    "scenarios_preview_retrieve": "preview",
    "scenarios_reach_retrieve": "reach",
    "scenarios_queues_list": "queue list",
    "scenarios_queues_create": "queue add",
    "scenarios_queues_partial_update": "queue set",
    "scenarios_queues_destroy": "queue remove",
    "scenarios_rebase_retrieve": "scenario rebase",
    "scenarios_rebase_create": "scenario rebase",
    "rebases_retrieve": "scenario rebase",
    "scenarios_release_retrieve": "release",
    "scenarios_release_update": "release",
    "scenarios_runs_list": "runs",
    "scenarios_runs_create": "run",
    "scenarios_undo_create": "undo",
    "scenarios_redo_create": "redo",
    "scenarios_workloads_list": "job list",
    "scenarios_workloads_create": "job add",
    "scenarios_workloads_partial_update": "job set",
    "scenarios_workloads_destroy": "job remove",
    "snapshots_list": "snapshot list",
    "snapshots_document_retrieve": "check",
    "tokens_list": "token list",
    "tokens_create": "token create",
    "tokens_destroy": "token revoke",
    "traces_list": "trace list",
    "traces_create": "trace upload",
    "traces_destroy": "trace delete",
    "traces_preview_retrieve": "trace preview",
    "workspaces_list": "workspace list",
    "workspaces_create": "workspace create",
    "workspaces_partial_update": "workspace rename",
    "workspaces_members_list": "member list",
    "workspaces_members_update": "member set",
    "workspaces_members_destroy": "member remove",
    "workspaces_invitations_list": "invite list",
    "workspaces_invitations_create": "invite create",
    "workspaces_invitations_destroy": "invite revoke",
    "clusters_list": "cluster list",
    "imports_list": "imports list",
    "imports_cancel_create": "imports cancel",
    "runs_nodes_retrieve": "nodes",
    "runs_verdict_retrieve": "verdict",
    "runs_explain_jobs_unblock_retrieve": "unblock",
    "runs_explain_jobs_unblock_create": "unblock",
    "runs_partial_update": "label",
    "experiments_list": "experiments list",
    "experiments_destroy": "delete",
    "experiments_cancel_create": "experiments cancel",
    "experiments_cells_forecast_create": "experiments forecast",
    "experiments_cells_scenario_create": "experiments open",
    "status_retrieve": "status",
    "workspaces_changes_list": "workspace changes",
    "workspaces_history_list": "workspace history",
    "workspaces_prices_retrieve": "price list",
    "workspaces_prices_update": "price set",
    "forecasts_cost_retrieve": "forecasts cost",
}
"""The command of each operation."""
_ONE_BY_ONE = "The list has the same rows; a command takes names, so it reads the list."
_ON_PAGES = "Made for the page that shows it; another command returns the same for the whole."
_BY_DOCUMENT = "`apply` and `queue set` edit by the document of the scenario or one queue at a time."
_PERSON = "A decision of a person about their own account, made in a browser."
REASONS = {
    "account_destroy": _PERSON,
    "sessions_list": _PERSON,
    "sessions_destroy": _PERSON,
    "logins_list": _PERSON,
    "clusters_retrieve": _ONE_BY_ONE,
    "snapshots_retrieve": _ONE_BY_ONE,
    "traces_retrieve": _ONE_BY_ONE,
    "workspaces_retrieve": _ONE_BY_ONE,
    "scenarios_nodes_retrieve": _ONE_BY_ONE,
    "scenarios_queues_retrieve": _ONE_BY_ONE,
    "scenarios_workloads_retrieve": _ONE_BY_ONE,
    "scenarios_forecasts_list": _ONE_BY_ONE,
    "runs_decisions_groups_retrieve": _ON_PAGES,
    "runs_jobs_groups_retrieve": _ON_PAGES,
    "runs_victims_groups_retrieve": _ON_PAGES,
    "runs_explain_flow_retrieve": _ON_PAGES,
    "runs_explain_loops_retrieve": _ON_PAGES,
    "runs_explain_pods_retrieve": _ON_PAGES,
    "runs_explain_steps_retrieve": _ON_PAGES,
    "runs_fit_retrieve": _ON_PAGES,
    "search_retrieve": _ON_PAGES,
    "scenarios_preview_create": _ON_PAGES,
    "runs_fit_create": "A question about one pod of a finished run, asked on the page of its nodes.",
    "runs_upgrade_retrieve": "`upgrade` computes it from files.",
    "runs_upgrade_create": "`upgrade` computes it from files.",
    "runs_input_retrieve": "`bundle export` holds it.",
    "runs_result_retrieve": "`bundle export` holds it.",
    "rebases_cancel_create": "`scenario rebase` follows it to its end; its page cancels it.",
    "scenarios_nodes_create": _BY_DOCUMENT,
    "scenarios_queues_edit": _BY_DOCUMENT,
    "scenarios_changes_revert_create": "`undo` and `revert` put back what a change did.",
    "scenarios_targets_update": "`target set` changes only the targets that it names.",
    "forecasts_backtests_list": "`forecast --real` compares files.",
    "forecasts_backtests_create": "`forecast --real` compares files.",
}
"""Why an operation has no command."""


def test_every_operation_of_the_api_has_a_command_or_a_reason() -> None:
    schema = SchemaGenerator().get_schema(public=True)
    operations = {call["operationId"] for calls in schema["paths"].values() for call in calls.values()}
    assert operations == COMMANDS.keys() | REASONS.keys()
    assert not COMMANDS.keys() & REASONS.keys()
    assert {" ".join(words) for words in chains(parser())} >= set(COMMANDS.values())


@pytest.fixture
def logged_in(db: None, live_server: LiveServer, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An admin of the default workspace, with a token of that scope."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("QUEUECAST_URL", live_server.url)
    monkeypatch.setenv(
        "QUEUECAST_TOKEN", factories.token(factories.user("admin", role=Role.ADMIN), Role.ADMIN)
    )


def json_output(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "-o", "json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.django_db(transaction=True)
def test_the_sample_is_created_once_and_listed_by_its_name(
    logged_in: None, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = json_output(capsys, "sample")
    assert opened["name"] in [one["name"] for one in json_output(capsys, "scenario", "list")]
    assert json_output(capsys, "sample")["id"] == opened["id"]


@pytest.mark.django_db(transaction=True)
def test_members_are_invited_changed_and_removed(logged_in: None, capsys: pytest.CaptureFixture[str]) -> None:
    link = json_output(capsys, "invite", "create", "viewer")
    assert link["address"].startswith("http")
    json_output(capsys, "invite", "revoke", link["id"])
    factories.user("colleague", role=Role.VIEWER)
    assert json_output(capsys, "member", "set", "colleague", "editor")["role"] == "editor"
    json_output(capsys, "member", "remove", "colleague")
    assert [one["user"] for one in json_output(capsys, "member", "list")] == ["admin"]
    json_output(capsys, "member", "set", "colleague", "viewer")
    assert [one["username"] for one in json_output(capsys, "invite", "list")] == ["colleague"]


@pytest.mark.django_db(transaction=True)
def test_an_offer_is_accepted_or_declined_by_the_name_of_its_workspace(
    logged_in: None, capsys: pytest.CaptureFixture[str]
) -> None:
    boss = factories.user("boss", role=None)
    others = workspace_create(name="others", user=boss).workspace
    for role in (Role.VIEWER, Role.EDITOR):
        invitation_offer(workspace=others, username="admin", role=role, user=boss)
        (offer,) = json_output(capsys, "offer", "list")
        json_output(capsys, "offer", "decline" if role == Role.VIEWER else "accept", "others")
    assert (offer["workspace"], offer["role"]) == ("others", "editor")
    assert not Invitation.objects.filter(accepted_by=None).exists()
    assert Membership.objects.get(workspace=others, user__username="admin").role == "editor"
    assert {one["name"] for one in json_output(capsys, "workspace", "list")} == {Workspace.DEFAULT, "others"}
    assert json_output(capsys, "workspace", "rename", Workspace.DEFAULT, "mine")["name"] == "mine"
    assert main(["member", "list"]) == 2
    assert "Name a workspace: " in capsys.readouterr().err
    assert json_output(capsys, "workspace", "create", "new", "--dry-run")["name"] == "new"
