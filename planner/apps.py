"""The Django app."""

from django.apps import AppConfig


class PlannerConfig(AppConfig):
    """The what-if planner."""

    name = "planner"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Begin to note who logs in."""
        from planner.accounts.views.logging_in import listen

        listen()
