"""The storage that a workspace uses, its quota, and the rows that are deleted with an object."""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Length
from knox.models import AuthToken

from planner.accounts.models import Membership, Session, User, Workspace
from planner.clusters.models import Blob, Cluster, Import, ImportPreview, Snapshot
from planner.errors import QuotaExceeded
from planner.experiments.models import Experiment
from planner.forecasts.models import Forecast, ForecastPart, WorkloadTrace
from planner.runs.models import PublicLink, Run, Trace
from planner.scenarios.models import Scenario, ScenarioCopy
from planning.rows import Problem

Deletable = Run | Forecast | Scenario | Snapshot | Cluster | Workspace


@dataclass(frozen=True)
class Usage:
    """Packed bytes that a workspace stores; bytes that workspaces share count for each."""

    snapshots: int
    runs: int
    forecasts: int
    """Forecasts and the traces that they read."""
    rest: int
    quota: int

    @property
    def total(self) -> int:
        """The total number of bytes."""
        return self.snapshots + self.runs + self.forecasts + self.rest

    @property
    def is_full(self) -> bool:
        """Whether the quota is used up."""
        return bool(self.quota) and self.total >= self.quota


def usage(workspace: Workspace) -> Usage:
    """Return the storage of a workspace (6 queries)."""
    runs = Run.objects.filter(workspace=workspace)
    experiments = Experiment.objects.filter(workspace=workspace, input=OuterRef("pk"))
    of_runs = (
        Q(Exists(runs.filter(input=OuterRef("pk"))))
        | Q(Exists(runs.filter(result=OuterRef("pk"))))
        | Q(Exists(experiments))
    )
    snapshots = Exists(Snapshot.objects.filter(workspace=workspace, content=OuterRef("pk")))
    waiting = Exists(Import.objects.filter(workspace=workspace, files=OuterRef("pk")))
    previews = Exists(ImportPreview.objects.filter(workspace=workspace, content=OuterRef("pk")))
    copies = Exists(ScenarioCopy.objects.filter(scenario__workspace=workspace, content=OuterRef("pk")))
    traces = Trace.objects.filter(Exists(runs.filter(outcome=OuterRef("outcome"))))
    forecasts = Forecast.objects.filter(workspace=workspace)
    of_forecasts = (
        Q(Exists(forecasts.filter(input=OuterRef("pk"))))
        | Q(Exists(forecasts.filter(workload=OuterRef("pk"))))
        | Q(Exists(WorkloadTrace.objects.filter(workspace=workspace, source=OuterRef("pk"))))
        | Q(Exists(Experiment.objects.filter(workspace=workspace, workload=OuterRef("pk"))))
    )
    parts = ForecastPart.objects.filter(forecast__workspace=workspace)
    return Usage(
        snapshots=_bytes(Blob.objects.filter(snapshots)),
        runs=_bytes(Blob.objects.filter(of_runs)) + _bytes(traces),
        forecasts=_bytes(Blob.objects.filter(of_forecasts)) + _bytes(parts),
        rest=_bytes(Blob.objects.filter(Q(waiting) | Q(previews) | Q(copies))),
        quota=quota(),
    )


def quota() -> int:
    """Return how many bytes a workspace may store; 0: unlimited."""
    most: int = round(settings.WORKSPACE_MB * 1e6)
    return most


def most_kept() -> int:
    """Return an upper bound of the bytes of any workspace (3 queries).

    A workspace stores a part of all rows, and a document counts at most four times, see `usage`.
    """
    return 4 * _bytes(Blob.objects.all()) + _bytes(Trace.objects.all()) + _bytes(ForecastPart.objects.all())


def quota_require(*, workspace: Workspace) -> None:
    """Raise QuotaExceeded, with what to delete, if the workspace is full (3 queries, 9 if any may be)."""
    if not quota() or most_kept() < quota():
        return
    kept = usage(workspace)
    if kept.is_full:
        message = (
            f"Workspace {workspace} keeps {kept.total / 1e6:,.0f} MB of {kept.quota / 1e6:,.0f} MB:"
            f" {kept.runs / 1e6:,.0f} MB of runs, {kept.snapshots / 1e6:,.0f} MB of snapshots."
        )
        what = "runs" if kept.runs >= kept.snapshots else "snapshots"
        fix = f"Delete old {what} on the workspace's page Storage, or have QUEUECAST_WORKSPACE_MB raised."
        raise QuotaExceeded(
            Problem(
                "storage.quota",
                "error",
                message,
                path="workspace",
                actual=kept.total,
                limit=kept.quota,
                fix=fix,
            )
        )


