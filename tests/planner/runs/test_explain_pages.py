"""Pages that explain decisions show the stored explanations of the run, and the figures of the API."""

import re
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from rest_framework.test import APIClient

from planner.runs.models import Run
from planner.runs.selectors.explain import flow
from planner.runs.selectors.figures import most_contested, queue_lines
from planner.runs.selectors.runs import jobs_waiting, queue_figures, run_counts
from planner.runs.selectors.steps import decisions
from planner.runs.views.step_page import StepPage
from planner.web.templatetags.quantities import percent, plain, resource_order
from planning.rows.stored import VICTIMS, Part
from planning.units import resource_label
from scheduler_core import simulate_document
from scheduler_core.explain import node_story, pod_story, state_at, victim_story
from tests import factories
from tests.planner.pages import text_of, visible_text
from tests.planner.recorded import finished_run, run_of, simulated_run
from tests.scheduler_core.test_explain_ballots import looping

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def run(rows_of_module: None) -> Run:
    """A run in which one queue reclaims from another, with its explanations."""
    return simulated_run("proportion_reclaim", 0)


def get_page(browser: Client, name: str, run: Run, *args: object, query: str = "") -> str:
    answer = browser.get(reverse(f"planner:{name}", args=[run.pk, *args]) + query)
    assert answer.status_code == 200
    return text_of(answer)


