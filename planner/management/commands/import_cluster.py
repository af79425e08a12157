"""`manage.py import_cluster FILE…`: import a cluster as a snapshot with its first scenario."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from planner.clusters.selectors.demand import demand_store
from planner.clusters.services.imports import cluster_read, packed
from planner.clusters.services.snapshots import cluster_import
from planner.errors import Invalid
from planner.management.installed import InstalledCommand
from planner.management.workspaces import workspace_named
from planner.scenarios.models import Scenario
from planner.scenarios.services.scenarios import scenario_create
from planning.demands import counted
from planning.importing import EXPORT, Files
from planning.rows import Problem


class Command(InstalledCommand):
    """Import a cluster from files of any size."""

    help = (
        f"Import the output of `{EXPORT}` (or json), "
        "plain or gzip, with the scheduler's ConfigMap as one of the files; or one scenario."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--name", help="name of snapshot and scenario (default: the first file's name)")
        parser.add_argument("--workspace", help="by name or id (default: the oldest)")

    def handle(
        self, *, files: Sequence[Path], name: str | None, workspace: str | None, **options: Any
    ) -> None:
        """Print counts and problems; save the cluster unless there are errors."""
        into = workspace_named(workspace)
        if into is None:
            raise CommandError(f"No workspace {workspace!r}.")
        read = cluster_read(_contents(files))
        for kind, count in read.counts.items():
            self.stdout.write(f"{count:8} {kind}")
        for problem in read.problems:
            self.stderr.write(_line(problem))
        name = (name or files[0].name)[:253]
        provenance = ", ".join(path.name for path in files)[:500]
        found = packed(read)
        if found.content is not None:
            demand_store(found.content.sha256, counted(read.document))
        try:
            with transaction.atomic():
                snapshot = cluster_import(read=found, workspace=into, name=name, provenance=provenance)
                scenario = scenario_create(snapshot=snapshot, name=name)
        except Invalid as invalid:
            raise CommandError(_refusal(invalid)) from None
        self.stdout.write(_saved(scenario))


def _contents(paths: Sequence[Path]) -> Files:
    try:
        return [(str(path), path.read_bytes()) for path in paths]
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}") from None


def _line(problem: Problem) -> str:
    """Return a problem in the format of compilers: ``cluster.yaml:17: error: …``."""
    where = "".join(f"{part}:" for part in (problem.document, problem.line) if part)
    path = f" ({problem.path})" if problem.path else ""
    fix = f" Fix: {problem.fix.rstrip('.')}." if problem.fix else ""
    return f"{where} {problem.severity}: {problem.message.rstrip('.')}{path}.{fix}".strip()


def _refusal(invalid: Invalid) -> str:
    errors = sum(problem.is_error for problem in invalid.problems)
    return f"{errors} {'problem' if errors == 1 else 'problems'} to fix; nothing was saved."


def _saved(scenario: Scenario) -> str:
    return f"Snapshot {scenario.snapshot_id}, scenario {scenario.pk}: {scenario.name}"
