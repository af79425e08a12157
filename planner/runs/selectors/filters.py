"""Filters and orders of the lists of a run; pages and API calls take the same parameters."""

from typing import Any

import django_filters
from django.db.models import QuerySet

from planner.runs.models import JobOutcome, QueueOutcome, Trace, Victim
from planner.runs.models.outcome import WAITS, DecisionState
from planner.runs.selectors.steps import TEXTS, Steps
from planner.web.selectors.orders import order
from planner.web.selectors.words import holding

JOB_TEXTS = ("job", "queue", "message")
VICTIM_TEXTS = ("pod", "job", "queue", "node", "for_pod", "for_queue")


class _Words(django_filters.FilterSet):
    """Rows that contain some words in one of their `texts`."""

    texts: tuple[str, ...]
    words = django_filters.CharFilter(method="filter_words", help_text="Part of one of the names of a row.")

    def filter_words(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Return the rows that contain the words."""
        return holding(rows, self.texts, value)


class QueueOutcomeFilter(django_filters.FilterSet):
    """Queues of a run; in tree order unless another order is requested."""

    ordering = order("queue", "share", "weight")

    class Meta:
        model = QueueOutcome
        fields = ["queue", "parent", "overused", "in_session"]


class JobOutcomeFilter(_Words):
    """Jobs of a run; in the order of the result unless another order is requested."""

    texts = JOB_TEXTS
    job = django_filters.CharFilter(lookup_expr="icontains", help_text="Part of namespace/name.")
    phase = django_filters.CharFilter(field_name="phase_after", help_text="Phase after the run.")
    pending = django_filters.BooleanFilter(
        method="filter_pending", help_text="Whether it waits: for places for pods, or for its first pods."
    )
    ordering = order(
        "job", "queue", "priority", "pending", "pods", "gate", "resource", "min_available",
        ("phase_after", "phase"), then="position",
    )  # fmt: skip

    class Meta:
        model = JobOutcome
        fields = ["queue", "gate", "resource", "ready", "starving", "pipelined"]

    def filter_pending(self, jobs: QuerySet[JobOutcome], name: str, value: bool) -> QuerySet[JobOutcome]:
        """Return the jobs that wait, or those that do not."""
        return jobs.filter(WAITS) if value else jobs.exclude(WAITS)


class VictimFilter(_Words):
    """Victims of a run, in the order of selection unless another order is requested."""

    texts = VICTIM_TEXTS
    ordering = order(
        "order", "pod", "job", "queue", "node", "for_pod", "for_queue", "action", "state", "ran_seconds",
        then="order",
    )  # fmt: skip

    class Meta:
        model = Victim
        fields = [
            "cycle",
            "pod",
            "job",
            "queue",
            "node",
            "for_pod",
            "for_job",
            "for_queue",
            "action",
            "state",
        ]


class DecisionFilter(django_filters.FilterSet):
    """Decisions of a run, in their order unless another order is requested."""

    cycle = django_filters.NumberFilter()
    action = django_filters.CharFilter()
    op = django_filters.CharFilter()
    job = django_filters.CharFilter()
    pod = django_filters.CharFilter()
    node = django_filters.CharFilter()
    for_pod = django_filters.CharFilter()
    state = django_filters.ChoiceFilter(choices=DecisionState.choices)
    words = django_filters.CharFilter(help_text="Part of the name of job, pod or node.")
    ordering = order("seq", "cycle", "action", "op", "job", "pod", "node", "for_pod", "state")

    def __init__(self, data: Any = None, queryset: Any = None, **options: Any) -> None:
        super().__init__(data, Trace.objects.none(), **options)
        self._steps: Steps = queryset

    @property
    def qs(self) -> Steps:
        """Return the matching steps, filtered in memory."""
        cleaned = self.form.cleaned_data if self.form.is_valid() else {}
        criteria = {name: value for name, value in cleaned.items() if value not in (None, "", [])}
        found = self._steps
        ordering, words = criteria.pop("ordering", []), criteria.pop("words", "")
        if criteria:
            found = found.where(**criteria)
        if words:
            found = found.containing(words, TEXTS)
        for field in reversed(ordering):
            found = found.ordered(field.removeprefix("-"), backwards=field.startswith("-"))
        return found
