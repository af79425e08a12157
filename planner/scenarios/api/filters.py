"""Filters of the lists of scenarios, queues and changes."""

import django_filters

from planner.api.filters import LabelledFilter, words_filter
from planner.scenarios.models import Change, Queue, Scenario
from planner.web.selectors.orders import order
from planner.web.selectors.words import CHANGE_TEXTS


class ScenarioFilter(LabelledFilter):
    """Scenarios."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = order("updated", "created", "name")

    class Meta:
        model = Scenario
        fields = ["snapshot"]


class QueueFilter(django_filters.FilterSet):
    """Queues of a scenario."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = order("name", "parent", "weight", "priority")

    class Meta:
        model = Queue
        fields = ["parent", "reclaimable", "state"]


class ChangeFilter(django_filters.FilterSet):
    """Changes of a scenario, newest first unless another order is requested."""

    key = django_filters.CharFilter(lookup_expr="icontains", help_text="Part of the object's name.")
    user = django_filters.CharFilter(field_name="actor", help_text="Account that made the change.")
    since = django_filters.NumberFilter(
        field_name="revision", lookup_expr="gt", help_text="After this revision."
    )
    ordering = order("revision", "kind", "key")

    class Meta:
        model = Change
        fields = ["revision", "kind", "field", "way"]


class WorkspaceChangeFilter(django_filters.FilterSet):
    """Changes of the scenarios of a workspace, newest first unless another order is requested."""

    key = django_filters.CharFilter(lookup_expr="icontains", help_text="Part of the object's name.")
    user = django_filters.CharFilter(field_name="actor", help_text="Account that made the change.")
    since = django_filters.IsoDateTimeFilter(field_name="created", lookup_expr="gte")
    scenario_name = django_filters.CharFilter(
        field_name="scenario__name", lookup_expr="icontains", help_text="Part of the scenario's name."
    )
    words = words_filter(CHANGE_TEXTS, "Part of the names of account, scenario, object or field.")
    ordering = order("created", ("scenario__name", "scenario_name"), "kind", "key")

    class Meta:
        model = Change
        fields = ["scenario", "kind", "field", "way"]
