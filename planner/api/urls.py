"""The URLs of all API calls."""

from django.urls import path, re_path

from planner.accounts.api import urls as accounts
from planner.api import docs, search, status
from planner.api.missing import Nowhere
from planner.api.schema import Schema
from planner.clusters.api import urls as clusters
from planner.experiments.api import urls as experiments
from planner.forecasts.api import urls as forecasts
from planner.runs.api import urls as runs
from planner.scenarios.api import urls as scenarios
from planner.upgrades import api as upgrades

app_name = "api"

urlpatterns = [
    path("schema/", Schema.as_view(), name="schema"),
    path("docs/", docs.Docs.as_view(), name="docs"),
    path("runs/<uuid:run_id>/upgrade/", upgrades.RunUpgrade.as_view(), name="run-upgrade"),
    path("search/", search.Search.as_view(), name="search"),
    path("status/", status.StatusDetail.as_view(), name="status"),
    *accounts.calls,
    *clusters.calls,
    *scenarios.calls,
    *runs.calls,
    *forecasts.calls,
    *experiments.calls,
    re_path("", Nowhere.as_view(), name="nowhere"),
]
