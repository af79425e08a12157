"""The URLs of the pages of traces and forecasts."""

from django.urls import path

from planner.forecasts.views import compare, evaluation, forecasts, moments, traces

pages = [
    path("traces/", traces.listing, name="traces"),
    path("traces/<uuid:trace_id>/", traces.detail, name="trace"),
    path("traces/<uuid:trace_id>/delete/", traces.delete, name="trace-delete"),
    path("scenarios/<uuid:scenario_id>/forecasts/", forecasts.begin, name="scenario-forecasts"),
    path("scenarios/<uuid:scenario_id>/forecasts/changes/", forecasts.changes, name="forecast-changes"),
    path("scenarios/<uuid:scenario_id>/targets/", forecasts.targets, name="scenario-targets"),
    path("forecasts/compare/", compare.compare, name="forecast-compare"),
    path("forecasts/<uuid:forecast_id>/", forecasts.detail, name="forecast"),
    path("forecasts/<uuid:forecast_id>/figures/", forecasts.figures, name="forecast-figures"),
    path("forecasts/<uuid:forecast_id>/cancel/", forecasts.cancel, name="forecast-cancel"),
    path("forecasts/<uuid:forecast_id>/delete/", forecasts.delete, name="forecast-delete"),
    path("forecasts/<uuid:forecast_id>/prices/", evaluation.prices, name="forecast-prices"),
    path("forecasts/<uuid:forecast_id>/backtests/", evaluation.backtests, name="forecast-backtests"),
    path("forecasts/<uuid:forecast_id>/moment/", moments.moment, name="forecast-moment"),
]
