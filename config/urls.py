"""Which address leads where?"""

from django.urls import include, path

urlpatterns = [
    path("", include("planner.urls")),
]
