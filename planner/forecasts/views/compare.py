"""The page that compares two forecasts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from planner.forecasts.forms.forecasts import FACTORS, TIMES
from planner.forecasts.models import Forecast
from planner.forecasts.selectors.forecasts import changes_over_seeds, two_forecasts
from planner.forecasts.selectors.prices import costs_of_both, prices_of
from planner.web.templatetags.quantities import counted
from planner.web.views.listing import Listing
from planner.web.views.pages import caller
from planning.constraint_choices import NODE_CONSTRAINTS
from planning.forecasts.changed_state import shown_value
from planning.forecasts.clock import spelled
from planning.forecasts.comparison import cost_against_benefit
from planning.forecasts.costs import UNASSIGNED, Costs, QueueCost
from planning.forecasts.options import DEFAULTS, EVICTED, RUNNING_JOBS
from planning.units import exact

OPTIONS = {
    **{name: label for name, label, *_ in TIMES},
    "termination_seconds": "Termination of evicted pods",
    "evicted": "Evicted pods",
    "seeds": "Drawn workloads",
    **dict(FACTORS),
    "rates": "Rates of single queues",
    "node_constraints": "Node constraints",
    "running_jobs": "Running jobs of the trace",
    "rest": "Queue for the rest",
    "queues": "Queues of the trace",
    "changes": "Changes in time",
    "targets": "Wait targets",
}
"""The label of each option of a forecast."""
_CHOICES = {"evicted": EVICTED, "node_constraints": NODE_CONSTRAINTS, "running_jobs": RUNNING_JOBS}
_MOST_ENTRIES = 5
"""The most entries of an option, such as targets of queues, that are written out."""


def options_that_differ(before: Forecast, after: Forecast) -> Iterator[tuple[str, str, str]]:
    """Yield the label of each option in which two forecasts differ, and its value in both."""
    first, second = ({**DEFAULTS, **forecast.options} for forecast in (before, after))
    for name, label in OPTIONS.items():
        if first[name] != second[name]:
            yield label, *_value_texts(name, first[name], second[name])


def _value_texts(name: str, before: Any, after: Any) -> tuple[str, str]:
    """Return two values of an option as different texts."""
    if name == "changes":
        return _changes_text(before, after), _changes_text(after, before)
    if isinstance(before, Mapping):
        return _entries(before, after), _entries(after, before)
    texts = _value_text(name, before), _value_text(name, after)
    return texts if texts[0] != texts[1] else (f"{exact(before)} s", f"{exact(after)} s")


def _entries(own: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return the entries that the other mapping lacks or has with another value."""
    return _first_of([f"{key}: {value}" for key, value in own.items() if other.get(key) != value], ", ")


def _first_of(texts: Sequence[str], between: str) -> str:
    more = f" and {len(texts) - _MOST_ENTRIES} more" if len(texts) > _MOST_ENTRIES else ""
    return f"{between.join(texts[:_MOST_ENTRIES])}{more}" or "none"


def _changes_text(own: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]) -> str:
    """Return the timed changes that the other forecast lacks, as they were written."""
    texts = [_change_text(change) for change in own if change not in other]
    same = len(own) - len(texts)
    return _first_of([*texts, *([f"{counted(same, 'change')} as in the other"] if same else [])], "; ")


def _change_text(change: Mapping[str, Any]) -> str:
    """Return a timed change as it was written.

    >>> _change_text({"at": "18:00", "every": "1d", "queue": "a", "set": {"deserved": {"cpu": "8"}}})
    'at 18:00, every 1d: queue a, set deserved cpu=8'
    >>> _change_text({"at": 7200, "nodes": ["n1", "n2"], "how": "lose"})
    'at 7200: nodes n1 n2, how lose'
    """
    repeats = f", every {change['every']}" if "every" in change else ""
    parts = [_part_text(name, value) for name, value in change.items() if name not in ("at", "every")]
    return f"at {change['at']}{repeats}: {', '.join(parts)}"


def _part_text(name: str, value: Any) -> str:
    if name == "scheduler_conf":
        return "another scheduler configuration"
    if isinstance(value, Mapping):
        return f"{name} {', '.join(f'{field} {shown_value(inner)}' for field, inner in value.items())}"
    return f"{name} {' '.join(value) if isinstance(value, list) else value}"


def _value_text(name: str, value: Any) -> str:
    if name.endswith("_seconds"):
        return "grace period of the pod" if value is None else spelled(value)
    if name in _CHOICES:
        return _CHOICES[name][value]
    return exact(value) if isinstance(value, (int, float)) else value or "none"


def bills(paid: tuple[Costs, Costs] | None) -> list[tuple[str, QueueCost, QueueCost]]:
    """Return the costs of each queue in both forecasts, the largest change first; empty without prices."""
    if paid is None:
        return []
    first, second = ({row.queue: row for row in one.queues} for one in paid)
    nothing = QueueCost("", 0.0, 0.0, 0.0, 0.0, 0.0, {})
    found = [
        (name, first.get(name, nothing), second.get(name, nothing)) for name in sorted({*first, *second})
    ]
    return sorted(found, key=lambda bill: (bill[0] == UNASSIGNED, -abs(bill[2].charged - bill[1].charged)))


@require_GET
def compare(request: HttpRequest) -> HttpResponse:
    """Show two forecasts side by side, paired by job, older first."""
    try:
        ids = [UUID(text) for text in request.GET.getlist("forecasts")]
    except ValueError:
        raise Http404 from None
    if len(ids) != 2:
        return render(request, "forecasts/compare_none.html", {"why": "Choose two forecasts."})
    try:
        before, after, found = two_forecasts(caller(request), *ids)
    except Forecast.DoesNotExist:
        raise Http404 from None
    if found is None:
        why = "Both forecasts must have succeeded."
        return render(request, "forecasts/compare_none.html", {"why": why})
    different = [pair for pair in found.pairs if pair.differs]
    pairs = sorted(different, key=lambda pair: (-abs(pair.longer), pair.job))
    queues = sorted(found.queues, key=lambda row: (-(row.longer + row.shorter), row.queue))
    paid = costs_of_both(before, after, prices_of(before.workspace))
    context = {
        "before": before,
        "after": after,
        "found": found,
        "queues": Listing(queues, name="queues", params=request.GET),
        "same_work": before.workload_id == after.workload_id,
        "options": list(options_that_differ(before, after)),
        "sentence": cost_against_benefit(found, paid),
        "paid": paid,
        "bills": Listing(bills(paid), name="costs", params=request.GET),
        "seeds": changes_over_seeds(before, after),
        "jobs": Listing(pairs, name="page", params=request.GET),
    }
    return render(request, "forecasts/compare.html", context)
