"""Notes on the assumptions of a replay between sessions, and on what it does not model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.admission import Admission
from scheduler_core.controllers import bare_nodes, pods_of_nodes, twins_of
from scheduler_core.controllers.made import QUEUE_NAME
from scheduler_core.model.unmodelled import NOT_MODELLED, daemon_notes
from scheduler_core.replay.records import Records

Object = Mapping[str, Any]

OF_JOBS = (
    "Assumed: controllers react at once; only the requests that create pods take time.",
    "Assumed: a Job all of whose pods are its minAvailable makes no progress while one is missing.",
    f"{NOT_MODELLED}autoscalers, volumes, outages of the API server, restarts of the scheduler and kubelet"
    " pressure. None of these happens.",
)
OF_NAMESPACES = (
    "Assumed: Jobs without a queue get the one that an annotation of their namespace names. The webhook"
    " /podgroups/mutate sets it, which Volcano's Helm chart does not enable by default."
)
OF_FLOWS = f"{NOT_MODELLED}patches of JobFlows. Jobs are as their templates are."
OF_LOSSES = f"{NOT_MODELLED}lost nodes that come back. Their pods terminate until the node is deleted."
OF_OWNERS = f"{NOT_MODELLED}the back-off of batch Jobs. A failed pod is not replaced."
OF_DRAINS = f"{NOT_MODELLED}PodDisruptionBudgets of drains. They delete every pod at once."


def _daemon_notes(document: Object, events: Iterable[Object]) -> list[str]:
    """Return a note on nodes that join without pods of DaemonSets."""
    equipped = pods_of_nodes(Admission.listed(document, "pods"))
    joining = [node for event in events for node in (event.get("create") or {}).get("nodes") or ()]
    twins = twins_of([*Admission.listed(document, "nodes"), *joining], equipped)
    return daemon_notes(bare_nodes(joining, equipped, twins))


def replay_notes(document: Object, records: Records) -> list[str]:
    """Return the notes that apply to a replay."""
    notes = list(OF_JOBS) if records.vcjobs else []
    if records.vcjobs and any(
        (one["metadata"].get("annotations") or {}).get(QUEUE_NAME)
        for one in Admission.listed(document, "namespaces")
    ):
        notes.append(OF_NAMESPACES)
    replay = document.get("replay") or {}
    events = replay.get("events") or ()
    created = {name for event in events for name in event.get("create") or ()}
    notes += _daemon_notes(document, events)
    notes += [OF_FLOWS] if "jobflows" in created else []
    notes += [OF_LOSSES] if any("lose" in event for event in events) else []
    notes += [OF_OWNERS] if replay.get("evicted") == "owner" else []
    if any("drain" in event for event in events) and document.get("poddisruptionbudgets"):
        notes.append(OF_DRAINS)
    return notes
