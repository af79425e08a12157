"""Which address leads where?"""

from django.urls import include, path

from planner.views import health, metrics

urlpatterns = [
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("metrics", metrics.metrics),
    path("", include("planner.urls")),
]

handler400 = "planner.middleware.refusals.bad_request"
handler404 = "planner.middleware.refusals.not_found"
handler500 = "planner.middleware.refusals.server_error"
