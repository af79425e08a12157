"""Which address leads where?"""

from django.urls import include, path

from planner.views import health

urlpatterns = [
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("", include("planner.urls")),
]
