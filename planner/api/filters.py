"""By what can a list be filtered and ordered? Declared once, for the query string and for the schema."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import django_filters
from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from planner.accounts.models import Event, Invitation, Membership, Session, TokenDetails
from planner.clusters.models import Cluster, Import, Snapshot
from planner.runs.models import JobOutcome, PublicLink, QueueOutcome, Run, Trace, Victim
from planner.runs.models.outcome import DecisionState
from planner.runs.selectors.steps import Steps
from planner.scenarios.models import Change, Queue, Scenario
from planner.web.selectors.words import CHANGE_TEXTS, EVENT_TEXTS, holding

_OF_EVERY_LIST = {"page", "page_size", "fields", "format"}
ORDERING = "ordering"

Row = TypeVar("Row")


class KnownFilters(DjangoFilterBackend):
    """Filter by what the list's filter set declares; a misspelt filter is an error, not the whole list."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: APIView) -> QuerySet[Any]:
        """Return the matching rows."""
        known = set(self.get_filterset_class(view, queryset).base_filters) | _OF_EVERY_LIST
        refuse_unknown(request.query_params, known)
        rows: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        return rows


def refuse_unknown(asked: Iterable[str], known: set[str]) -> None:
    """Raise for every query parameter that nothing here would read."""
    message = f"Unknown here. Known: {', '.join(sorted(known))}."
    unknown = {name: ErrorDetail(message, code="unknown_parameter") for name in asked if name not in known}
    if unknown:
        raise ValidationError(unknown)


def _order(*fields: str | tuple[str, str]) -> django_filters.OrderingFilter:
    return django_filters.OrderingFilter(
        fields=[field if isinstance(field, tuple) else (field, field) for field in fields]
    )


def _words(texts: tuple[str, ...], help_text: str) -> django_filters.CharFilter:
    def found(rows: QuerySet[Any], name: str, words: str) -> QuerySet[Any]:
        return holding(rows, texts, words)

    return django_filters.CharFilter(method=found, help_text=help_text)


def is_asked(request: Request, name: str) -> bool | None:
    """Return what a parameter asks for, true or false; None when it is not there."""
    said = request.query_params.get(name)
    if said is None:
        return None
    if said.lower() not in ("true", "false"):
        raise ValidationError({name: [ErrorDetail("Write true or false.", "invalid")]})
    return said.lower() == "true"


def in_order_asked(rows: list[Row], request: Request, keys: Mapping[str, Callable[[Row], Any]]) -> list[Row]:
    """Return rows that are no queryset in the order of ``ordering=-pending,name``; as they are without it."""
    asked = [name for name in request.query_params.get(ORDERING, "").split(",") if name]
    if unknown := [name for name in asked if name.removeprefix("-") not in keys]:
        message = f"Unknown here: {', '.join(unknown)}. Known: {', '.join(keys)}, each also with a -."
        raise ValidationError({ORDERING: [ErrorDetail(message, "invalid_choice")]})
    for name in reversed(asked):
        rows = sorted(rows, key=keys[name.removeprefix("-")], reverse=name.startswith("-"))
    return rows


def ordering_parameter(names: Iterable[str]) -> OpenApiParameter:
    """Return how the schema describes the order of a list that is no queryset."""
    both = [way + name for name in names for way in ("", "-")]
    return OpenApiParameter(ORDERING, str, enum=both, many=True, explode=False, style="form")


class WorkspaceFilter(django_filters.FilterSet):
    """Workspaces of the caller."""

    name = django_filters.CharFilter(field_name="workspace__name", lookup_expr="icontains")
    ordering = _order(("workspace__name", "name"))

    class Meta:
        model = Membership
        fields = ["role"]


class MemberFilter(django_filters.FilterSet):
    """Members of a workspace."""

    ordering = _order(("user__username", "user"), ("created", "since"))

    class Meta:
        model = Membership
        fields = ["role"]


class TokenFilter(django_filters.FilterSet):
    """Tokens of the caller."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = _order(("token__created", "created"), ("token__expiry", "expires"), "last_used", "name")

    class Meta:
        model = TokenDetails
        fields = ["scope"]


class InvitationFilter(django_filters.FilterSet):
    """Open invitations of a workspace."""

    ordering = _order("created", "expires")

    class Meta:
        model = Invitation
        fields = ["role"]


class OfferFilter(InvitationFilter):
    """Invitations that name the caller."""


class SessionFilter(django_filters.FilterSet):
    """Sessions of the caller."""

    ordering = _order("began", "expire_date")

    class Meta:
        model = Session
        fields: list[str] = []


class LoginFilter(django_filters.FilterSet):
    """Log-ins to the caller's account."""

    ordering = _order("created")

    class Meta:
        model = Event
        fields = ["action"]


class EventFilter(django_filters.FilterSet):
    """What happened to members, tokens, invitations and links."""

    subject = django_filters.CharFilter(lookup_expr="icontains")
    words = _words(EVENT_TEXTS, "Part of the account name or the subject.")
    since = django_filters.IsoDateTimeFilter(field_name="created", lookup_expr="gte")
    ordering = _order("created", "actor", "subject")

    class Meta:
        model = Event
        fields = ["actor", "kind", "action"]