def get_json(api: APIClient, run: Run, path: str) -> Any:
    answer = api.get(f"/api/v1/runs/{run.pk}/explain/{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def amounts_on(page: str, resource: str) -> set[float]:
    """Return every amount of a resource on a page."""
    return {float(value) for value in re.findall(rf'<data value="([^"]+)" title="{resource}:', page)}


@pytest.mark.parametrize(
    ("family", "index"), [("proportion_reclaim", 0), ("capacity_hierarchy", 3), ("hdrf", 0), ("cycles", 1)]
)
def test_every_explanation_page_of_a_run_renders(browser: Client, family: str, index: int) -> None:
    run = simulated_run(family, index)
    for victim in run.victims.all():
        get_page(browser, "run-victim", run, victim.order)
        get_page(browser, "run-pod", run, *victim.pod.split("/"))
        get_page(browser, "run-node", run, victim.node)
    for job in run.job_outcomes.all():
        get_page(browser, "run-job", run, *job.job.split("/"))
    for queue in run.queue_outcomes.all():
        get_page(browser, "run-queue", run, queue.queue)
    steps = len(decisions(run))
    for seq in {0, 1, steps // 2, steps}:
        get_page(browser, "run-step", run, seq)
    get_page(browser, "run-flow", run)


def test_an_unknown_object_of_a_run_returns_404(browser: Client, run: Run) -> None:
    for name, *args in (
        ("run-victim", 99999),
        ("run-step", 99999),
        ("run-pod", "default", "nobody"),
        ("run-node", "nowhere"),
    ):
        assert browser.get(reverse(f"planner:{name}", args=[run.pk, *args])).status_code == 404, name


def test_a_victim_page_shows_the_preemptor_the_votes_and_the_smallest_sufficient_set(
    browser: Client, run: Run
) -> None:
    document, result = run.input.document(), run.result.document()  # type: ignore[union-attr]
    for victim in run.victims.all():
        want = victim_story(document, result, victim.pod)
        page = get_page(browser, "run-victim", run, victim.order)
        for word in (
            victim.pod,
            victim.for_pod,
            victim.for_queue,
            victim.node,
            want["smallest"]["reason"]["sentence"],
        ):
            assert word in page
        for vote in want["votes"]:
            assert f'<th scope="row">{vote["plugin"]}</th>' in page
        assert plain(want["freed"]["cpu"], "cpu") in page
        assert f"{len(want['spared'])} on all nodes considered" in page
        assert "was pending." in page
        assert "found no node" not in page, "no action need have looked for one before"


@pytest.mark.parametrize(("family", "index"), [("proportion_reclaim", 0), ("cycles", 1), ("gang", 0)])
def test_the_page_and_the_api_give_the_core_reason_for_each_pod(
    browser: Client, api: APIClient, family: str, index: int
) -> None:
    run = simulated_run(family, index)
    document, result = run.input.document(), run.result.document()  # type: ignore[union-attr]
    kinds = set()
    for group in result["cycles"][-1]["podgroups"]:
        for task in group["tasks"][:: max(1, len(group["tasks"]) - 1)]:  # the first and the last
            want = pod_story(document, result, task["pod"])["reason"]
            assert get_json(api, run, f"pods/{task['pod']}/")["reason"] == want
            assert escape(want["sentence"]) in get_page(browser, "run-pod", run, *task["pod"].split("/"))
            kinds.add(want["id"])
    assert len(kinds) > 1


def test_the_page_and_the_api_show_the_same_amounts_for_a_victim(
    browser: Client, api: APIClient, run: Run
) -> None:
    victim = run.victims.all()[0]
    story = get_json(api, run, f"victims/{victim.order}/")
    page = get_page(browser, "run-victim", run, victim.order)
    columns = ("freed", "room", "freed_together", "needed", "left", "surplus")
    explanation = {name: story[name]["cpu"]["value"] for name in columns}
    assert set(explanation.values()) == amounts_on(page, "cpu")
    assert explanation["room"] + explanation["freed_together"] - explanation["needed"] == explanation["left"]
    assert story["for_queue"] == victim.for_queue


def test_a_victim_stored_without_amounts_is_not_shown_as_a_gang_victim(
    browser: Client, api: APIClient, run: Run
) -> None:
    part = run.traces.get(part=VICTIMS)
    stories = [
        {name: shown for name, shown in story.items() if name not in ("room", "left")}
        for story in part.payload()
    ]
    part.packed = Part.of(VICTIMS, stories).packed
    part.save()
    victim = run.victims.all()[0]
    page = get_page(browser, "run-victim", run, victim.order)
    assert "What was free on the node before was not kept with this run" in page
    for absent in ("gang are on several nodes", "Free before", "Left over"):
        assert absent not in page
    story = get_json(api, run, f"victims/{victim.order}/")
    assert (story["room"], story["left"]) == (None, None)


def test_the_flow_sums_the_amounts_freed_by_victims(browser: Client, api: APIClient, run: Run) -> None:
    flows = get_json(api, run, "flow/")["flows"]
    committed = run.victims.filter(state="committed")
    assert sum(flow["evicted"] for flow in flows) == committed.count()
    freed = [get_json(api, run, f"victims/{one.order}/")["freed"]["cpu"]["value"] for one in committed]
    assert sum(flow["amounts"]["cpu"]["value"] for flow in flows) == pytest.approx(sum(freed))
    page = get_page(browser, "run-flow", run, query="?resource=cpu")
    assert {flow["amounts"]["cpu"]["value"] for flow in flows} == amounts_on(page, "cpu")
    assert page.count('class="flow__ribbon ') == len(flows)
    assert "requested by the pods that needed room" in page


def test_the_derivation_of_deserved_ends_with_the_deserved_amount(
    browser: Client, api: APIClient, run: Run
) -> None:
    for queue in run.queue_outcomes.filter(in_session=True):
        story = get_json(api, run, f"queues/{queue.queue}/")
        steps = story["deserved"]["steps"]
        last = {name: amount["value"] for name, amount in steps[-1]["amounts"]["deserved"].items()}
        assert last == pytest.approx({name: queue.deserved[name] for name in last})
        page = get_page(browser, "run-queue", run, queue.queue)
        assert "How deserved is calculated" in page
        assert last["cpu"] in amounts_on(page, "cpu")


@pytest.mark.parametrize("family", ["proportion_reclaim", "capacity_hierarchy", "preempt", "mixed"])
def test_a_step_shows_the_core_state_at_that_decision(api: APIClient, family: str) -> None:
    run = simulated_run(family, 1)
    document, result = run.input.document(), run.result.document()  # type: ignore[union-attr]
    steps = len(decisions(run))
    for seq in {0, 1, steps // 2, steps}:
        want = state_at(document, result, seq, cycle=1)
        body = get_json(api, run, f"steps/{seq}/")
        assert {
            queue["queue"]: (queue["allocated"].get("cpu", {}).get("value", 0), queue["share"])
            for queue in body["queues"]
        } == {
            queue["name"]: (queue["allocated"]["cpu"], pytest.approx(queue["share"]))
            for queue in want["queues"]
        }
        assert {node["node"]: node["free"]["cpu"]["value"] for node in body["nodes"]} == {
            node["name"]: node["free"]["cpu"] for node in want["nodes"]
        }


def test_a_node_page_shows_the_core_reason_of_the_node(browser: Client, api: APIClient, run: Run) -> None:
    node = run.victims.all()[0].node
    want = node_story(run.input.document(), run.result.document(), node)["reason"]  # type: ignore[union-attr]
    body = get_json(api, run, f"nodes/{node}/")["reason"]
    assert (body["id"], body["sentence"]) == (want["id"], want["sentence"])
    assert want["sentence"] in get_page(browser, "run-node", run, node)


def test_a_step_page_shows_the_figures_of_the_api(browser: Client, api: APIClient, run: Run) -> None:
    step = decisions(run).where(op="evict")[0]
    body = get_json(api, run, f"steps/{step.seq}/")
    page = get_page(browser, "run-step", run, step.seq, query="?resource=cpu")
    held = {queue["allocated"]["cpu"]["value"] for queue in body["queues"]}
    assert held <= amounts_on(page, "cpu")
    (node,) = [node for node in body["nodes"] if node["node"] == step.node]
    assert node["free"]["cpu"]["value"] in amounts_on(page, "cpu")
    assert ">was " in page


def test_a_parent_queue_shows_the_share_of_its_children_on_every_page(browser: Client) -> None:
    run = simulated_run("capacity_hierarchy", 3)
    lines = queue_lines(queue_figures(run), "cpu", jobs_waiting(run))
    parents = [line for line in lines if line.is_parent and line.share and line.figures.in_session]
    assert parents
    last = StepPage(run, len(decisions(run)), QueryDict())
    shares = {row.queue: share for row, _, share, _ in last.queues}
    for line in parents:
        name = line.figures.queue
        assert f"{percent(line.share)} at the end" in visible_text(get_page(browser, "run-queue", run, name))
        assert shares[name] == pytest.approx(line.share)


def test_the_flow_opens_on_the_most_contested_resource(browser: Client, run: Run) -> None:
    names = resource_order({name for row in flow(run) for name in row.amounts})
    contested = most_contested(queue_figures(run), names)
    assert f'<h2 id="flow-title">{resource_label(contested)}</h2>' in get_page(browser, "run-flow", run)


def test_step_links_go_by_step_and_by_action_and_keep_the_filter(browser: Client, run: Run) -> None:
    actions = [(step.seq, step.action) for step in decisions(run)]
    first_of_second = next(seq for seq, action in actions if action != actions[0][1])
    page = get_page(browser, "run-step", run, 1, query="?words=default")
    leads = dict(re.findall(r'data-key="(\w+)"[^>]* href="[^"]*/steps/(\d+)/\?words=default"', page))
    assert leads["ArrowRight"] == "2"
    assert leads["ArrowDown"] == str(first_of_second)
    assert leads["ArrowLeft"] == leads["Home"] == "0"
    assert leads["End"] == str(len(actions))


def test_a_queue_name_filters_the_steps(browser: Client, run: Run) -> None:
    queue = run.victims.all()[0].queue
    jobs = run.job_outcomes.filter(queue=queue).values_list("job", flat=True)
    page = get_page(browser, "run-step", run, 0, query=f"?words={queue}")
    listed = re.findall(r'/steps/\d+/"><data value="(\d+)">', page)
    assert listed
    for seq in listed:
        step = decisions(run)[int(seq) - 1]
        assert step.job in jobs or queue in step.job + step.pod + step.for_pod


def test_a_waiting_job_shows_required_available_and_missing_amounts(browser: Client, api: APIClient) -> None:
    run = simulated_run("capacity_hierarchy", 3)
    stopped = [job for job in run.job_outcomes.filter(pending__gt=0) if job.pending_explain.get("short")]
    assert stopped
    for job in stopped:
        story = get_json(api, run, f"jobs/{job.job}/")
        page = get_page(browser, "run-job", run, *job.job.split("/"))
        for row in story["pending"]["short"]:
            for name in ("required", "available", "missing"):
                amount = row[name]["value"]
                over = " over the limit" if amount < 0 else ""
                assert plain(abs(amount), row["resource"]) + over in page
        assert story["pending"]["gate"] == job.gate


def test_an_unplaceable_job_shows_the_refusing_nodes_and_the_closest(browser: Client, api: APIClient) -> None:
    run = simulated_run("proportion_reclaim", 0)
    waiting = run.job_outcomes.filter(gate="node", pending__gt=0)
    for job in waiting:
        body = get_json(api, run, f"jobs/{job.job}/")["pending"]
        page = get_page(browser, "run-job", run, *job.job.split("/"))
        assert sum(row["count"] for row in body["nodes"]) >= 1
        assert body["closest"] is None or body["closest"]["node"] in page


def test_a_run_without_explanations_is_reported(browser: Client, api: APIClient) -> None:
    run = finished_run("proportion_reclaim", 0)
    victim = run.victims.all()[0]
    assert "kept no explanations" in get_page(browser, "run-victim", run, victim.order)
    assert (
        api.get(f"/api/v1/runs/{run.pk}/explain/victims/{victim.order}/").json()["code"] == "no_explanation"
    )
    assert get_json(api, run, f"steps/{victim.order}/")["step"]["op"] == "evict"


def test_every_explanation_page_makes_a_fixed_number_of_queries(
    browser: Client, run: Run, django_assert_num_queries: Any
) -> None:
    victim = run.victims.all()[0]
    for queries, name, *args in (
        (11, "run-victim", victim.order),
        (7, "run-flow"),
        (6, "run-step", victim.order),
        (6, "run-pod", *victim.pod.split("/")),
        (7, "run-node", victim.node),
    ):
        with django_assert_num_queries(queries):
            get_page(browser, name, run, *args)


def test_explanations_are_not_found_from_another_workspace(client: Client, run: Run) -> None:
    client.force_login(factories.user("outsider", role=None))
    for name, *args in (("run-victim", 1), ("run-flow",), ("run-step", 0), ("run-node", "n")):
        assert client.get(reverse(f"planner:{name}", args=[run.pk, *args])).status_code == 404


def test_the_explanations_of_fifty_thousand_pods_take_at_most_20_megabytes() -> None:
    run = simulated_run("bigfull1k", 0)
    pods = sum(job.pods for job in run.job_outcomes.all())
    packed = sum(len(trace.packed) for trace in run.traces.all())
    assert run.victims.count() > 500
    assert packed / pods * 50_000 < 20_000_000


def test_gang_victims_name_the_job_and_queue_of_their_preemptor(browser: Client) -> None:
    document = {**factories.cluster(), "scheduler_conf": GANG_CONF}
    document["podgroups"][1]["spec"]["minMember"] = 4
    for queue in document["queues"]:
        queue["spec"]["deserved"] = {"cpu": "8", "memory": "32Gi"}
    run = run_of(document, simulate_document(document))
    victims = list(run.victims.all())
    assert victims
    assert {(victim.for_pod, victim.for_job, victim.for_queue) for victim in victims} == {
        ("", "default/wait", "waits")
    }
    page = get_page(browser, "run-victim", run, victims[0].order)
    assert "had pending" in page
    assert "The victims of a gang are on several nodes" in page
    assert "Left over" not in page
    assert 'class="flow__ribbon ' in get_page(browser, "run-flow", run)


def test_candidates_spared_for_one_gang_are_not_shown_for_another(browser: Client, api: APIClient) -> None:
    document = {**factories.cluster(nodes=1), "scheduler_conf": GANG_CONF}
    document["pods"][0]["spec"]["priorityClassName"] = "system-node-critical"
    document["podgroups"][1]["spec"]["minMember"] = 4
    document["podgroups"].append(factories.podgroup("also", "waits", phase="Inqueue"))
    document["pods"].append(factories.pod("also-0", "also"))
    for queue in document["queues"]:
        queue["spec"]["deserved"] = {"cpu": "8", "memory": "32Gi"}
    run = run_of(document, simulate_document(document))
    victims = {victim.for_job: victim for victim in run.victims.all()}
    assert victims.keys() == {"default/wait", "default/also"}
    for victim in victims.values():
        story = get_json(api, run, f"victims/{victim.order}/")
        assert [entry["pod"] for entry in story["spared_there"]] == ["default/run-0"]
        assert story["spared_by"] == {"conformance": 1}
        assert "1 candidate on n0" in get_page(browser, "run-victim", run, victim.order)


def cluster_with_overruled_tier() -> dict[str, Any]:
    """Return a cluster where plugin gang in tier 1 rejects every pod, so that tier 2 decides."""
    document = {**factories.cluster(nodes=1), "scheduler_conf": GANG_FIRST}
    for group in document["podgroups"]:
        group["spec"]["minMember"] = sum(
            pod["metadata"]["name"].startswith(f"{group['metadata']['name']}-") for pod in document["pods"]
        )
    return document


GANG_FIRST = {
    "actions": "allocate, reclaim",
    "tiers": [
        {"plugins": [{"name": "priority"}, {"name": "gang"}]},
        {"plugins": [{"name": "proportion"}, {"name": "predicates"}]},
    ],
}


def test_the_victim_page_marks_votes_that_do_not_count(browser: Client, api: APIClient) -> None:
    document = cluster_with_overruled_tier()
    run = run_of(document, simulate_document(document))
    victim = run.victims.all()[0]
    story = get_json(api, run, f"victims/{victim.order}/")
    page = get_page(browser, "run-victim", run, victim.order)
    assert {(vote["plugin"], vote["verdict"], vote["counts"]) for vote in story["votes"]} == {
        ("gang", "refuse", False),
        ("proportion", "permit", True),
    }
    assert story["passed_over"]["sentence"] == "Tier 1 (gang) refused every pod, so tier 2 decided."
    assert story["passed_over"]["sentence"] in page
    assert {entry["tier"] for entry in story["spared_there"]} <= {2}
    assert '<span class="tag tag--permit">evict</span>' in page
    assert '<span class="tag tag--refuse">keep</span>' in page


def test_a_victim_stored_without_vote_counts_is_still_shown(browser: Client, api: APIClient) -> None:
    document = cluster_with_overruled_tier()
    run = run_of(document, simulate_document(document))
    part = run.traces.get(part=VICTIMS)
    stories = part.payload()
    for story in stories:
        del story["passed_over"]
        for vote in story["votes"]:
            del vote["counts"]
    part.packed = Part.of(VICTIMS, stories).packed
    part.save()
    victim = run.victims.all()[0]
    get_page(browser, "run-victim", run, victim.order)
    story = get_json(api, run, f"victims/{victim.order}/")
    assert (story["passed_over"], story["votes"][0]["counts"]) == (None, None)


def test_a_pod_evicted_in_several_cycles_counts_once(browser: Client, api: APIClient) -> None:
    document = looping()
    run = run_of(document, simulate_document(document))
    evictions = run.victims.filter(state="committed")
    assert evictions.count() > len({victim.pod for victim in evictions}) == 1
    (row,) = get_json(api, run, "flow/")["flows"]
    assert (row["evicted"], row["evictions"]) == (1, evictions.count())
    assert row["amounts"]["cpu"]["value"] == 4000
    assert f"{evictions.count()} evictions</data> over all cycles" in get_page(browser, "run-detail", run)
    counts = run_counts(run)
    assert (counts.victims_committed, counts.evictions) == (1, evictions.count())


GANG_CONF = {
    "actions": "enqueue, allocate, gangreclaim",
    "tiers": [
        {"plugins": [{"name": "priority"}, {"name": "gang"}, {"name": "conformance"}]},
        {"plugins": [{"name": "capacity"}, {"name": "predicates"}, {"name": "nodeorder"}]},
    ],
}