def _bytes(rows: "QuerySet[Blob] | QuerySet[ForecastPart] | QuerySet[Trace]") -> int:
    return int(rows.aggregate(bytes=Sum(Length("packed")))["bytes"] or 0)


def dependent_counts(thing: Deletable) -> dict[str, int]:
    """Return how many rows of each kind are deleted with this one, not counting itself."""
    runs = runs_of(thing)
    found = {
        "clusters": Cluster.objects.filter(workspace=thing).count() if isinstance(thing, Workspace) else 0,
        "snapshots": snapshots_of(thing).count(),
        "scenarios": scenarios_of(thing).count(),
        "runs": runs.filter(explains=None).count(),
        "forecasts": forecasts_of(thing).count(),
        "experiments": experiments_of(thing).count(),
        "traces": WorkloadTrace.objects.filter(workspace=thing).count()
        if isinstance(thing, Workspace)
        else 0,
        "searches": runs.exclude(explains=None).count(),
        "public links": PublicLink.objects.filter(Q(run__in=runs) | Q(run=thing.pk)).count(),
        "members": thing.memberships.count() if isinstance(thing, Workspace) else 0,
    }
    return {name: count for name, count in found.items() if count}


def account_dependent_counts(user: User) -> dict[str, int]:
    """Return how many rows of each kind are deleted with an account (3 queries)."""
    found = {
        "memberships": Membership.objects.filter(user=user).count(),
        "API tokens": AuthToken.objects.filter(user=user).count(),
        "sessions": Session.objects.filter(user=user).count(),
    }
    return {name: count for name, count in found.items() if count}


def snapshots_of(thing: Deletable) -> QuerySet[Snapshot]:
    """Return the snapshots that are deleted with an object."""
    if isinstance(thing, Workspace):
        return Snapshot.objects.filter(workspace=thing)
    return Snapshot.objects.filter(cluster=thing) if isinstance(thing, Cluster) else Snapshot.objects.none()


def scenarios_of(thing: Deletable) -> QuerySet[Scenario]:
    """Return the scenarios that are deleted with an object, including removed ones."""
    if isinstance(thing, Snapshot):
        return Scenario.objects.filter(snapshot=thing)
    return Scenario.objects.filter(snapshot__in=snapshots_of(thing))


def forecasts_of(thing: Deletable) -> QuerySet[Forecast]:
    """Return the forecasts that are deleted with an object."""
    if isinstance(thing, Run | Forecast):
        return Forecast.objects.none()
    if isinstance(thing, Scenario):
        return Forecast.objects.filter(scenario=thing)
    return Forecast.objects.filter(scenario__in=scenarios_of(thing))


def experiments_of(thing: Deletable) -> QuerySet[Experiment]:
    """Return the experiments that are deleted with an object."""
    if isinstance(thing, Run | Forecast):
        return Experiment.objects.none()
    if isinstance(thing, Scenario):
        return Experiment.objects.filter(scenario=thing)
    return Experiment.objects.filter(scenario__in=scenarios_of(thing))


def runs_of(thing: Deletable) -> QuerySet[Run]:
    """Return the runs that are deleted with an object; for a run, the searches about it."""
    if isinstance(thing, Run):
        return Run.objects.filter(explains=thing)
    if isinstance(thing, Forecast):
        return Run.objects.none()
    if isinstance(thing, Scenario):
        return Run.objects.filter(scenario=thing)
    return Run.objects.filter(scenario__in=scenarios_of(thing))


def stored_snapshots(workspace: Workspace) -> QuerySet[Snapshot]:
    """Return the snapshots of a workspace with their sizes and scenarios, newest first (1 query)."""
    rows = Snapshot.objects.filter(workspace=workspace).select_related("cluster")
    return rows.annotate(
        bytes=Length("content__packed"), scenario_count=Count("scenarios", filter=Q(scenarios__removed=None))
    ).order_by("-created")


def sole_admin_of(user: User) -> list[Workspace]:
    """Return the workspaces whose only admin is this account (1 query)."""
    admins = Q(memberships__role="admin")
    return list(
        Workspace.objects.annotate(
            admin_count=Count("memberships", filter=admins),
            mine=Count("memberships", filter=admins & Q(memberships__user=user)),
        ).filter(admin_count=1, mine=1)
    )


def unreferenced_blobs() -> QuerySet[Blob]:
    """Return the blobs that nothing refers to."""
    blobs = Blob.objects.all()
    for relation in Blob._meta.related_objects:
        owners = relation.related_model._default_manager.filter(**{relation.field.name: OuterRef("pk")})
        blobs = blobs.exclude(Exists(owners))
    return blobs
