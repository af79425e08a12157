"""The pages of traces and forecasts."""

import csv
import html
import json
import re
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Role
from planner.forecasts.charts import evictions_figure
from planner.forecasts.forms.forecasts import TIMES
from planner.forecasts.models import Forecast, WorkloadTrace
from planner.forecasts.selectors.forecasts import drawn_waits, record_of
from planner.forecasts.views.compare import options_that_differ
from planner.scenarios.models import Scenario
from planning.forecasts.clock import spelled
from planning.forecasts.figures import EvictionRow
from planning.units import resource_label
from tests import factories
from tests.planner.pages import as_shown
from tests.planner.recorded import forecast_done
from traces import read_trace

pytestmark = pytest.mark.django_db


@pytest.fixture
def done(db: None) -> Forecast:
    scenario = factories.scenario()
    scenario.wait_targets.create(queue="waits", seconds=60.0)
    return forecast_done(factories.forecast(scenario))


def figures_of(content: str) -> Any:
    found = re.search(r'<script id="figures" type="application/json">(.*?)</script>', content, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_a_new_forecast_starts_with_the_trace_of_the_last_one(browser: Client, done: Forecast) -> None:
    other = factories.workload()
    page = f"/scenarios/{done.scenario_id}/forecasts/"
    assert browser.get(page).context["trace"].pk == done.trace_id
    assert browser.get(f"{page}?trace={other.pk}").context["trace"] == other


def test_of_many_queues_only_those_with_a_target_have_a_field(browser: Client) -> None:
    queues = [factories.queue(f"q{number:02}") for number in range(30)]
    scenario = factories.scenario(document={**factories.cluster(), "queues": queues})
    scenario.wait_targets.create(queue="q07", seconds=60.0)
    at = f"/scenarios/{scenario.pk}"
    assert browser.get(f"{at}/forecasts/").content.decode().count('name="target.') == 1
    typed = {"target.q07": "2m", "queue": "q11", "seconds": "10m"}
    assert browser.post(f"{at}/targets/", typed).status_code == 302
    assert {target.queue: target.seconds for target in scenario.wait_targets.all()} == {
        "q07": 120.0, "q11": 600.0
    }  # fmt: skip
    stale = {"target.q07": "", "queue": "q12", "seconds": "1h"}
    assert browser.post(f"{at}/targets/", stale).status_code == 302
    assert {target.queue: target.seconds for target in scenario.wait_targets.all()} == {
        "q11": 600.0, "q12": 3600.0
    }  # fmt: skip
    wrong = html.unescape(browser.post(f"{at}/targets/", {"queue": "nobody"}).content.decode())
    assert "There is no leaf queue 'nobody'." in wrong
    assert "The queue has no target." in wrong


def test_two_edits_of_the_wait_targets_are_merged_and_of_one_target_refused(browser: Client) -> None:
    scenario = factories.scenario()
    scenario.wait_targets.create(queue="waits", seconds=60.0)
    at = f"/scenarios/{scenario.pk}"
    page = browser.get(f"{at}/forecasts/").content.decode()
    sent = {f"was.{name}": value for name, value in re.findall(r'name="was\.([^"]+)" value="([^"]*)"', page)}
    loaded = {**sent, **{name.removeprefix("was."): value for name, value in sent.items()}}
    other = next(name for name in loaded if name.startswith("target.") and name != "target.waits")

    def saved() -> dict[str, float]:
        return {f"target.{target.queue}": target.seconds for target in scenario.wait_targets.all()}

    assert browser.post(f"{at}/targets/", {**loaded, "target.waits": "5m"}).status_code == 302
    assert browser.post(f"{at}/targets/", {**loaded, other: "1h"}).status_code == 302
    assert saved() == {"target.waits": 300.0, other: 3600.0}
    refused = browser.post(f"{at}/targets/", {**loaded, "target.waits": "7m"})
    assert refused.status_code == 422
    content = refused.content.decode()
    assert "Somebody else has set this target to 5m by now. Save again to overwrite it." in content
    assert 'name="was.target.waits" value="5m"' in content
    again = {**loaded, "target.waits": "7m", "was.target.waits": "5m"}
    assert browser.post(f"{at}/targets/", again).status_code == 302
    assert saved() == {"target.waits": 420.0, other: 3600.0}


def test_a_pasted_trace_is_saved_and_shown_with_chart_and_table(browser: Client) -> None:
    answer = browser.post("/traces/", {"name": "mine", "text": factories.TRACE}, follow=True)
    content = answer.content.decode()
    trace = WorkloadTrace.objects.get()
    assert (trace.jobs, trace.pods, trace.format) == (4, 13, "queuecast")
    assert "<h1>mine</h1>" in content
    bars = figures_of(content)["arrivals"]["data"]
    assert sum(sum(bar["y"]) for bar in bars) == 4
    assert browser.get("/traces/").content.decode().count("mine") >= 1


def test_an_unreadable_trace_is_refused_with_its_line_and_kept_in_the_form(browser: Client) -> None:
    text = factories.TRACE + "fifth,busy,soon,60,1,1,1,1Gi\n"
    answer = browser.post("/traces/", {"name": "mine", "text": text})
    content = answer.content.decode()
    assert answer.status_code == 422
    assert "line 6" in content
    assert "fifth,busy,soon" in content
    assert not WorkloadTrace.objects.exists()


def test_the_devices_of_a_trace_are_added_up_in_their_unit_times_hours(browser: Client) -> None:
    text = "name,queue,submit_seconds,run_seconds,nvidia.com/gpu\none,a,0,3600,8\n"
    content = browser.post("/traces/", {"name": "with GPUs", "text": text}, follow=True).content.decode()
    assert re.search(r">nvidia.com/gpu, GPU-hours<.*<td class=\"grid__number\">8.0</td>", content, re.DOTALL)


def test_a_trace_generated_from_a_pattern_is_determined_by_its_seed(browser: Client) -> None:
    typed = {"how": "generate", "queue": "waits", "jobs_per_hour": "6", "seconds": "1d", "seed": "7"}
    for name in ("one", "two"):
        assert browser.post("/traces/", {**typed, "name": name}).status_code == 302
    first, second = WorkloadTrace.objects.all()
    assert first.source_id == second.source_id
    assert first.jobs > 50


def test_a_pattern_may_request_any_device(browser: Client) -> None:
    typed = {"how": "generate", "queue": "waits", "jobs_per_hour": "6", "seconds": "1d", "seed": "7"}
    for device, devices in (("", "8"), ("huawei.com/Ascend910", "2"), ("", "")):
        sent = {**typed, "device": device, "devices": devices}
        assert browser.post("/traces/", sent).status_code == 302
    found = [
        {role.requests.get("nvidia.com/gpu"): role.requests.get("huawei.com/Ascend910")}
        for trace in WorkloadTrace.objects.order_by("created")
        for role in read_trace(trace.source.content().decode()).jobs[0].roles
    ]
    assert found == [{"8": None}, {None: "2"}, {None: None}]
    for device, devices, shown in (
        ("huawei.com/Ascend910", "some", "is not a number of devices"),
        ("nvidia.com/gpu", "1.5", "is not a number of devices"),
        ("gpu", "1", "cannot request"),
    ):
        content = browser.post("/traces/", {**typed, "device": device, "devices": devices}).content.decode()
        assert shown in content.partition('id="pattern-devices_error"')[2][:200], device


def test_every_error_in_a_pattern_is_shown_at_its_field(browser: Client) -> None:
    typed = {"how": "generate", "jobs_per_hour": "-1", "run_median": "soon", "pods": "1.5"}
    answer = browser.post("/traces/", typed)
    content = html.unescape(answer.content.decode())
    assert answer.status_code == 422
    assert 'id="pattern-queue_error"><li>The queue has no name.' in content
    assert "id=\"pattern-jobs_per_hour_error\"><li>'-1' is not a value above 0. Write 10." in content
    assert "'soon' is not a value above 0. Write 20m." in content
    assert "'1.5' is not a value above 0. Write 1." in content
    assert 'value="soon"' in content
    assert not WorkloadTrace.objects.exists()


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ({}, "There is no file and no text."),
        ({"text": "x", "name": "n" * 254}, "at most 253 characters"),
        ({"how": "snapshot", "snapshot": "none"}, "is not a valid UUID"),
        ({"how": "snapshot", "snapshot": str(uuid4())}, "not one of the available choices"),
    ],
)
def test_an_invalid_trace_form_shows_the_error(browser: Client, typed: dict[str, str], says: str) -> None:
    answer = browser.post("/traces/", typed)
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert not WorkloadTrace.objects.exists()


