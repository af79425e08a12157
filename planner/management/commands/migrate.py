"""`manage.py migrate`: Django's own, except that it does not repeat the history of an empty database."""

from typing import Any

from django.core.management.commands import migrate

from planner.management.tables import tables_create, tables_missing

PARTIAL = ("app_label", "plan", "check_unapplied", "fake", "fake_initial", "prune")
"""Options that ask for less than all migrations, or for none."""


class Command(migrate.Command):
    """Creates the tables of an empty database from the models, which equal the sum of the migrations."""

    def handle(self, *arguments: Any, **options: Any) -> None:
        """Create missing tables, then do as Django does."""
        if not any(options[name] for name in PARTIAL) and tables_missing(options["database"]):
            tables_create(options["database"])
            if options["verbosity"]:
                self.stdout.write("Created the tables of an empty database.")
        super().handle(*arguments, **options)
