"""The URLs of the API calls about traces and forecasts."""

from django.urls import path

from planner.forecasts.api import forecasts, over_time, questions, targets, traces

calls = [
    path("traces/", traces.TraceList.as_view(), name="traces"),
    path("traces/<uuid:trace_id>/", traces.TraceDetail.as_view(), name="trace"),
    path("traces/<uuid:trace_id>/preview/", traces.TracePreviewDetail.as_view(), name="trace-preview"),
    path(
        "scenarios/<uuid:scenario_id>/forecasts/",
        forecasts.ScenarioForecasts.as_view(),
        name="scenario-forecasts",
    ),
    path("scenarios/<uuid:scenario_id>/targets/", targets.ScenarioTargets.as_view(), name="scenario-targets"),
    path("forecasts/", forecasts.ForecastList.as_view(), name="forecasts"),
    path("forecasts/<uuid:forecast_id>/", forecasts.ForecastDetail.as_view(), name="forecast"),
    path("forecasts/<uuid:forecast_id>/cancel/", forecasts.ForecastCancel.as_view(), name="forecast-cancel"),
    path(
        "forecasts/<uuid:forecast_id>/verdict/", forecasts.ForecastVerdict.as_view(), name="forecast-verdict"
    ),
    path("forecasts/<uuid:forecast_id>/jobs/", forecasts.ForecastJobs.as_view(), name="forecast-jobs"),
    path("forecasts/<uuid:forecast_id>/series/", over_time.ForecastSeries.as_view(), name="forecast-series"),
    path(
        "forecasts/<uuid:forecast_id>/evictions/",
        over_time.ForecastEvictions.as_view(),
        name="forecast-evictions",
    ),
    path("forecasts/<uuid:forecast_id>/moment/", questions.ForecastMoment.as_view(), name="forecast-moment"),
    path(
        "forecasts/<uuid:forecast_id>/comparison/",
        questions.ForecastComparison.as_view(),
        name="forecast-comparison",
    ),
    path(
        "forecasts/<uuid:forecast_id>/backtests/",
        questions.ForecastBacktests.as_view(),
        name="forecast-backtests",
    ),
    path("workspaces/<uuid:workspace_id>/prices/", questions.WorkspacePrices.as_view(), name="prices"),
    path("forecasts/<uuid:forecast_id>/cost/", questions.ForecastCost.as_view(), name="forecast-cost"),
]