def test_an_invalid_time_opens_no_moment(browser: Client, done: Forecast) -> None:
    answer = browser.post(f"/forecasts/{done.pk}/moment/", {"at": "soon"})
    assert answer.status_code == 422
    assert "Enter a number." in answer.content.decode()
    assert not Scenario.objects.exclude(pk=done.scenario_id).exists()


def test_a_forecast_is_created_from_its_scenario(browser: Client) -> None:
    scenario, trace = factories.scenario(), factories.workload()
    page = f"/scenarios/{scenario.pk}/forecasts/"
    assert "four jobs" in browser.get(page).content.decode()
    typed = {"trace": str(trace.pk), "horizon_seconds": "2h", "rest": "waits"}
    answer = browser.post(page, typed, follow=True)
    forecast = Forecast.objects.get()
    assert forecast.options["horizon_seconds"] == 7200
    assert "Waiting for a worker." in answer.content.decode()
    refused = browser.post(page, {**typed, "horizon_seconds": "soon", "rest": ""})
    assert refused.status_code == 422
    assert Forecast.objects.count() == 1


def test_the_page_shows_the_verdict_before_figures_and_tables(browser: Client, done: Forecast) -> None:
    content = browser.get(f"/forecasts/{done.pk}/").content.decode()
    places = [content.index(f">{title}</h2>") for title in ("Verdict", "Waits by queue", "Over time", "Jobs")]
    assert places == sorted(places)
    figures = figures_of(content)
    drawn = set(re.findall(r'data-figure="(\w+)"', content))
    assert drawn == set(figures)
    assert "trace/second" in content


