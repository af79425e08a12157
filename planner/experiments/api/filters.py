"""Filters of the list of experiments."""

import django_filters

from planner.experiments.models import Experiment
from planner.web.selectors.orders import order


class ExperimentFilter(django_filters.FilterSet):
    """Experiments."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = order("created", "finished", "name")

    class Meta:
        model = Experiment
        fields = ["state", "kind", "scenario"]
