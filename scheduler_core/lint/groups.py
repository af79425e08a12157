"""A remark on pods that the scheduler ignores, as they name no PodGroup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.controllers.plain_pods import lacks_podgroup
from scheduler_core.model.pod_info import GROUP_NAME, PodInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.unmodelled import named
from scheduler_core.problem import Problem, spell_steps

RULE = "pod.no_podgroup"


def pods_without_group(document: Mapping[str, Any], pods: Sequence[PodInfo]) -> Iterator[Problem]:
    """Yield a remark on the waiting pods of a valid document that name no PodGroup, at the first of them.

    None if the document has controllers, which create the PodGroups.
    """
    names = document.get("scheduler_names") or ["volcano"]
    lacking = [
        (place, info.key)
        for place, info in enumerate(pods)
        if info.status == TaskStatus.PENDING and lacks_podgroup(info.given, names)
    ]
    if lacking and document.get("controllers") is not True:
        first, _ = lacking[0]
        path = spell_steps("pods", first, "metadata", "annotations", GROUP_NAME)
        ignored = named((key for _, key in lacking), "pod")
        message = f"{ignored} {'name' if len(lacking) > 1 else 'names'} no podgroup: the scheduler ignores"
        message += f" {'them' if len(lacking) > 1 else 'it'} until Volcano's controller has created one"
        fix = "add a podgroup and name it here; a scenario with controllers: true creates it"
        yield Problem(RULE, "remark", path, message, field=f"annotations.{GROUP_NAME}", fix=fix)