def test_the_verdict_links_to_the_notes_at_the_end_of_the_page(browser: Client, done: Forecast) -> None:
    assert done.notes
    page = browser.get(f"/forecasts/{done.pk}/").content.decode()
    link, target = page.index('href="#notes-title"'), page.index('id="notes-title"')
    assert page.index("Verdict</h2>") < link < page.index("Waits by queue") < target
    assert f"{len(done.notes)} note" in page


def test_a_running_forecast_shows_its_estimated_duration(browser: Client, api: APIClient) -> None:
    forecast = factories.forecast()
    estimate = {"seconds": 125.0, "sessions": 7600, "at_least": True}
    Forecast.objects.filter(pk=forecast.pk).update(state="running", estimate=estimate)
    content = " ".join(browser.get(f"/forecasts/{forecast.pk}/").content.decode().split())
    says = "at least 2 min 5 s of computing for 7,600 sessions. Each takes longer the more jobs wait"
    assert f"Estimated when it began: {says}" in content
    assert "Left at the speed so far" not in content
    in_api = api.get(f"/api/v1/forecasts/{forecast.pk}/").json()["estimate"]
    assert in_api == {**estimate, "seconds_left": None}


def test_a_running_forecast_shows_the_time_left_until_it_ends(browser: Client, api: APIClient) -> None:
    forecast = factories.forecast()
    estimate = {"seconds": 1.0, "sessions": 7600, "at_least": True, "seconds_left": 720.0}
    Forecast.objects.filter(pk=forecast.pk).update(state="running", estimate=estimate)
    content = " ".join(browser.get(f"/forecasts/{forecast.pk}/").content.decode().split())
    assert "Left at the speed so far: 12 min." in content
    assert api.get(f"/api/v1/forecasts/{forecast.pk}/").json()["estimate"] == estimate
    Forecast.objects.filter(pk=forecast.pk).update(state="cancelled")
    assert api.get(f"/api/v1/forecasts/{forecast.pk}/").json()["estimate"]["seconds_left"] is None


