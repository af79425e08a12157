"""Terms on pages link to the glossary."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from planner.runs.models import Run
from planner.scenarios.models import Scenario
from planner.web.glossary import GATES, OURS, VOLCANO, anchor, gate_anchor
from scheduler_core.explain import REASONS
from tests import factories
from tests.planner.pages import text_of
from tests.planner.recorded import simulated_run
from tests.shared import ROOT

pytestmark = pytest.mark.django_db

DOCS = ROOT / "docs" / "glossary.md"
HELP = re.compile(r'<a class="help" href="([^"]+)" aria-label="What is ([^"]+)\?"></a>')


@pytest.fixture
def scenario() -> Scenario:
    return factories.scenario()


@pytest.fixture
def run() -> Run:
    return simulated_run("gated", 0)


def rows(section: str) -> dict[str, str]:
    """Return the terms of a section of the docs."""
    text = DOCS.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", text, flags=re.MULTILINE))


def test_the_documented_glossary_equals_the_page() -> None:
    assert rows("Volcano's terms") == VOLCANO
    assert rows("Gates") == GATES
    assert rows("Queuecast's terms") == OURS


def test_every_gate_of_the_core_is_explained() -> None:
    assert set(GATES) == {name.removeprefix("gate.") for name in REASONS if name.startswith("gate.")}


def test_every_term_has_its_own_anchor(browser: Client) -> None:
    page = text_of(browser.get(reverse("planner:glossary")))
    fragments = [*map(anchor, [*VOLCANO, *OURS]), *map(gate_anchor, GATES)]
    assert len(set(fragments)) == len(fragments)
    assert [fragment for fragment in fragments if page.count(f'id="{fragment}"') != 1] == []


@pytest.mark.parametrize("term", ["deserved", "guarantee", "capability", "share", "reclaimable"])
def test_the_workbench_links_its_columns_to_the_glossary(
    browser: Client, scenario: Scenario, term: str
) -> None:
    page = text_of(browser.get(reverse("planner:scenario-detail", args=[scenario.pk])))
    assert term in {name for _, name in HELP.findall(page)}


def test_the_pages_of_a_run_link_their_terms_to_the_glossary(browser: Client, run: Run) -> None:
    waiting = run.job_outcomes.exclude(gate="")[0]
    pages = {
        reverse("planner:run-detail", args=[run.pk]): {"deserved", "guarantee", "capability", "share"},
        reverse("planner:run-queue", args=[run.pk, waiting.queue]): {
            "deserved",
            "real capability",
            "elastic",
        },
        reverse("planner:run-job", args=[run.pk, *waiting.job.split("/")]): {
            "minMember",
            "gate scheduling-gate",
        },
    }
    glossary = text_of(browser.get(reverse("planner:glossary")))
    for address, words in pages.items():
        found = HELP.findall(text_of(browser.get(address)))
        assert words <= {name for _, name in found}, address
        for target, _ in found:
            assert f'id="{target.partition("#")[2]}"' in glossary
