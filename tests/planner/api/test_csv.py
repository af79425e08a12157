"""CSV tables have the API's figures and units in the header, and no cell that a spreadsheet evaluates."""

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Event, Membership, Role, User
from planner.accounts.services.invitations import invitation_create
from planner.accounts.services.tokens import token_make
from planner.runs.models import Run
from planner.scenarios.services.queues import queue_create, queue_update
from tests import factories
from tests.planner.pages import text_of
from tests.worker import do_work

TABLES_OF_A_WORKSPACE = ("members", "invitations", "history", "changes")


def rows(api: APIClient, address: str) -> list[dict[str, str]]:
    answer: Any = api.get(address, HTTP_ACCEPT="*/*")
    assert answer.status_code == 200, answer.content
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"].endswith('.csv"')
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode(), newline="")))


def run_url(run: Run, part: str, query: str = "format=csv") -> str:
    return f"/api/v1/runs/{run.pk}/{part}/?{query}"


def test_csv_figures_equal_those_of_the_api(api: APIClient, finished_run: Run) -> None:
    data = api.get(run_url(finished_run, "queues", "")).json()["results"]
    table = rows(api, run_url(finished_run, "queues"))
    assert [row["queue"] for row in table] == [row["queue"] for row in data]
    for row, body in zip(table, data, strict=True):
        assert float(row["share (ratio)"] or 0) == (body["share"] or 0)
        for resource, amount in body["allocated"].items():
            assert float(row[f"allocated.{resource} ({amount['unit']})"]) == amount["value"]
    assert {row["capability.cpu (millicores)"] for row in table} >= {"12000"}


@pytest.mark.parametrize("part", ["jobs", "victims", "decisions"])
def test_a_csv_table_is_complete_and_in_list_order(api: APIClient, finished_run: Run, part: str) -> None:
    body = api.get(run_url(finished_run, part, "page_size=1000")).json()["results"]
    table = rows(api, run_url(finished_run, part, "format=csv&page_size=1"))
    assert body
    names = [name for name, value in body[0].items() if isinstance(value, str)]
    assert [[row[name] for name in names] for row in table] == [[row[name] for name in names] for row in body]


def test_a_csv_table_honours_filters_and_fields(api: APIClient, finished_run: Run) -> None:
    table = rows(api, run_url(finished_run, "jobs", "format=csv&queue=waits&fields=job,queue"))
    assert table == [{"job": "default/wait", "queue": "waits"}]
    assert api.get(run_url(finished_run, "jobs", "format=csv&fields=jbo")).status_code == 422
    assert api.get(run_url(finished_run, "jobs", "format=xml")).status_code == 422


@pytest.mark.parametrize(
    ("part", "query", "columns"),
    [
        ("jobs/groups", "by=queue&fields=value,rows", ["value", "rows"]),
        ("nodes", "fields=node,pool", ["node", "pool"]),
    ],
)
def test_fields_select_row_columns_when_a_table_is_part_of_a_response(
    api: APIClient, finished_run: Run, part: str, query: str, columns: list[str]
) -> None:
    table = rows(api, run_url(finished_run, part, f"format=csv&{query}"))
    assert table
    assert all(list(row) == columns for row in table)
    unknown = query.replace("fields=", "fields=nothing,")
    assert api.get(run_url(finished_run, part, f"format=csv&{unknown}")).status_code == 422


def test_scenario_tables_export_as_csv(api: APIClient, finished_run: Run) -> None:
    scenario = finished_run.scenario
    at = f"/api/v1/scenarios/{scenario.pk}/"
    queue_update(scenario=scenario, name="waits", patch={"weight": 3}, expected_revision=1)
    assert [row["weight"] for row in rows(api, f"{at}queues/?format=csv")] == ["1", "3"]
    assert [row["metadata.name"] for row in rows(api, f"{at}nodes/?format=csv")] == ["n0", "n1"]
    workloads = rows(api, f"{at}workloads/?format=csv")
    assert [(row["name"], row["pending (pods)"]) for row in workloads] == [("run", "0"), ("wait", "4")]
    assert [(row["key"], row["after"]) for row in rows(api, f"{at}diff/?format=csv")] == [("waits", "3")]
    assert [(row["path"], row["before"]) for row in rows(api, f"{at}changes/?format=csv")] == [
        ("queues.waits.weight", "1")
    ]
    body = api.get(f"{at}validate/").json()["problems"]
    assert [row["rule"] for row in rows(api, f"{at}validate/?format=csv")] == [one["rule"] for one in body]
    assert len(rows(api, f"{at}preview/?format=csv")) == len(api.get(f"{at}preview/").json()["queues"])


