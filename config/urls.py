"""The root URLs."""

from django.urls import include, path

from planner.web.views import health, metrics

urlpatterns = [
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("metrics", metrics.metrics),
    path("", include("planner.urls")),
]

handler400 = "planner.web.middleware.refusals.bad_request"
handler404 = "planner.web.middleware.refusals.not_found"
handler500 = "planner.web.middleware.refusals.server_error"
