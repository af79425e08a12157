"""The pages of experiments."""

import html
import json
import re
from typing import Any
from uuid import uuid4

import pytest
import yaml
from django.test import Client

from planner.experiments.models import Experiment
from planner.runs.models import Run
from planner.scenarios.models import Scenario
from planning.experiments.definition import experiment_read
from planning.experiments.search import ONE_CYCLE
from tests import factories
from tests.builders import node
from tests.planner.pages import text_of
from tests.planner.recorded import experiment_done, forecast_done

pytestmark = pytest.mark.django_db


def figures_of(content: str) -> Any:
    found = re.search(r'<script id="figures" type="application/json">(.*?)</script>', content, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_short_form_creates_an_experiment(browser: Client) -> None:
    scenario = factories.scenario()
    page = f"/scenarios/{scenario.pk}/experiments/"
    form = browser.get(page).context["form"]
    assert form["first.queue"].initial == "busy"
    assert ('{"field": "weight"}', "weight") in form.fields["first.setting"].choices
    typed = {
        "name": "weights",
        "first.setting": '{"field": "weight"}',
        "first.queue": "waits",
        "first.values": "2, 4",
        "second.setting": '{"field": "capability", "resource": "cpu"}',
        "second.queue": "waits",
        "second.values": "14",
    }
    answer = browser.post(page, typed, follow=True)
    experiment = Experiment.objects.get()
    assert (experiment.kind, experiment.planned) == ("sweep", 6)
    assert "waiting for a worker" in answer.content.decode()
    browser.post(page, {**typed, "goal.waiting_pods": "0"})
    assert Experiment.objects.filter(kind="search").count() == 1


def test_the_example_document_of_the_form_is_valid(browser: Client) -> None:
    scenario = factories.scenario()
    page = f"/scenarios/{scenario.pk}/experiments/"
    content = browser.get(page).context["text"]["document"].value()
    assert browser.post(page, {"document": content}).status_code == 302
    experiment = experiment_done(Experiment.objects.get())
    assert experiment.state == "succeeded"


def test_a_forecast_offers_a_search_for_what_it_misses(browser: Client) -> None:
    scenario = factories.scenario()
    scenario.wait_targets.create(queue="waits", seconds=1.0)
    forecast = forecast_done(factories.forecast(scenario))
    link = f"/scenarios/{scenario.pk}/experiments/?forecast={forecast.pk}"
    assert link in browser.get(f"/forecasts/{forecast.pk}/").content.decode()
    page = browser.get(link)
    assert "Search for settings that help a forecast" in page.content.decode()
    assert f'<a href="/forecasts/{forecast.pk}/">forecast of' in page.content.decode()
    text = page.context["text"]["document"].value()
    written, problems = experiment_read(text)
    assert problems == []
    assert written["goals"] == [{"figure": "wait_p95", "queue": "waits", "at_most": "1s"}]
    assert written["forecast"]["trace"] == str(forecast.trace_id)
    answer = browser.post(f"/scenarios/{scenario.pk}/experiments/", {"document": text})
    assert answer.status_code == 302, answer.context["problems"]


def test_the_search_adds_nodes_without_devices_that_no_late_job_requests(browser: Client) -> None:
    document = factories.cluster()
    document["nodes"].insert(0, node("a0", cpu=8, gpu=8))
    scenario = factories.scenario(document=document)
    scenario.wait_targets.create(queue="waits", seconds=1.0)
    forecast = forecast_done(factories.forecast(scenario))
    page = browser.get(f"/scenarios/{scenario.pk}/experiments/?forecast={forecast.pk}")
    written, _ = experiment_read(page.context["text"]["document"].value())
    assert [setting["like"] for setting in written["settings"] if "like" in setting] == ["n0"]


def test_only_a_forecast_of_the_scenario_that_misses_something_changes_its_example(browser: Client) -> None:
    scenario, other = factories.scenario(), factories.scenario()
    met = forecast_done(factories.forecast(scenario))
    address = f"/scenarios/{scenario.pk}/experiments/"
    example = browser.get(address).context["text"]["document"].value()
    assert "/experiments/?forecast=" not in browser.get(f"/forecasts/{met.pk}/").content.decode()
    for forecast in (met, factories.forecast(other)):
        page = browser.get(f"{address}?forecast={forecast.pk}")
        assert page.context["text"]["document"].value() == example
        assert "help a forecast" not in page.content.decode()
    for unknown in ("nonsense", uuid4()):
        assert browser.get(f"{address}?forecast={unknown}").status_code == 404


def test_the_form_and_its_example_offer_only_fields_with_an_effect(browser: Client) -> None:
    document = factories.cluster()
    document["queues"][1]["spec"]["deserved"] = {"cpu": "8", "memory": "16Gi"}
    conf = factories.CONF.replace("proportion", "capacity")
    scenario = factories.scenario(document=document, conf=conf)
    answer = browser.get(f"/scenarios/{scenario.pk}/experiments/")
    content = answer.content.decode()
    names = [name for _, name in answer.context["form"].fields["first.setting"].choices]
    assert "deserved, CPU" in names
    assert "weight" not in names
    assert re.search(r"selected[^>]*>deserved, CPU<", content)
    assert re.search(r'name="first.queue".*?selected[^>]*>waits<', content, re.DOTALL)
    assert 'placeholder="4, 16"' in content
    example = yaml.safe_load(answer.context["text"]["document"].value())
    tried = {"queue": "waits", "field": "deserved", "resource": "cpu", "values": ["4", "16"], "price": 1}
    assert example["settings"][0] == tried


def test_the_form_of_hundreds_of_queues_names_each_of_them_once_for_each_setting(browser: Client) -> None:
    document = factories.cluster()
    document["queues"] += [factories.queue(f"queue-{number}") for number in range(300)]
    content = browser.get(f"/scenarios/{factories.scenario(document=document).pk}/experiments/").content
    assert content.count(b">queue-299<") == 2
    assert len(content) < 60_000


def test_further_nodes_need_no_queue(browser: Client) -> None:
    typed = {"first.setting": '{"like": "n0"}', "first.values": "1, 2"}
    assert browser.post(f"/scenarios/{factories.scenario().pk}/experiments/", typed).status_code == 302
    assert Experiment.objects.get().planned == 3


def test_amounts_are_sorted_on_their_axis(browser: Client) -> None:
    setting = {"queue": "waits", "field": "capability", "resource": "cpu", "values": ["9500m", "8", "14"]}
    written = {
        "name": "amounts",
        "settings": [setting],
        "figures": [{"figure": "waiting_pods", "better": "less"}],
    }
    experiment = experiment_done(factories.experiment(written=written))
    figures = figures_of(browser.get(f"/experiments/{experiment.pk}/").content.decode())
    *_, least, most = figures["parallel"]["data"]
    assert (least["text"][0], most["text"][0]) == ("8", "14")


def test_only_settings_that_are_numbers_stand_in_columns_of_numbers(browser: Client) -> None:
    settings = [
        {"queue": "waits", "field": "capability", "resource": "cpu", "values": ["9500m", "14"]},
        {"actions": True, "values": ["enqueue, allocate"]},
    ]
    written = {"name": "kinds", "settings": settings, "figures": [{"figure": "waiting_pods"}]}
    experiment = experiment_done(factories.experiment(written=written))
    content = browser.get(f"/experiments/{experiment.pk}/").content.decode()
    assert '<th scope="col" class="grid__number">waits.capability.cpu</th>' in content
    assert '<td class="grid__number">9500m</td>' in content
    assert '<th scope="col">actions</th>' in content
    assert '<td class="grid__name">enqueue, allocate</td>' in content


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ({"document": "name: x\nsettings: []\n"}, "settings"),
        ({"document": "name: [\n"}, "line"),
        ({"first.setting": '{"field": "weight"}', "first.queue": "waits"}, "no values"),
        ({"first.setting": '{"field": "weight"}', "first.values": "2"}, "A setting has no queue"),
        (
            {"first.setting": '{"field": "weight"}', "first.queue": "no", "first.values": "2"},
            "There is no such queue",
        ),
        ({"first.setting": "{", "first.values": "2"}, "There is no such setting"),
        (
            {
                "first.setting": '{"field": "weight"}',
                "first.queue": "waits",
                "first.values": "2",
                "goal.evictions": "few",
            },
            "is not a count",
        ),
    ],
)
def test_invalid_experiment_input_is_refused_with_the_place(
    browser: Client, typed: dict[str, str], says: str
) -> None:
    answer = browser.post(f"/scenarios/{factories.scenario().pk}/experiments/", typed)
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert not Experiment.objects.exists()


