"""The results of searches for what would unblock a job."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from planner.runs.models import Run
from planning.fitting import Probe
from planning.rows import Check, Checklist, Reason, Search, Unblocking


def search_of(run: Run, job: str) -> Run | None:
    """Return the newest search about a job of a run, None without one (1 query)."""
    return run.searches.filter(job=job, new_release="").order_by("-created").first()


def fitting_of(run: Run, probe: Probe) -> Run | None:
    """Return the newest search for a place for a pod in a run, None without one (1 query)."""
    fittings = run.searches.filter(probe=asdict(probe)).order_by("-created")
    return fittings.first()


def newest_fitting(run: Run) -> Run | None:
    """Return the newest search for a place (1 query)."""
    return run.searches.filter(probe__isnull=False).order_by("-created").first()


@dataclass(frozen=True)
class Refused:
    """How many nodes reject a pod for one reason."""

    reason: str
    nodes: int


@dataclass(frozen=True)
class Fitting:
    """The answers of the nodes for a pod; `refused` counts nodes by reason, most frequent first."""

    probe: Probe
    refusal: str
    queue: Mapping[str, Any] | None
    chosen: str | None
    nodes: Sequence[Mapping[str, Any]]
    refused: Sequence[Refused]

    @property
    def taking(self) -> list[Mapping[str, Any]]:
        """The nodes that the pod fits on, best first; equal ones by name."""
        taking = [node for node in self.nodes if node["fits"]]
        return sorted(
            taking, key=lambda node: (node["name"] != self.chosen, -(node["score"] or 0.0), node["name"])
        )


def fitting_found(search: Run) -> Fitting | None:
    """Return the result of a search for a place, None while it has none (1 query at its end)."""
    if search.state != Run.State.SUCCEEDED or search.result is None or search.probe is None:
        return None
    document = search.result.document()
    refused = Counter(reason for node in document["nodes"] for reason in node["reasons"])
    return Fitting(
        probe=Probe(**search.probe),
        **{name: document[name] for name in ("refusal", "queue", "chosen", "nodes")},
        refused=[
            Refused(*entry) for entry in sorted(refused.items(), key=lambda entry: (-entry[1], entry[0]))
        ],
    )


def found(search: Run) -> Search | None:
    """Return the result of a search or what it has found so far, None if nothing (1 query at its end)."""
    if search.state == Run.State.SUCCEEDED and search.result is not None:
        return _search(search.result.document())
    return _search(search.found_so_far) if search.found_so_far else None


def _search(document: Mapping[str, Any]) -> Search:
    return Search(
        **{name: document[name] for name in ("job", "waits", "simulations", "complete")},
        stopped=Reason(**document["stopped"]) if document["stopped"] else None,
        changes=[_unblocking(change) for change in document["changes"]],
        not_enough=[Reason(**reason) for reason in document["not_enough"]],
        checklist=[
            Checklist(
                **{name: entry[name] for name in ("action", "evicted", "stopped_at")},
                conclusion=Reason(**entry["conclusion"]) if entry.get("conclusion") else None,
                checks=[Check(check["passed"], Reason(**check["reason"])) for check in entry["checks"]],
            )
            for entry in document.get("checklist", ())
        ],
    )


def _unblocking(change: Mapping[str, Any]) -> Unblocking:
    kept = {field.name: change[field.name] for field in fields(Unblocking) if field.name in change}
    return Unblocking(**{**kept, "reason": Reason(**change["reason"])})
