"""What exactly does a run compute on? One scenario document, as bytes that never change."""

from collections.abc import Iterable, Mapping
from typing import Any

from planner.engine.documents import encoded
from planner.engine.queues import queue_manifest
from planner.models import Queue


def frozen_input(
    objects: Mapping[str, Any],
    *,
    name: str,
    queues: Iterable[Queue],
    conf_text: str,
    options: Mapping[str, Any],
) -> bytes:
    """Return the scenario document of a run: the snapshot's `objects` under the scenario's queues and conf.

    The configuration stays the text that the user wrote; without one the document has none, which means
    Volcano's default. The number of cycles is part of the document, so that the document alone decides.
    """
    document = {
        "name": name,
        **({"scheduler_conf": conf_text} if conf_text.strip() else {}),
        **{key: value for key, value in objects.items() if key not in ("name", "scheduler_conf", "queues")},
        "queues": [queue_manifest(queue) for queue in queues],
    }
    if options.get("cycles"):
        document["cycles"] = options["cycles"]
    return encoded(document)