def test_a_problem_is_listed_with_the_label_of_its_field(browser: Client) -> None:
    typed = {"first.setting": '{"field": "weight"}', "first.queue": "waits"}
    content = browser.post(f"/scenarios/{factories.scenario().pk}/experiments/", typed).content.decode()
    assert '<code class="soft">Values of the setting</code>' in content


@pytest.mark.parametrize("field", ["name", "first.values", "second.values", "first.queue", "goal.evictions"])
def test_a_null_character_is_refused_at_its_field(browser: Client, field: str) -> None:
    scenario = factories.scenario()
    weight = '{"field": "weight"}'
    body = {"first.setting": weight, "first.queue": "waits", "first.values": "2", "second.setting": weight}
    body |= {"second.queue": "waits", "second.values": "2", field: "1\x00"}
    answer = browser.post(f"/scenarios/{scenario.pk}/experiments/", body)
    assert answer.status_code == 422
    content = html.unescape(answer.content.decode())
    assert f'id="id_{field}_error"' in content


def test_all_errors_of_an_experiment_are_shown_at_once_each_at_its_field(browser: Client) -> None:
    typed = {
        "first.setting": "",
        "first.values": "",
        "second.setting": '{"field": "weight"}',
        "second.queue": "waits",
        "second.values": "2, x, 0",
        "goal.evictions": "few",
    }
    answer = browser.post(f"/scenarios/{factories.scenario().pk}/experiments/", typed)
    content = html.unescape(answer.content.decode())
    beside = content.partition('id="id_second.values_error"')[2].partition("</ul>")[0]
    assert "spec.weight is the string 'x', not a whole number: write a whole number" in beside
    assert "spec.weight is 0, and the CRD takes 1 to 65535" in beside
    assert "'few' is not a count" in content.partition('id="id_goal.evictions_error"')[2][:100]
    assert not Experiment.objects.exists()


