"""Search by name: scenarios, runs, queues, jobs, pods, nodes, glossary and pages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, islice
from uuid import UUID

from django.db.models import Q
from django.urls import reverse

from planner.accounts.models import User
from planner.runs.models import Run
from planner.runs.selectors.runs import runs
from planner.runs.selectors.stories import node_names, pods_named
from planner.scenarios.models import Queue
from planner.scenarios.selectors.scenarios import scenarios
from planner.web.glossary import GATES, OURS, VOLCANO, anchor, gate_anchor

MOST = 6
"""The most results of each kind."""
EDIT = "edit in "
"""The beginning of what is said about queues of scenarios, to tell them from those of a run."""
SHORTEST = 2
"""Shorter words find nothing, as almost every name contains them."""

PAGES = {
    "Scenarios": ("planner:home", "start page"),
    "Import a cluster": ("planner:import", "files or pasted text"),
    "Status of the installation": ("planner:status", "workers, queued and running work"),
    "Account": ("planner:account", "tokens, members, security"),
    "Security": ("planner:security", "password, sessions, second factor"),
    "Glossary": ("planner:glossary", "what the words mean"),
    "API reference": ("api:docs", "calls, parameters, answers"),
}


@dataclass(frozen=True)
class Hit:
    """An object with the words in its name, and its page; `is_cut`: there are more like it than shown."""

    kind: str
    name: str
    about: str
    address: str
    is_cut: bool = False


@dataclass(frozen=True)
class Found:
    """The results, and the run whose queues, jobs, pods and nodes were searched."""

    hits: list[Hit]
    run: Run | None

    @property
    def most(self) -> int:
        """Return the most results of a kind."""
        return MOST


def search(user: User, words: str, near: UUID | None = None) -> Found:
    """Return the objects whose names contain the words, prefix matches first (7 queries at most).

    Queues, jobs, pods and nodes are those of the run `near`, otherwise of the newest successful run.
    """
    if len(words) < SHORTEST:
        return Found([], None)
    finished = runs(user).filter(state=Run.State.SUCCEEDED, archived=None)
    run = (finished.filter(pk=near).first() if near else None) or finished.first()
    hits = [
        *_scenarios(user, words),
        *_runs(user, words),
        *(_of_run(run, words) if run else ()),
        *_queues_of_scenarios(user, words),
        *_help(words),
    ]
    return Found(list(_shown(hits)), run)


def _shown(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Yield the first results of each kind from each source, which yields one more if there are more."""
    for _, listed in groupby(hits, key=lambda hit: (hit.kind, hit.about.startswith(EDIT))):
        alike = list(listed)
        yield from (replace(hit, is_cut=len(alike) > MOST) for hit in alike[:MOST])


def _scenarios(user: User, words: str) -> Iterator[Hit]:
    found = scenarios(user).filter(Q(name__icontains=words) | Q(tags__icontains=words))
    for scenario in found[: MOST + 1]:
        about = f"{scenario.snapshot.name}, revision {scenario.revision}"
        yield Hit("scenario", scenario.name, about, reverse("planner:scenario-detail", args=[scenario.pk]))


def _runs(user: User, words: str) -> Iterator[Hit]:
    named = Q(name__icontains=words) | Q(tags__icontains=words) | Q(scenario__name__icontains=words)
    for run in runs(user).filter(named)[: MOST + 1]:
        name = run.name or f"Run of {run.scenario.name}"
        about = f"{run.created:%-d %b %Y, %H:%M}, revision {run.scenario_revision}, {run.get_state_display()}"
        yield Hit("run", name, about, reverse("planner:run-detail", args=[run.pk]))


def _of_run(run: Run, words: str) -> Iterator[Hit]:
    """Yield queues, jobs, pods and nodes of a run."""
    queues = run.queue_outcomes.filter(queue__icontains=words).values_list("queue", flat=True)
    for queue in _nearest(queues, words):
        yield Hit("queue", queue, "in this run", reverse("planner:run-queue", args=[run.pk, queue]))
    jobs = run.job_outcomes.filter(job__icontains=words).values_list("job", "queue")
    homes = dict(jobs[: MOST * 20])
    for job in _nearest(homes, words):
        yield Hit("job", job, f"queue {homes[job]}", _namespaced("planner:run-job", run, job))
    places = {place.pod: place for place in islice(pods_named(run, words), MOST * 20)}
    for pod in _nearest(places, words):
        place = places[pod]
        about = f"{place.status} on {place.node}" if place.node else place.status
        yield Hit("pod", pod, about, _namespaced("planner:run-pod", run, pod))
    for node in _nearest((name for name in node_names(run) if words.lower() in name.lower()), words):
        yield Hit("node", node, "in this run", reverse("planner:run-node", args=[run.pk, node]))


def _queues_of_scenarios(user: User, words: str) -> Iterator[Hit]:
    found = Queue.objects.filter(name__icontains=words, scenario__in=scenarios(user).filter(archived=None))
    for queue in found.select_related("scenario").order_by("-scenario__updated", "name")[: MOST + 1]:
        address = reverse("planner:scenario-detail", args=[queue.scenario_id])
        yield Hit("queue", queue.name, f"{EDIT}{queue.scenario.name}", f"{address}#queue-{queue.name}")


def _help(words: str) -> Iterator[Hit]:
    sought = words.lower()
    pages = [
        Hit("help", name, about, reverse(route))
        for name, (route, about) in PAGES.items()
        if sought in f"{name} {about}".lower()
    ]
    glossary = reverse("planner:glossary")
    terms = {
        **{term: (anchor(term), meaning) for term, meaning in {**VOLCANO, **OURS}.items()},
        **{f"gate {gate}": (gate_anchor(gate), meaning) for gate, meaning in GATES.items()},
    }
    found = {
        name: f"{glossary}#{fragment}" for name, (fragment, _) in terms.items() if sought in name.lower()
    }
    yield from pages[: MOST + 1]
    for name in _nearest(found, words):
        yield Hit("help", name, terms[name][1], found[name])


def _nearest(names: Iterable[str], words: str) -> list[str]:
    """Return the first names: exact matches, then prefix matches, then shorter ones."""
    sought = words.lower()

    def far(name: str) -> tuple[bool, bool, int, str]:
        own = name.rpartition("/")[2].lower()
        return own != sought, not own.startswith(sought), len(name), name

    return sorted(set(names), key=far)[: MOST + 1]


def _namespaced(route: str, run: Run, key: str) -> str:
    return reverse(route, args=[run.pk, *key.split("/", 1)])
