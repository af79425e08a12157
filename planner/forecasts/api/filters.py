"""Filters of the lists of traces and forecasts."""

import django_filters

from planner.forecasts.models import Forecast, WorkloadTrace
from planner.web.selectors.orders import order


class TraceFilter(django_filters.FilterSet):
    """Workload traces."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = order("created", "name", "jobs")

    class Meta:
        model = WorkloadTrace
        fields = ["format"]


class ForecastFilter(django_filters.FilterSet):
    """Forecasts."""

    ordering = order("created", "finished")

    class Meta:
        model = Forecast
        fields = ["state", "scenario", "trace"]