def test_the_page_shows_the_verdict_before_the_figures_and_the_table(browser: Client) -> None:
    experiment = experiment_done(factories.experiment())
    content = browser.get(f"/experiments/{experiment.pk}/").content.decode()
    places = [content.index(f">{title}</h2>") for title in ("Verdict", "Figures", "Combinations")]
    assert places == sorted(places)
    drawn = figures_of(content)
    assert set(re.findall(r'data-figure="(\w+)"', content)) == set(drawn) == {"heat", "pareto", "parallel"}
    (heat,) = drawn["heat"]["data"]
    assert set(zip(heat["x"], heat["y"], strict=True)) == {(x, y) for x in "1234" for y in "012"}
    assert "evictions (pods)" in content
    assert "allocated CPU of waits (cores)" in content


def test_the_figures_show_the_values_of_the_api(browser: Client) -> None:
    experiment = experiment_done(factories.experiment())
    cells = browser.get(f"/api/v1/experiments/{experiment.pk}/cells/?page_size=100").json()["results"]
    name = "allocated cpu of waits"
    content = browser.get(f"/experiments/{experiment.pk}/", {"figure": name}).content.decode()
    drawn = figures_of(content)
    (heat,) = drawn["heat"]["data"]
    squares = dict(zip(zip(heat["x"], heat["y"], strict=True), heat["marker"]["color"], strict=True))
    for cell in cells:
        place = tuple(str(cell["settings"][setting]) for setting in ("waits.weight", "nodes like n0"))
        assert squares[place] == cell["figures"][name] / 1000
    points = {
        (x, y) for trace in drawn["pareto"]["data"] for x, y in zip(trace["x"], trace["y"], strict=True)
    }
    assert points == {(cell["price"], cell["figures"][name] / 1000) for cell in cells}
    shown = {tip for trace in drawn["pareto"]["data"] for tip in trace["customdata"]}
    cores = {str(int(cell["figures"][name] / 1000)) for cell in cells}
    assert {re.search(r"allocated CPU of waits \(cores\): (\d+)", tip)[1] for tip in shown} == cores
    *lines, least, most = drawn["parallel"]["data"]
    assert len(lines) == len(cells)
    column = least["x"].index("waits.weight")
    weights = [cell["settings"]["waits.weight"] for cell in cells]
    assert (least["text"][column], most["text"][column]) == (str(min(weights)), str(max(weights)))


