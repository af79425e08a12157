"""The node usage of a run and the placement of one more pod, on pages and in the API."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from rest_framework.test import APIClient

from planner.runs.models import Run
from planner.runs.selectors.figures import queue_lines
from planner.runs.selectors.runs import queue_figures
from planner.runs.services.searches import search_create
from planner.runs.views.nodes import NAMED, NodesPage
from tests import factories
from tests.planner.pages import text_of, visible_text
from tests.planner.recorded import executed, simulated_run
from tests.worker import do_work

pytestmark = pytest.mark.django_db(transaction=True)


def nodes_of(api: APIClient, run: Run, query: str = "") -> list[dict[str, Any]]:
    answer = api.get(f"/api/v1/runs/{run.pk}/nodes/{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def test_nodes_list_their_usage_by_queue(api: APIClient, finished_run: Run) -> None:
    first = nodes_of(api, finished_run)[0]
    assert first["node"] == "n0"
    assert first["total"]["cpu"] == {"value": 8000.0, "unit": "millicores", "unlimited": False}
    assert first["used"]["cpu"]["value"] + first["free"]["cpu"]["value"] == 8000.0
    assert sum(first["queues"].values()) == first["pods"]
    assert first["fits"] is None


def test_nodes_count_how_many_pods_of_a_request_fit(api: APIClient, finished_run: Run) -> None:
    for node in nodes_of(api, finished_run, "?requests.cpu=1&ordering=-free&resource=cpu"):
        assert node["fits"] == node["free"]["cpu"]["value"] // 1000


def test_nodes_are_filtered_and_sorted_and_unknown_parameters_are_refused(
    api: APIClient, finished_run: Run
) -> None:
    assert [node["node"] for node in nodes_of(api, finished_run, "?words=N1")] == ["n1"]
    assert [node["node"] for node in nodes_of(api, finished_run, "?ordering=-node")] == ["n1", "n0"]
    for wrong in ("shade=1", "ordering=shade", "requests.cpu=many"):
        assert api.get(f"/api/v1/runs/{finished_run.pk}/nodes/?{wrong}").status_code == 422, wrong


def test_the_page_draws_each_node_and_lists_it_in_a_table(browser: Client, finished_run: Run) -> None:
    page = text_of(browser.get(f"/runs/{finished_run.pk}/nodes/?resource=cpu&requests.cpu=1"))
    assert page.count('class="h heat__node--f') == 4, "two nodes and two colours of the legend"
    assert "2 nodes" in visible_text(page)
    assert "Fits" in page


@pytest.mark.parametrize(
    ("resource", "used"), [("cpu", "CPU used, cores"), ("memory", "Memory used, GiB"), ("pods", "Pods used")]
)
def test_node_columns_name_their_resource_and_unit(
    browser: Client, finished_run: Run, resource: str, used: str
) -> None:
    page = text_of(browser.get(f"/runs/{finished_run.pk}/nodes/?resource={resource}"))
    assert f"{used}</th>" in page or f">{used}<" in page
    assert used.replace("used", "free") in visible_text(page)
    assert used.replace("used", "total") in visible_text(page)


def test_the_nodes_page_opens_on_a_requested_resource(browser: Client, transactional_db: None) -> None:
    document = factories.cluster()
    document["nodes"].append(factories.node("n2", **{"example.com/npu": "8"}))
    busy = factories.pod("busy", "run", node="n2")
    busy["spec"]["containers"][0]["resources"]["requests"]["example.com/npu"] = "8"
    document["pods"].append(busy)
    run = executed(factories.run(factories.scenario(document=document)))
    for query, resource in (("", "example.com/npu"), ("?requests.cpu=1&requests.memory=", "CPU")):
        page = visible_text(text_of(browser.get(f"/runs/{run.pk}/nodes/{query}")))
        assert f"{resource} used" in page, query


def test_a_node_row_names_the_queues_with_the_most_pods(finished_run: Run) -> None:
    page = NodesPage(finished_run, QueryDict(), [])
    queues = {f"q{number:02}": 1 + number // 9 for number in range(10)}
    page.listing.rows = [replace(page.listing.rows[0], queues=queues)]
    [(_, named, others)] = page.rows
    assert [name for name, _ in named] == ["q09", *(f"q{number:02}" for number in range(NAMED - 1))]
    assert others == 2


def test_the_node_csv_has_the_filtered_rows_of_the_page(
    api: APIClient, browser: Client, finished_run: Run
) -> None:
    query = "words=n1&requests.cpu=1&requests.memory=&colour=fits"
    page = text_of(browser.get(f"/runs/{finished_run.pk}/nodes/?{query}"))
    [address] = re.findall(r'href="(/api/v1/[^"]+format=csv[^"]*)"', page)
    answer = api.get(address.replace("&amp;", "&"))
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 2
    assert lines[1].startswith("n1,")


def test_a_pod_is_tried_on_every_node_by_a_worker_and_the_page_shows_the_result(
    api: APIClient, browser: Client, finished_run: Run
) -> None:
    at = f"/runs/{finished_run.pk}/fit/"
    assert browser.post(at, {"queue": "waits", "requests.cpu": "1", "at": "end"}).status_code == 302
    assert "Waiting for a worker" in text_of(browser.get(at))
    search = Run.objects.get(explains=finished_run)
    do_work(search)
    body = api.get(f"/api/v1{at}").json()["found"]
    assert {node["name"] for node in body["nodes"]} == {"n0", "n1"}
    page = visible_text(text_of(browser.get(at)))
    taking = sum(node["fits"] for node in body["nodes"])
    assert (f"It fits on {taking} of 2 nodes" if taking else "It fits on none of 2 nodes") in page
    for refused in body["refused"]:
        assert refused["reason"] in page
    again = browser.post(at, {"queue": "waits", "requests.cpu": "1", "at": "end"})
    assert again.status_code == 302
    assert Run.objects.filter(explains=finished_run).count() == 1


def test_an_unblock_search_is_not_shown_as_a_placement_search(
    api: APIClient, browser: Client, finished_run: Run
) -> None:
    job = finished_run.job_outcomes.filter(pending__gt=0).first() or finished_run.job_outcomes.first()
    assert job is not None
    search_create(run=finished_run, job=job.job, user=factories.user())
    assert api.get(f"/api/v1/runs/{finished_run.pk}/fit/").json() == {"search": None, "found": None}
    assert "Describe a pod." in text_of(browser.get(f"/runs/{finished_run.pk}/fit/"))


def test_an_invalid_pod_is_refused_with_all_its_problems(
    api: APIClient, browser: Client, finished_run: Run
) -> None:
    at = f"/runs/{finished_run.pk}/fit/"
    answer = browser.post(at, {"queue": "gone", "requests.cpu": "lots"})
    assert answer.status_code == 422
    page = text_of(answer)
    assert "no queue" in page
    assert 'id="id_queue_error"' in page
    assert 'id="id_requests.cpu_error"' in page
    assert 'value="lots"' in page
    refused = api.post(f"/api/v1{at}", {"queue": "gone", "requests": {"cpu": "lots"}})
    assert [found["path"] for found in refused.json()["problems"]] == ["queue", "requests.cpu"]


def test_a_refused_pod_hides_the_answer_for_the_previous_one(browser: Client, finished_run: Run) -> None:
    at = f"/runs/{finished_run.pk}/fit/"
    browser.post(at, {"queue": "waits", "requests.cpu": "1"})
    executed(finished_run.searches.get())
    assert "It fits on" in text_of(browser.get(at))
    refused = text_of(browser.post(at, {"queue": "waits", "requests.cpu": "lots"}))
    assert 'id="id_requests.cpu_error"' in refused
    assert "It fits on" not in refused


def test_the_pod_form_has_a_field_for_each_device_of_the_cluster(
    browser: Client, transactional_db: None
) -> None:
    document = factories.cluster()
    document["nodes"].append(factories.node("n2", **{"example.com/npu": "8"}))
    run = executed(factories.run(factories.scenario(document=document)))
    for page in ("nodes", "fit"):
        shown = text_of(browser.get(f"/runs/{run.pk}/{page}/"))
        named = ["cpu", "memory", "example.com/npu"]
        assert re.findall('name="requests[.]([^"]*)"', shown) == named * shown.count('<form class="facets"')


def test_the_pod_form_offers_only_leaf_queues(browser: Client, transactional_db: None) -> None:
    run = simulated_run("capacity_hierarchy", 3)
    page = text_of(browser.get(f"/runs/{run.pk}/fit/"))
    offered = set(
        re.findall(r'<option value="([^"]+)"', page.partition('name="queue"')[2].partition("</select>")[0])
    )
    lines = queue_lines(queue_figures(run), "cpu", {})
    assert offered == {line.figures.queue for line in lines if not line.is_parent}


def test_a_placement_search_is_not_listed_as_a_run(api: APIClient, finished_run: Run) -> None:
    api.post(f"/api/v1/runs/{finished_run.pk}/fit/", {"queue": "waits", "requests": {"cpu": "1"}})
    assert api.get("/api/v1/runs/").json()["count"] == 1


def test_an_outsider_gets_404_for_the_nodes(client: Client, finished_run: Run) -> None:
    client.force_login(factories.user("outsider", role=None))
    assert client.get(f"/runs/{finished_run.pk}/nodes/").status_code == 404
