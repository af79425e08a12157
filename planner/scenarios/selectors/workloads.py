"""The workloads of a scenario; those of the last few revisions are cached."""

from planner.clusters.models import Snapshot
from planner.scenarios.models import Scenario
from planning.contents import Objects
from planning.memory_cache import MemoryCache
from planning.workloads import WorkloadRow, Workloads

_ROWS_KEPT = 20_000
_cache: MemoryCache[list[WorkloadRow]] = MemoryCache(_ROWS_KEPT, len)


def workload_rows(scenario: Scenario, objects: Objects) -> list[WorkloadRow]:
    """Return the workloads of a scenario at its current revision."""
    return _cache.get((scenario.pk, scenario.revision), lambda: Workloads(objects).rows())


def imported_workload_rows(snapshot: Snapshot, objects: Objects) -> list[WorkloadRow]:
    """Return the workloads of a snapshot, given its `objects`."""
    return _cache.get(snapshot.pk, lambda: Workloads(objects).rows())
