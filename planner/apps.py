"""The Django app."""

from django.apps import AppConfig


class PlannerConfig(AppConfig):
    """The what-if planner."""

    name = "planner"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the audit of log-ins, and let the work of each feature be registered when it is needed."""
        from planner.accounts.views.login_audit import listen
        from planner.work.kinds import register_when_needed

        listen()
        register_when_needed(_register)


def _register() -> None:
    """Register the work of each feature, with all that executes it."""
    from planner.backups import tasks as backups
    from planner.clusters import tasks as clusters
    from planner.experiments import tasks as experiments
    from planner.forecasts import tasks as forecasts
    from planner.runs import tasks as runs
    from planner.scenarios import tasks as scenarios

    for feature in (runs, clusters, scenarios, forecasts, experiments, backups):
        feature.register()
