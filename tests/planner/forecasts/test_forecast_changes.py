"""Timed changes in the form of a forecast: parsing, validation and the timeline."""

import json
import re

import pytest
from django.test import Client

from planner.forecasts.models import Forecast
from planner.scenarios.models import Scenario
from tests import factories
from tests.planner.recorded import forecast_done

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
BEGIN = "2026-01-01T00:00:00Z"


@pytest.fixture
def scenario(db: None) -> Scenario:
    return factories.scenario(document={**factories.cluster(), "now": BEGIN})


def rows(*changes: tuple[str, str, str, str]) -> dict[str, str]:
    """Return the form data for changes given as time, kind, subject and fields."""
    parts = ("at", "happens", "subject", "value")
    return {
        f"change-{number}-{part}": text
        for number, change in enumerate(changes)
        for part, text in zip(parts, change, strict=True)
    }


WEIGHT = ("18:00", "queue", "waits", "weight=5 capability.cpu=8")
LOST = ("30m", "nodes-lose", "n1", "")


def form_data(*changes: tuple[str, str, str, str]) -> dict[str, str]:
    return {"trace": str(factories.workload().pk), "rest": "waits", "horizon_seconds": "1d", **rows(*changes)}


def page_of(scenario: Scenario, what: str = "") -> str:
    return f"/scenarios/{scenario.pk}/forecasts/{what}"


def test_timed_changes_are_frozen_with_the_forecast_and_shown_on_its_axis(
    browser: Client, scenario: Scenario
) -> None:
    assert browser.post(page_of(scenario), form_data(WEIGHT, ("", "queue", "", ""), LOST)).status_code == 302
    forecast = Forecast.objects.get()
    assert forecast.options["changes"] == [
        {"at": "18:00", "queue": "waits", "set": {"weight": 5, "capability": {"cpu": "8"}}},
        {"at": "30m", "nodes": ["n1"], "how": "lose"},
    ]
    content = browser.get(f"/forecasts/{forecast_done(forecast).pk}/").content.decode()
    says = re.findall(r"<li value=\"(\d)\">\s*<span class=\"nowrap\">([^<]+)</span>: (.*?)\s*</li>", content)
    assert says == [
        ("1", "Thu 01 Jan 2026 18:00:00 UTC", "Queue waits gets capability cpu=8, weight 5."),
        ("2", "Thu 01 Jan 2026 00:30:00 UTC", "1 node is lost: n1."),
    ]
    marks = re.findall(r'cx="([\d.]+)".*?<text class="timeline__number"[^>]*>(\d)<', content, re.DOTALL)
    assert [(float(x), number) for x, number in marks] == [
        (pytest.approx(20.8, abs=0.1), "2"),
        (750.0, "1"),
    ]
    figures = browser.get(f"/forecasts/{forecast.pk}/figures/?begin=0&end=3600").json()["figures"]
    assert [[line["x0"] for line in one["layout"]["shapes"]] for one in figures.values()] == [[0.5]] * 7


def test_a_change_repeats_at_the_interval_of_its_row(browser: Client, scenario: Scenario) -> None:
    sent = {**form_data(WEIGHT, LOST), "horizon_seconds": "3d", "change-0-every": "1d"}
    wrong = browser.post(page_of(scenario), {**sent, "change-1-every": "never"})
    assert (wrong.status_code, wrong.context["timed"].rows[1].errors.keys()) == (422, {"every"})
    assert browser.post(page_of(scenario), sent).status_code == 302
    forecast = Forecast.objects.get()
    assert [change.get("every") for change in forecast.options["changes"]] == ["1d", None]
    content = browser.get(f"/forecasts/{forecast_done(forecast).pk}/").content.decode()
    assert len(re.findall(r"<circle class=\"timeline__mark\"", content)) == 4
    assert re.search(r"weight 5\.\s+It repeats every 1 d, 3 times in all\.", content)


