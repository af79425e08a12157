"""How do objects of a scenario other than its queues change: nodes, workloads, all that the snapshot lists?"""

from planner.engine.frozen import following
from planner.engine.states import Edit
from planner.models import ObjectChange, Scenario


def workloads_follow(*, scenario: Scenario, name: str, new_name: str) -> list[Edit]:
    """Give the scenario's own workloads the new name of their queue; those of the snapshot follow anyhow."""
    moved: list[ObjectChange] = []
    changes: list[Edit] = []
    for row in scenario.object_changes.exclude(manifest=None):
        manifest = following(row.kind, row.manifest, {name: new_name})
        if manifest is not row.manifest:
            changes.append(Edit(row.kind, row.key, before=row.manifest, after=manifest))
            row.manifest = dict(manifest)
            moved.append(row)
    ObjectChange.objects.bulk_update(moved, ["manifest"], batch_size=500)
    return changes
