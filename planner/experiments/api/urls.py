"""The URLs of the API calls about experiments."""

from django.urls import path

from planner.experiments.api import experiments

calls = [
    path("experiments/", experiments.ExperimentList.as_view(), name="experiments"),
    path("experiments/<uuid:experiment_id>/", experiments.ExperimentDetail.as_view(), name="experiment"),
    path(
        "experiments/<uuid:experiment_id>/cancel/",
        experiments.ExperimentCancel.as_view(),
        name="experiment-cancel",
    ),
    path(
        "experiments/<uuid:experiment_id>/cells/",
        experiments.ExperimentCells.as_view(),
        name="experiment-cells",
    ),
    path(
        "experiments/<uuid:experiment_id>/cells/<int:number>/scenario/",
        experiments.ExperimentCell.as_view(),
        name="experiment-cell",
    ),
    path(
        "experiments/<uuid:experiment_id>/cells/<int:number>/forecast/",
        experiments.ExperimentCellForecast.as_view(),
        name="experiment-cell-forecast",
    ),
]
