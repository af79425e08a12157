"""The Django app."""

import gc

from django.apps import AppConfig

COLLECTED_AFTER = 50_000
"""The number of new objects after which garbage is collected, instead of 700: requests take three hundredths
less time."""


class PlannerConfig(AppConfig):
    """The what-if planner."""

    name = "planner"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the audit of log-ins, and let the work of each feature be registered when it is needed.

        What was imported until now lives as long as the process, and is no longer searched for garbage.
        """
        from planner.accounts.views.login_audit import listen
        from planner.work.kinds import register_when_needed

        listen()
        register_when_needed(_register)
        gc.freeze()
        gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])


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