def test_a_search_page_states_the_smallest_change(browser: Client) -> None:
    experiment = experiment_done(factories.experiment(written=factories.SEARCH))
    content = browser.get(f"/experiments/{experiment.pk}/").content.decode()
    assert "This is the smallest change that reaches every goal." in content


def test_an_impossible_search_page_shows_the_shortfall_of_the_closest_cell(browser: Client) -> None:
    settings = [{"queue": "waits", "field": "weight", "values": [2]}]
    goal = {"figure": "allocated", "queue": "waits", "resource": "cpu", "at_least": "100"}
    experiment = factories.experiment(written={"name": "far", "settings": settings, "goals": [goal]})
    content = browser.get(f"/experiments/{experiment_done(experiment).pk}/").content.decode()
    assert "cannot be reached within these bounds" in content
    assert re.search(r"allocated CPU of waits \(cores\) at least 100” by [89][0-9]", content)


def test_a_search_of_one_cycle_says_that_pipelined_pods_wait(browser: Client) -> None:
    goals = [{"figure": "waiting_pods", "queue": "waits", "at_most": 0}]
    settings = [{"queue": "waits", "field": "weight", "values": [2]}]
    written = {"name": "one cycle", "settings": settings, "goals": goals}
    experiment = experiment_done(factories.experiment(written=written))
    content = text_of(browser.get(f"/experiments/{experiment.pk}/"))
    assert "With 3 cycles (run: {cycles: 3}) they can start." in content
    found = browser.get(f"/api/v1/experiments/{experiment.pk}/").json()["verdict"]
    assert (found["status"], found["remark"]) == ("impossible", ONE_CYCLE)
    longer = experiment_done(factories.experiment(written={**written, "run": {"cycles": 3}}))
    assert browser.get(f"/api/v1/experiments/{longer.pk}/").json()["verdict"]["remark"] == ""


def test_a_running_experiment_is_polled_until_it_changes(browser: Client) -> None:
    experiment = factories.experiment()
    page = f"/experiments/{experiment.pk}/"
    content = browser.get(page).content.decode()
    found = re.search(r'hx-get="[^"]*\?seen=([^"]*)"', content)
    assert found
    assert browser.get(f"{page}?seen={found[1]}").status_code == 204
    experiment_done(experiment)
    part = browser.get(f"{page}?seen={found[1]}", headers={"HX-Request": "true", "HX-Target": "experiment"})
    assert "hx-get" not in part.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_cell_opens_as_a_scenario_or_runs(browser: Client) -> None:
    experiment = experiment_done(factories.experiment())
    browser.post(f"/experiments/{experiment.pk}/cells/3/")
    branch = Scenario.objects.exclude(pk=experiment.scenario_id).get()
    assert branch.parent_id == experiment.scenario_id
    browser.post(f"/experiments/{experiment.pk}/cells/4/", {"then": "run"})
    assert Run.objects.get().scenario.parent_id == experiment.scenario_id


def test_an_experiment_is_listed_cancelled_and_deleted(browser: Client) -> None:
    experiment = factories.experiment()
    browser.post(f"/experiments/{experiment.pk}/cancel/")
    assert "was cancelled" in browser.get(f"/experiments/{experiment.pk}/").content.decode()
    assert experiment.name in browser.get("/experiments/").content.decode()
    browser.post(f"/experiments/{experiment.pk}/delete/")
    assert not Experiment.objects.exists()