class LinkFilter(django_filters.FilterSet):
    """Public links of a run."""

    ordering = _order("created")

    class Meta:
        model = PublicLink
        fields: list[str] = []


class ClusterFilter(django_filters.FilterSet):
    """Clusters."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = _order("name", "created")

    class Meta:
        model = Cluster
        fields = ["workspace"]


class SnapshotFilter(django_filters.FilterSet):
    """Snapshots."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = _order("created", "name")

    class Meta:
        model = Snapshot
        fields = ["cluster"]


class ImportFilter(django_filters.FilterSet):
    """Imports that workers read."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = _order("created", "finished", "name")

    class Meta:
        model = Import
        fields = ["state", "snapshot"]


class ScenarioFilter(django_filters.FilterSet):
    """Scenarios."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = _order("updated", "created", "name")

    class Meta:
        model = Scenario
        fields = ["snapshot"]


class QueueFilter(django_filters.FilterSet):
    """Queues of a scenario."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = _order("name", "parent", "weight", "priority")

    class Meta:
        model = Queue
        fields = ["parent", "reclaimable", "state"]


class ChangeFilter(django_filters.FilterSet):
    """Changes of a scenario, newest first unless asked otherwise."""

    key = django_filters.CharFilter(lookup_expr="icontains", help_text="Part of the object's name.")
    user = django_filters.CharFilter(field_name="actor", help_text="Account that made the change.")
    since = django_filters.NumberFilter(
        field_name="revision", lookup_expr="gt", help_text="After this revision."
    )
    ordering = _order("revision", "kind", "key")

    class Meta:
        model = Change
        fields = ["revision", "kind", "field", "way"]


class WorkspaceChangeFilter(django_filters.FilterSet):
    """Changes of the scenarios of a workspace, newest first unless asked otherwise."""

    key = django_filters.CharFilter(lookup_expr="icontains", help_text="Part of the object's name.")
    user = django_filters.CharFilter(field_name="actor", help_text="Account that made the change.")
    since = django_filters.IsoDateTimeFilter(field_name="created", lookup_expr="gte")
    scenario_name = django_filters.CharFilter(
        field_name="scenario__name", lookup_expr="icontains", help_text="Part of the scenario's name."
    )
    words = _words(CHANGE_TEXTS, "Part of the account name, or of the names of scenario, object or field.")
    ordering = _order("created", ("scenario__name", "scenario_name"), "kind", "key")

    class Meta:
        model = Change
        fields = ["scenario", "kind", "field", "way"]


class RunFilter(django_filters.FilterSet):
    """Runs."""

    ordering = _order("created", "finished")

    class Meta:
        model = Run
        fields = ["scenario", "state"]


class QueueOutcomeFilter(django_filters.FilterSet):
    """Queues of a run; in tree order unless asked otherwise."""

    ordering = _order("queue", "share", "weight")

    class Meta:
        model = QueueOutcome
        fields = ["queue", "parent", "overused", "in_session"]


class JobOutcomeFilter(django_filters.FilterSet):
    """Jobs of a run."""

    job = django_filters.CharFilter(lookup_expr="icontains", help_text="Part of namespace/name.")
    phase = django_filters.CharFilter(field_name="phase_after", help_text="Phase after the run.")
    pending = django_filters.BooleanFilter(
        method="filter_pending", help_text="Whether one of its pods waits."
    )
    ordering = _order("job", "queue", "priority", "pending", "pods")

    class Meta:
        model = JobOutcome
        fields = ["queue", "gate", "ready", "starving", "pipelined"]

    def filter_pending(self, jobs: QuerySet[JobOutcome], name: str, value: bool) -> QuerySet[JobOutcome]:
        """Return the jobs that wait, or those that do not."""
        return jobs.filter(pending__gt=0) if value else jobs.filter(pending=0)


class VictimFilter(django_filters.FilterSet):
    """Victims of a run, in the order chosen unless asked otherwise."""

    ordering = _order("order", "pod", "job", "queue", "node", "for_queue")

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
    """Decisions of a run, in the order taken unless asked otherwise."""

    cycle = django_filters.NumberFilter()
    action = django_filters.CharFilter()
    op = django_filters.CharFilter()
    job = django_filters.CharFilter()
    pod = django_filters.CharFilter()
    node = django_filters.CharFilter()
    for_pod = django_filters.CharFilter()
    state = django_filters.ChoiceFilter(choices=DecisionState.choices)
    ordering = _order("seq", "job", "pod", "node")

    def __init__(self, data: Any = None, queryset: Any = None, **options: Any) -> None:
        super().__init__(data, Trace.objects.none(), **options)
        self._steps: Steps = queryset

    @property
    def qs(self) -> Steps:
        """Return the steps asked for; they are filtered in memory."""
        asked = {name: value for name, value in self.form.cleaned_data.items() if value not in (None, "", [])}
        found = self._steps
        for field in reversed(asked.pop(ORDERING, [])):
            found = found.ordered(field.removeprefix("-"), backwards=field.startswith("-"))
        return found.where(**asked) if asked else found
