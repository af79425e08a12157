"""Filters of the lists of runs and public links."""

import django_filters

from planner.api.filters import LabelledFilter
from planner.runs.models import PublicLink, Run
from planner.web.selectors.orders import order


class LinkFilter(django_filters.FilterSet):
    """Public links of a run."""

    ordering = order("created")

    class Meta:
        model = PublicLink
        fields: list[str] = []


class RunFilter(LabelledFilter):
    """Runs."""

    name = django_filters.CharFilter(lookup_expr="icontains")

    ordering = order("created", "finished")

    class Meta:
        model = Run
        fields = ["scenario", "state"]
