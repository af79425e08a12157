"""The Django app."""

from django.apps import AppConfig


class PlannerConfig(AppConfig):
    """The what-if planner."""

    name = "planner"
    default_auto_field = "django.db.models.BigAutoField"
