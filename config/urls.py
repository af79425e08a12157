"""Which address leads where?"""

from django.urls import include, path

from planner.views import health, metrics

urlpatterns = [
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("metrics", metrics.metrics),
    path("", include("planner.urls")),
]