def test_the_page_and_the_api_agree_on_causes_service_and_fairness(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    content = " ".join(browser.get(f"/forecasts/{done.pk}/").content.decode().split())
    verdict = api.get(f"/api/v1/forecasts/{done.pk}/verdict/").json()
    causes, service = content.split('id="causes-title"')[1].split('id="service-title"')
    for row in verdict["causes"]:
        names = ("closed", "at_capability", "above_deserved", "no_room", "not_placed", "delays")
        parts = [row[part] for part in names]
        assert sum(parts) == pytest.approx(row["waited"])
        assert all(spelled(seconds) in causes for seconds in (row["waited"], *parts))
        assert all(resource_label(name) in causes for name in row["resources"].values())
    assert {row["queue"] for row in verdict["service"]} >= {row["queue"] for row in verdict["causes"]}
    for row in verdict["service"]:
        assert f">{row['queue']}</th>" in service
        assert row["slowdown_p95"] is None or f'<data value="{row["slowdown_p95"]}">' in service
    for row in verdict["fairness"]:
        assert row["jain_index"] is None or f'<data value="{row["jain_index"]}">' in service
    assert (
        verdict["churn"]["lost_part"] is None or f'<data value="{verdict["churn"]["lost_part"]}">' in content
    )


def test_every_list_of_the_verdict_is_a_file_beside_its_table(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    content = browser.get(f"/forecasts/{done.pk}/").content.decode()
    at = f"/api/v1/forecasts/{done.pk}/verdict/"
    verdict = api.get(at).json()
    for name in ("causes", "service", "fairness", "resources"):
        assert f'href="{at}?format=csv&amp;table={name}"' in content
        answer = api.get(f"{at}?format=csv&table={name}")
        assert f"forecast-verdict-{name}.csv" in answer.headers["Content-Disposition"]
        lines = answer.getvalue().decode().splitlines()  # type: ignore[attr-defined]
        assert len(lines) == 1 + len(verdict[name])
    refused = api.get(f"{at}?table=seats")
    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (422, "table")


def test_the_page_and_the_api_agree_on_verdict_and_curves(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    content = browser.get(f"/forecasts/{done.pk}/").content.decode()
    verdict = api.get(f"/api/v1/forecasts/{done.pk}/verdict/").json()
    assert verdict["findings"]
    for finding in verdict["findings"]:
        assert finding["says"].replace("'", "&#x27;") in content
    series = api.get(f"/api/v1/forecasts/{done.pk}/series/?resource=cpu").json()["curves"]
    shown = {trace["meta"]: trace for trace in figures_of(content)["queues"]["data"] if trace["yaxis"] == "y"}
    for figure, trace in shown.items():
        queue = trace["hovertemplate"].partition(":")[0]
        [curve] = [one for one in series if (one["queue"], one["figure"]) == (queue, figure)]
        drawn = [(hour * 3600, cores * 1000) for hour, cores in zip(trace["x"], trace["y"], strict=True)]
        known = [point for point in zip(curve["t"], curve["values"], strict=True) if point[0] < 3600]
        assert drawn[:-1] == [pytest.approx(point) for point in known]
        assert drawn[-1] == pytest.approx((3600, known[-1][1])), "the last value extends to the end"


def test_fragmentation_on_the_page_and_in_the_api_matches_the_record(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    content = browser.get(f"/forecasts/{done.pk}/").content.decode()
    drawn = {trace["name"]: trace for trace in figures_of(content)["fragmentation"]["data"]}
    room = record_of(done).rooms["cpu"]
    series = api.get(f"/api/v1/forecasts/{done.pk}/series/?resource=cpu").json()["curves"]
    curves = {one["figure"]: one for one in series if not one["queue"]}
    part = curves["fragmented_part"]
    known = [100 * value for time, value in zip(part["t"], part["values"], strict=True) if time < 3600]
    assert known == pytest.approx(drawn["CPU"]["y"][:-1], abs=1e-3)
    for figure, steps in (
        ("free", room.free),
        ("fragmented", room.fragmented),
        ("fragmented_part", room.part),
    ):
        assert curves[figure]["values"] == pytest.approx(steps.at(curves[figure]["t"]).tolist())
    table = api.get(f"/api/v1/forecasts/{done.pk}/series/?resource=cpu&format=csv").getvalue().decode()  # type: ignore[attr-defined]
    assert "fragmented_part" in table
    row = next(one for one in api.get(f"/api/v1/forecasts/{done.pk}/verdict/").json()["resources"]
               if one["resource"] == "cpu")  # fmt: skip
    assert row["fragmented"] == room.fragmented.integral(0, 3600) / room.free.integral(0, 3600)
    assert f'<data value="{row["fragmented"]}">' in content


def test_drawn_workloads_give_intervals_to_a_forecast_and_a_comparison(
    browser: Client, api: APIClient, db: None
) -> None:
    trace = factories.workload()
    fast, slow = (
        forecast_done(
            factories.forecast(factories.scenario(name=name), under=trace, seeds=3, evicted=evicted)
        )
        for name, evicted in (("one", "restart"), ("two", "delete"))
    )
    verdict = api.get(f"/api/v1/forecasts/{fast.pk}/verdict/").json()["seeds"]
    rows = drawn_waits(fast)
    assert {row.seed for row in rows} == {1, 2, 3}
    for queue in verdict:
        own = [row.p95 for row in rows if row.queue == queue["queue"]]
        assert queue["p95"]["mean"] == pytest.approx(sum(own) / len(own))
        assert queue["p95"]["seeds"] == len(own)
    assert "Waits over drawn workloads" in browser.get(f"/forecasts/{fast.pk}/").content.decode()
    address = f"/forecasts/compare/?forecasts={fast.pk}&forecasts={slow.pk}"
    content = browser.get(address).content.decode()
    assert "Student&#x27;s t" in content or "Student's t" in content
    assert "Bursts of the trace" in content
    found = api.get(f"/api/v1/forecasts/{fast.pk}/comparison/?with={slow.pk}").json()
    assert {one["queue"] for one in found["seeds"]} == {one["queue"] for one in verdict}
    for one in found["seeds"]:
        assert one["mean"]["change"]["mean"] == pytest.approx(
            one["mean"]["after"]["mean"] - one["mean"]["before"]["mean"]
        )
    other = forecast_done(factories.forecast(slow.scenario, under=trace, seeds=3, rate=2.0))
    assert api.get(f"/api/v1/forecasts/{fast.pk}/comparison/?with={other.pk}").json()["seeds"] == []
    apart = browser.get(f"/forecasts/compare/?forecasts={fast.pk}&forecasts={other.pk}").content.decode()
    assert "not made under the same drawn workloads" in apart


def test_an_out_of_range_number_of_drawn_workloads_is_refused(browser: Client) -> None:
    scenario, trace = factories.scenario(), factories.workload()
    for typed, shown in (("many", "cannot be read"), ("31", "Choose 0, or 2 to 30."), ("1", "Choose 0")):
        body = {"trace": str(trace.pk), "horizon_seconds": "1h", "rest": "waits", "seeds": typed}
        answer = browser.post(f"/scenarios/{scenario.pk}/forecasts/", body)
        assert answer.status_code == 422
        assert shown in answer.content.decode()
    assert not Forecast.objects.exists()


def test_each_time_of_the_form_says_what_it_is(browser: Client) -> None:
    factories.workload()
    page = browser.get(f"/scenarios/{factories.scenario().pk}/forecasts/").content.decode()
    for name in (*(name for name, *_ in TIMES), "seeds", "rest"):
        assert f'aria-describedby="id_{name}_helptext"' in page
        assert f'id="id_{name}_helptext"' in page


@pytest.mark.parametrize("field", ["queue", "evicted", "rest", "rate", "change-0-value"])
def test_a_null_character_is_refused_at_its_field(browser: Client, field: str) -> None:
    scenario, trace = factories.scenario(), factories.workload()
    name = f"queue.{next(iter(trace.queues))}" if field == "queue" else field
    body = {"trace": str(trace.pk), "change-0-at": "1h", name: "a\x00"}
    answer = browser.post(f"/scenarios/{scenario.pk}/forecasts/", body)
    assert answer.status_code == 422
    shown = name if field.startswith("change") else f"id_{name}"
    assert f'id="{shown}_error"' in html.unescape(answer.content.decode())


def test_all_errors_of_a_forecast_are_shown_at_once_each_at_its_field(browser: Client) -> None:
    scenario, trace = factories.scenario(), factories.workload()
    queue = next(iter(trace.queues))
    body = {
        "trace": str(trace.pk), "horizon_seconds": "1000000000", "period_seconds": "often", "rate": "-1",
        "seeds": "31", f"queue.{queue}": "nobody", "rest": "gone",
        "change-0-at": "soon", "change-0-happens": "queue", "change-0-subject": "nobody",
        "change-0-value": "weight",
    }  # fmt: skip
    answer = browser.post(f"/scenarios/{scenario.pk}/forecasts/", body)
    content = html.unescape(answer.content.decode())
    for field in ("period_seconds", "rate", "seeds", f"queue.{queue}", "rest"):
        assert f'id="id_{field}_error"' in content, field
    for field, what in (("at", "'soon'"), ("subject", "no queue 'nobody'"), ("value", "'weight'")):
        assert what in content.partition(f'id="change-0-{field}_error"')[2][:200], field
    assert "sessions; at most" not in content, "the number of sessions is unknown without a period"


def test_a_time_window_limits_the_figures(browser: Client, done: Forecast) -> None:
    answer = browser.get(f"/forecasts/{done.pk}/figures/?begin=600&end=1200").json()["figures"]
    assert answer["waiting"]["layout"]["xaxis"]["range"] == [600 / 3600, 1200 / 3600]


@pytest.mark.parametrize("end", ["1e308", "inf", "1e400", "nan", "9999"])
def test_a_window_ends_with_the_forecast(browser: Client, api: APIClient, done: Forecast, end: str) -> None:
    [drawn] = {
        tuple(figure["layout"]["xaxis"]["range"])
        for figure in browser.get(f"/forecasts/{done.pk}/figures/?end={end}").json()["figures"].values()
    }
    assert drawn == (0.0, 1.0), "in hours"
    answer = api.get(f"/api/v1/forecasts/{done.pk}/series/?end={end}")
    assert answer.status_code == (422 if end == "nan" else 200)
    assert end == "nan" or answer.json()["end"] == 3600.0


def test_figures_of_an_unknown_queue_are_refused(api: APIClient, done: Forecast) -> None:
    answer = api.get(f"/api/v1/forecasts/{done.pk}/series/?queue=wiats")
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"] == "There is no queue 'wiats'. Did you mean 'waits'?"


def test_figures_over_time_are_a_table_with_a_row_for_each_change(
    browser: Client, api: APIClient, done: Forecast
) -> None:
    at = f"/api/v1/forecasts/{done.pk}/series/?resource=cpu&begin=60.0&end=3599.9996"
    page = browser.get(f"/forecasts/{done.pk}/?begin=60&end=3599.9996").content.decode()
    assert html.escape(at.replace("?", "?format=csv&")) in page
    rows = list(csv.DictReader(StringIO(api.get(f"{at}&format=csv").getvalue().decode())))  # type: ignore[attr-defined]
    assert list(rows[0]) == ["queue", "figure", "resource", "t", "value", "unit"]
    units = {row["figure"]: row["unit"] for row in rows}
    assert (units["allocated"], units["waiting"], units["fragmented_part"]) == ("millicores", "jobs", "ratio")
    found = [
        (row["queue"], row["figure"], row["resource"], float(row["t"]), float(row["value"])) for row in rows
    ]
    assert found == [
        (one["queue"], one["figure"], "" if one["figure"] == "waiting" else "cpu", time, value)
        for one in api.get(at).json()["curves"]
        for time, value in zip(one["t"], one["values"], strict=True)
    ]


def test_the_chart_of_evictions_draws_the_smallest_pairs_of_queues_together() -> None:
    rows = [
        EvictionRow(60.0, "pod", "job", f"q{number:02}", "job", "busy", 0.0)
        for number in range(30)
        for _ in range(number + 1)
    ]
    figure = evictions_figure(rows, 0.0, 3600.0)
    assert figure["layout"]["yaxis"]["title"]["text"] == "Evictions per 1 min"
    drawn = {trace["name"]: sum(trace["y"]) for trace in figure["data"]}
    assert len(drawn) == 8
    assert drawn["q29 for busy"] == 30
    assert drawn["23 other pairs"] == sum(range(1, 24))


def test_a_moment_shows_queues_and_waiting_jobs(browser: Client, done: Forecast) -> None:
    content = as_shown(browser.get(f"/forecasts/{done.pk}/moment/?at=130").content.decode())
    assert "Branch from here" in content
    assert "trace/third" in content
    assert "2 jobs wait, 3 jobs run." in content
    # between two sessions the page shows the later one, as a branch has it
    between = browser.get(f"/forecasts/{done.pk}/moment/?at=122.5").content.decode()
    assert 'name="at" value="130.000"' in between
    memory = browser.get(f"/forecasts/{done.pk}/moment/?at=130&resource=memory").content.decode()
    assert 'title="memory: ' in memory
    assert 'title="cpu: ' not in memory


@pytest.mark.django_db(transaction=True)
def test_a_branch_from_a_moment_has_the_cluster_of_that_moment(browser: Client, done: Forecast) -> None:
    answer = browser.post(f"/forecasts/{done.pk}/moment/", {"at": "130"}, follow=True)
    assert answer.status_code == 200
    branch = Scenario.objects.exclude(pk=done.scenario_id).get()
    assert branch.parent_id == done.scenario_id
    assert branch.conf_text == done.scenario.conf_text
    assert [target.queue for target in branch.wait_targets.all()] == ["waits"]
    groups = {group["metadata"]["name"] for group in branch.snapshot.content.document()["podgroups"]}
    assert {"first", "second", "third"} <= groups
    assert "fourth" not in groups


def test_pages_say_that_their_times_are_in_utc(browser: Client, done: Forecast) -> None:
    assert "all times are in UTC" in browser.get(f"/forecasts/{done.pk}/").content.decode()


CLOSED = {"at": "1h", "queue": "busy", "state": "closed"}
BY_DAY = {"at": "06:00", "every": "1d", "queue": "busy", "set": {"weight": 1}}
BY_NIGHT = {"at": "20:00", "every": "1d", "queue": "busy", "set": {"deserved": {"cpu": "8", "memory": "4Gi"}}}


def test_a_comparison_lists_the_options_that_differ(browser: Client, done: Forecast) -> None:
    other = forecast_done(factories.forecast(done.scenario, under=done.trace))
    address = f"/forecasts/compare/?forecasts={done.pk}&forecasts={other.pk}"
    assert "Options that differ" not in browser.get(address).content.decode()
    changes = {"run_time": 2.0, "start_delay_seconds": 90.0, "changes": [CLOSED], "evicted": "delete",
               "node_constraints": "none", "running_jobs": "place_first"}  # fmt: skip
    Forecast.objects.filter(pk=other.pk).update(options={**other.options, **changes})
    assert "Options that differ" in browser.get(address).content.decode()
    found = options_that_differ(done, Forecast.objects.get(pk=other.pk))
    assert [(label, after) for label, _, after in found] == [
        ("Start delay", "1 min 30 s"), ("Evicted pods", "are lost"), ("Scale run times by", "2"),
        ("Node constraints", "none"),
        ("Running jobs of the trace", "are placed first, for what remains of their run time"),
        ("Changes in time", "at 1h: queue busy, state closed"),
    ]  # fmt: skip


def test_two_values_of_an_option_that_differ_are_different_texts(done: Forecast) -> None:
    other = forecast_done(factories.forecast(done.scenario, under=done.trace))
    first = {"rates": {"busy": 2.0, "waits": 3.0}, "changes": [CLOSED, BY_DAY], "targets": {}}
    second = {"rates": {"busy": 2.0, "waits": 4.0}, "changes": [CLOSED, BY_NIGHT], "targets": {"waits": 60.0}}
    for forecast, options in ((done, first), (other, {**second, "horizon_seconds": 3601.0})):
        Forecast.objects.filter(pk=forecast.pk).update(options={**forecast.options, **options})
        forecast.refresh_from_db()
    assert {label: texts for label, *texts in options_that_differ(done, other)} == {
        "Horizon": ["3600 s", "3601 s"],
        "Rates of single queues": ["waits: 3.0", "waits: 4.0"],
        "Changes in time": [
            "at 06:00, every 1d: queue busy, set weight 1; 1 change as in the other",
            "at 20:00, every 1d: queue busy, set deserved cpu=8 memory=4Gi; 1 change as in the other",
        ],
        "Wait targets": ["none", "waits: 60.0"],
    }


def test_node_constraints_are_an_option_and_their_lack_is_in_the_verdict(
    browser: Client, api: APIClient, db: None
) -> None:
    document = factories.cluster()
    for node in document["nodes"]:
        node["spec"] = {"taints": [{"key": "team", "value": "ours", "effect": "NoSchedule"}]}
    for pod in document["pods"]:
        pod["spec"] |= {"tolerations": [{"key": "team", "operator": "Exists"}]}
    scenario = factories.scenario(document=document)
    like, none = (
        forecast_done(factories.forecast(scenario, under=factories.workload(name=name), **options))
        for name, options in (("like", {}), ("none", {"node_constraints": "none"}))
    )
    assert (like.options["node_constraints"], like.summary["started"] > none.summary["started"]) == (
        "like_queue", True,
    )  # fmt: skip
    assert any("tolerate taints like most jobs of their queue" in note for note in like.notes)
    says = "pods fit no node, not even an empty one"
    for forecast, expected in ((like, []), (none, ["busy", "waits"])):
        found = api.get(f"/api/v1/forecasts/{forecast.pk}/verdict/").json()["findings"]
        assert sorted(one["queue"] for one in found if one["kind"] == "unschedulable") == expected
        assert (says in browser.get(f"/forecasts/{forecast.pk}/").content.decode()) == bool(expected)


def test_the_form_stores_the_node_constraints(browser: Client) -> None:
    scenario, trace = factories.scenario(), factories.workload()
    at = f"/scenarios/{scenario.pk}/forecasts/"
    assert 'name="node_constraints"' in browser.get(at).content.decode()
    for chosen in ("none", "like_queue", ""):
        sent = {"trace": str(trace.pk), "rest": "waits", "node_constraints": chosen}
        assert browser.post(at, sent).status_code == 302
    stored = Forecast.objects.order_by("created").values_list("options__node_constraints", flat=True)
    assert list(stored) == ["none", "like_queue", "like_queue"]
    answer = browser.post(at, {"trace": str(trace.pk), "rest": "waits", "node_constraints": "all"})
    assert (answer.status_code, Forecast.objects.count()) == (422, 3)


def test_jobs_that_run_when_the_window_begins_are_placed_first_if_chosen(
    browser: Client, api: APIClient, db: None
) -> None:
    lines = ["name,queue,submit_seconds,run_seconds,cpu", "long,waits,0,5000,1", "later,waits,3700,60,1", ""]
    scenario, trace = factories.scenario(), factories.workload("\n".join(lines))
    at, sent = f"/scenarios/{scenario.pk}/forecasts/", {"trace": str(trace.pk), "window_begin_seconds": "1h"}
    assert 'name="running_jobs"' in browser.get(at).content.decode()
    jobs = {}
    for chosen in ("", "place_first"):
        assert browser.post(at, {**sent, "running_jobs": chosen}).status_code == 302
        done = forecast_done(Forecast.objects.latest("created"))
        rows = api.get(f"/api/v1/forecasts/{done.pk}/jobs/").json()["results"]
        jobs[chosen] = {row["job"]: row["submitted"] for row in rows if row["job"].startswith("trace/")}
    assert jobs[""] == {"trace/later": 100.0}
    assert jobs["place_first"] == {"trace/later": 100.0, "trace/long": None}
    body = {"trace": str(trace.pk), "window_begin_seconds": 3600.0, "running_jobs": "sometimes"}
    refused = api.post(f"/api/v1/scenarios/{scenario.pk}/forecasts/", body, format="json")
    assert (refused.status_code, "running_jobs" in refused.content.decode()) == (422, True)


def test_the_form_multiplies_the_jobs_of_single_queues(browser: Client, api: APIClient) -> None:
    scenario, trace = factories.scenario(), factories.workload()
    at, sent = f"/scenarios/{scenario.pk}/forecasts/", {"trace": str(trace.pk), "rest": "waits"}
    for factor, shown in (("many", "cannot be read"), ("0", "is out of range"), ("nan", "is out of range")):
        answer = browser.post(at, {**sent, "rate.waits": factor})
        content = answer.content.decode()
        assert (answer.status_code, shown in content.partition('id="id_rate.waits_error"')[2][:300]) == (
            422, True,
        ), factor  # fmt: skip
    assert browser.post(at, {**sent, "rate.waits": "3", "rate.busy": ""}).status_code == 302
    forecast = Forecast.objects.get()
    assert forecast.options["rates"] == {"waits": 3.0}
    jobs = forecast_done(forecast).summary["jobs"]
    assert jobs - forecast_done(factories.forecast(scenario, under=trace)).summary["jobs"] == 4
    options = {"trace": str(trace.pk), "rest": "waits", "rates": {"nobody": 2, "busy": -1}}
    problems = api.post(f"/api/v1{at}", options).json()["problems"]
    assert [problem["path"] for problem in problems] == ["rates.busy", "rates.nobody"]


def test_two_forecasts_are_compared_job_by_job(browser: Client, done: Forecast) -> None:
    other = forecast_done(factories.forecast(done.scenario, under=done.trace))
    content = browser.get(f"/forecasts/compare/?forecasts={done.pk}&forecasts={other.pk}").content.decode()
    assert "This change leaves all waits unchanged." in content
    assert "Choose two forecasts." in browser.get("/forecasts/compare/").content.decode()


def test_a_viewer_reads_forecasts_without_controls_for_changes(client: Client, done: Forecast) -> None:
    client.force_login(factories.user("viewer", role=Role.VIEWER))
    for page in ("/traces/", f"/forecasts/{done.pk}/", f"/forecasts/{done.pk}/moment/?at=60"):
        content = client.get(page).content.decode()
        for offer in ("Keep this trace", "Delete forecast", "Branch from here"):
            assert offer not in content
    assert client.post(f"/forecasts/{done.pk}/moment/", {"at": "60"}).status_code == 403


def test_an_outsider_gets_404_for_forecasts_and_traces(client: Client, done: Forecast) -> None:
    client.force_login(factories.user("outsider", role=None))
    for page in (f"/forecasts/{done.pk}/", f"/forecasts/{done.pk}/figures/", f"/traces/{done.trace_id}/"):
        assert client.get(page).status_code == 404
