"""The problems of a scenario; those of the last few snapshots are cached."""

from collections.abc import Sequence

from planner.clusters.models import Snapshot
from planner.clusters.selectors.contents import KEPT_BYTES, content_of
from planner.scenarios.models import Queue, Scenario
from planning.contents import scenario_objects
from planning.memory_cache import MemoryCache
from planning.review import Inspection, problems_of
from planning.rows import Problem


def scenario_problems(scenario: Scenario, queues: Sequence[Queue] | None = None) -> list[Problem]:
    """Return every problem of a scenario, errors first (2 queries, 1 less if its `queues` are given)."""
    rows = list(scenario.queues.all()) if queues is None else queues
    overlay = {(row.kind, row.key): row.manifest for row in scenario.object_changes.all()}
    objects = scenario_objects(content_of(scenario.snapshot).document, queues=rows, overlay=overlay)
    return problems_of(
        objects,
        rows,
        conf_text=scenario.conf_text,
        release=scenario.release,
        inspected=_inspected(scenario.snapshot),
    )


def _inspected(snapshot: Snapshot) -> Inspection:
    content = content_of(snapshot)
    return _cache.get(snapshot.content_id, lambda: (Inspection(content.document), snapshot.content.size))[0]


_cache: MemoryCache[tuple[Inspection, int]] = MemoryCache(KEPT_BYTES, lambda inspected: inspected[1])