def test_account_tables_leak_no_secrets(api: APIClient, browser: Client, editor: User) -> None:
    Membership.objects.filter(user=editor).update(role=Role.ADMIN)
    workspace = Membership.objects.get(user=editor).workspace
    scenario = factories.scenario()
    queue_update(scenario=scenario, name="waits", patch={"weight": 3}, expected_revision=1)
    _, secret = invitation_create(workspace=workspace, role=Role.VIEWER, user=editor)
    _, text = token_make(user=editor, scope=Role.ADMIN, name="nightly")
    at = f"/workspaces/{workspace.pk}/"
    pages = ("/account/", f"{at}members/", f"{at}history/")
    found = [
        link for page in pages for link in re.findall(r'href="([^"]*format=csv)"', text_of(browser.get(page)))
    ]
    lists = ["tokens/", "workspaces/", *(f"{at[1:]}{name}/" for name in TABLES_OF_A_WORKSPACE)]
    assert found == [f"/api/v1/{name}?format=csv" for name in lists]
    for link in found:
        table = rows(api, link)  # first, because it adds an event to the history
        body = api.get(link.partition("?")[0]).json()["results"]
        names = [name for name, value in body[0].items() if isinstance(value, str)]
        assert [[row[name] for name in names] for row in table] == [
            [row[name] for name in names] for row in body
        ]
        assert secret not in str(table)
        assert text not in str(table)


def test_a_comparison_table_has_a_column_per_run(api: APIClient, finished_run: Run) -> None:
    other = factories.run(finished_run.scenario, cycles=2)
    do_work(other)
    at = f"/api/v1/comparisons/?format=csv&runs={finished_run.pk},{other.pk}"
    queues = {row["name"]: row for row in rows(api, at)}
    assert queues["waits"]["runs[1].weight"] == "1"
    assert queues["waits"]["runs[2].allocated.cpu (millicores)"]
    body = api.get(at.replace("format=csv&", "")).json()
    heads = rows(api, f"{at}&table=runs")
    assert [row["id"] for row in heads] == [str(finished_run.pk), str(other.pk)]
    assert heads[0]["work_lost (pod-seconds)"] == str(body["runs"][0]["work_lost"])
    assert api.get(f"{at}&table=chairs").status_code == 422


def test_cells_that_look_like_formulas_are_escaped(api: APIClient, finished_run: Run) -> None:
    scenario = finished_run.scenario
    for number, text in enumerate(("=1+1", "@SUM(A1)", "+1", "-1", "\tx")):
        spec = {"name": f"q{number}", "annotations": {"said": text}}
        queue_create(scenario=scenario, spec=spec, expected_revision=scenario.revision)
    table = rows(api, f"/api/v1/scenarios/{scenario.pk}/queues/?format=csv")
    assert [row["annotations.said"] for row in table if row["annotations.said"]] == [
        "'=1+1", "'@SUM(A1)", "'+1", "'-1", "'\tx",
    ]  # fmt: skip


def test_every_csv_link_on_a_page_returns_a_table(browser: Client, finished_run: Run) -> None:
    other = factories.run(finished_run.scenario)
    at = f"/scenarios/{finished_run.scenario_id}/"
    found: set[str] = set()
    for page in (
        f"/runs/{finished_run.pk}/", f"/compare/?runs={finished_run.pk},{other.pk}", at, f"{at}review/",
        f"{at}nodes/", f"{at}workloads/", f"{at}changes/",
    ):  # fmt: skip
        links = re.findall(r'href="([^"]*format=csv[^"]*)"', text_of(browser.get(page)))
        assert links, page
        found |= {link.replace("&amp;", "&") for link in links}
    assert len(found) == 17
    for link in found:
        assert browser.get(link).headers["Content-Type"] == "text/csv; charset=utf-8", link


def test_an_anonymous_csv_request_returns_401(stranger: APIClient, finished_run: Run) -> None:
    answer = stranger.get(run_url(finished_run, "queues"))
    assert answer.status_code == 401
    assert answer.content.decode().splitlines()[0].startswith("code,message")


def test_a_csv_export_is_recorded_in_the_history_once_an_hour(api: APIClient, finished_run: Run) -> None:
    scenario = finished_run.scenario
    for address in (
        run_url(finished_run, "victims"), run_url(finished_run, "victims"), "/api/v1/runs/?format=csv",
        f"/api/v1/scenarios/{scenario.pk}/diff/?format=csv",
        f"/api/v1/workspaces/{scenario.workspace_id}/members/?format=csv",
    ):  # fmt: skip
        rows(api, address)
    assert api.get(run_url(finished_run, "victims", "format=csv&nobody=1")).status_code == 422
    assert api.get(f"/api/v1/runs/{finished_run.pk}/victims/").status_code == 200
    noted = Event.objects.filter(kind="export").order_by("created")
    assert list(noted.values_list("action", "subject", "actor", "workspace")) == [
        ("exported", f"run {finished_run.pk}: run-victims as CSV", "editor", scenario.workspace_id),
        ("exported", "runs as CSV", "editor", None),
        ("exported", f"scenario {scenario.pk}: scenario-diff as CSV", "editor", scenario.workspace_id),
        ("exported", f"workspace {scenario.workspace_id}: members as CSV", "editor", scenario.workspace_id),
    ]
