"""The URLs of the pages of experiments."""

from django.urls import path

from planner.experiments.views import experiments

pages = [
    path("experiments/", experiments.listing, name="experiments"),
    path("scenarios/<uuid:scenario_id>/experiments/", experiments.begin, name="scenario-experiments"),
    path("experiments/<uuid:experiment_id>/", experiments.detail, name="experiment"),
    path("experiments/<uuid:experiment_id>/cancel/", experiments.cancel, name="experiment-cancel"),
    path("experiments/<uuid:experiment_id>/delete/", experiments.delete, name="experiment-delete"),
    path("experiments/<uuid:experiment_id>/cells/<int:number>/", experiments.cell, name="experiment-cell"),
]