def test_every_invalid_change_and_option_is_reported_with_its_row(
    browser: Client, scenario: Scenario
) -> None:
    wrong = form_data(
        ("soon", "queue", "waits", "weight=5"),
        ("1h", "queue", "nowhere", "weight=5"),
        ("2h", "add", "no-pool", "2"),
        ("3d", "close", "waits", ""),
    )
    answer = browser.post(page_of(scenario), {**wrong, "evicted": "vanish"})
    content = answer.content.decode()
    assert answer.status_code == 422
    for shown in (
        "&#x27;soon&#x27; is not a moment", "there is no queue &#x27;nowhere&#x27;",
        "there is no pool &#x27;no-pool&#x27;", "after the end of the forecast",
        "Unknown value for what happens to evicted pods",
    ):  # fmt: skip
        assert shown in content, shown
    assert 'value="nowhere"' in content
    for place in ("change 1, At", "change 2, Target", "change 3, Target", "change 4, At"):
        assert f'<code class="soft">{place}</code>' in content
    assert "<circle" not in content
    assert re.findall(r">change (\d), ", content) == ["1", "2", "3", "4"]
    rows = answer.context["timed"].rows
    errors = [{name: len(found) for name, found in row.errors.items()} for row in rows]
    assert errors == [{"at": 1}, {"subject": 1}, {"subject": 1}, {"at": 1}, {}, {}]
    unread = browser.post(
        page_of(scenario), form_data(("1h", "queue", "waits", "five"), ("1h", "add", "x", "some"))
    )
    rows = unread.context["timed"].rows
    assert [row.errors.keys() for row in rows[:2]] == [{"value"}, {"value"}]
    assert [row["value"].value() for row in rows[:2]] == ["five", "some"]
    assert "&#x27;five&#x27; is not field=value" in unread.content.decode()
    assert "&#x27;some&#x27; is not a number of nodes" in unread.content.decode()
    idle = browser.post(
        page_of(scenario), form_data(("1h", "close", "waits", "x=1"), ("2h", "nodes-lose", "n1", "3"))
    )
    assert [row.errors.keys() for row in idle.context["timed"].rows[:2]] == [{"value"}, {"value"}]
    assert "&#x27;x=1&#x27; has no effect on a change of this kind: leave it empty" in idle.content.decode()
    assert not Forecast.objects.exists()


CONF = """\
actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
"""


def test_a_row_gives_the_scheduler_another_configuration(browser: Client, scenario: Scenario) -> None:
    fresh = browser.get(page_of(scenario)).context["timed"].rows[0]
    assert fresh["conf"].value() == scenario.conf_text
    sent = form_data(("2h", "conf", "", ""), WEIGHT)
    # a browser sends the text of every row, and the ends of its lines as in HTTP
    texts = {"change-0-conf": CONF.replace("\n", "\r\n"), "change-1-conf": scenario.conf_text}
    assert browser.post(page_of(scenario), {**sent, **texts}).status_code == 302
    forecast = Forecast.objects.get()
    assert forecast.options["changes"][0] == {"at": "2h", "scheduler_conf": CONF}
    content = " ".join(browser.get(f"/forecasts/{forecast_done(forecast).pk}/").content.decode().split())
    assert "The scheduler gets another configuration:" in content, re.findall(
        "The scheduler gets.{200}", content
    )


def test_problems_of_a_configuration_are_at_its_field(browser: Client, scenario: Scenario) -> None:
    wrong = form_data(("2h", "conf", "", ""), ("", "conf", "", ""), ("3h", "conf", "waits", "weight=5"))
    answer = browser.post(
        page_of(scenario),
        {**wrong, "change-0-conf": "actions: [", "change-1-conf": CONF, "change-2-conf": CONF},
    )
    assert answer.status_code == 422
    rows = answer.context["timed"].rows
    assert [row.errors.keys() for row in rows[:3]] == [{"conf"}, {"at"}, {"subject", "value"}]
    assert rows[0]["conf"].value() == "actions: ["
    content = answer.content.decode()
    assert '<code class="soft">change 1, volcano-scheduler.conf</code>' in content
    unknown = {**form_data(("2h", "conf", "", "")), "change-0-conf": CONF.replace("allocate", "alocate")}
    (problem,) = browser.post(page_of(scenario), unknown).context["timed"].rows[0].errors["conf"]
    assert "alocate" in problem
    empty = browser.post(page_of(scenario), {**form_data(("2h", "conf", "", "")), "change-0-conf": " "})
    assert empty.context["timed"].rows[0].errors.keys() == {"conf"}
    assert not Forecast.objects.exists()


def test_change_rows_are_validated_added_and_removed_without_saving(
    browser: Client, scenario: Scenario
) -> None:
    check = page_of(scenario, "changes/")
    whole = browser.post(check, {**form_data(WEIGHT, LOST), "remove": "0"}).content.decode()
    assert "<h1" in whole
    assert 'value="n1"' in whole
    assert "weight=5 capability.cpu=8" not in whole
    headers = {**HTMX, "HX-Target": "changes"}
    part = browser.post(check, {**form_data(WEIGHT), "add": "1"}, headers=headers).content.decode()
    assert len(re.findall(r'id="change-\d+-at"', part)) == 4
    headers = {**HTMX, "HX-Target": "timeline"}
    line = browser.post(check, form_data(WEIGHT, LOST), headers=headers).content.decode()
    assert line.lstrip().startswith('<div class="timeline"')
    assert line.count("<circle") == 2
    assert not Forecast.objects.exists()


def test_a_change_after_the_end_of_the_forecast_is_refused(api: Client, scenario: Scenario) -> None:
    late = {"at": "2h", "queue": "waits", "state": "closed"}
    work = {"trace": str(factories.workload().pk), "rest": "waits", "horizon_seconds": 3600}
    at = f"/api/v1/scenarios/{scenario.pk}/forecasts/"
    answer = api.post(at, json.dumps({**work, "changes": [late]}), content_type="application/json")
    assert answer.status_code == 422
    assert "after the end of the forecast" in answer.json()["problems"][0]["message"]
