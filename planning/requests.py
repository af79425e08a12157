"""What do pods take, in the scheduler's units?"""

from collections.abc import Collection, Mapping
from typing import Any

from planning.documents import items
from scheduler_core.admission import Admission
from scheduler_core.model.pod import pod_request

Json = Mapping[str, Any]


def requests_of(document: Json, wanted: Collection[str]) -> dict[str, dict[str, float]]:
    """Return what the `wanted` pods of a scenario take; those that controllers make are among them."""
    found = {key: pod for pod in items(document.get("pods")) if (key := pod_key(pod)) in wanted}
    if len(found) < len(wanted):
        made = ((pod_key(pod), pod) for pod in Admission(document).cluster().pods.values())
        found |= {key: pod for key, pod in made if key in wanted and key not in found}
    default_requests = document.get("admission_defaults") is not False
    return {
        key: dict(pod_request(pod.get("spec") or {}, default_requests=default_requests).items())
        for key, pod in found.items()
    }


def pod_key(pod: Json) -> str:
    """Return namespace/name of a pod."""
    metadata = pod["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
