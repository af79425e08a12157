"""The URLs of the pages of upgrades."""

from django.urls import path

from planner.upgrades import views

urlpatterns = [
    path("scenarios/<uuid:scenario_id>/upgrade/", views.begin, name="scenario-upgrade"),
    path("runs/<uuid:run_id>/upgrade/", views.upgrade, name="run-upgrade"),
    path("runs/<uuid:run_id>/upgrade/report/", views.report, name="run-upgrade-report"),
]
