"""What would make a waiting job run, and why did no action evict anybody for it? Answered by simulations."""

from collections.abc import Iterable, Mapping
from typing import Any

import manifests
from scheduler_core import Options, prepare
from scheduler_core.explain import Unknown, reclaim_checklist, unblocking
from scheduler_core.explain.changes import Change, applied
from scheduler_core.explain.picture import items, key_of

Json = Mapping[str, Any]

TRIALS = 120
"""The most simulations of one search."""


def search(document: Json, job: str, options: Options) -> dict[str, Any]:
    """Return the checklist of a job and the changes that would unblock it.

    `document` is a scenario whose configuration is a structure; `options.progress` hears of every simulation.
    """
    prepared = prepare(document)
    done = 0

    def simulate(parts: Json) -> Json:
        nonlocal done
        done += 1
        if options.progress is not None:
            options.progress(min(done / TRIALS, 0.99), f"simulation {done} of at most {TRIALS}")
        return prepared.simulate(parts, Options(extender=options.extender))

    result = simulate({})
    if "error" in result:
        return {"error": result["error"]}
    try:
        found = unblocking(document, job, simulate, limit=TRIALS)
        lists = reclaim_checklist(document, result, job)
    except Unknown as error:
        return {"error": f"{str(error)[:1].upper()}{str(error)[1:]}."}
    return {**found, "checklist": lists[0]["actions"] if lists else []}


def changed_objects(document: Json, changes: Iterable[Json]) -> dict[tuple[str, str], Json | None]:
    """Return what the objects that some changes name become, by kind and key; None: removed."""
    named = [Change(**change) for change in changes]
    parts = applied(document, named)
    return {
        (change.kind, change.key): next(
            (entry for entry in items(parts, change.kind) if _key(change.kind, entry) == change.key), None
        )
        for change in named
    }


def _key(kind: str, entry: Json) -> str:
    return str(entry["metadata"]["name"]) if kind in _CLUSTER_WIDE else key_of(entry)


_CLUSTER_WIDE = ("nodes", "priorityclasses", "namespaces")


def conf_text(conf: Any) -> str:
    """Return a scheduler configuration as text; one that is a text already stays it."""
    return conf if isinstance(conf, str) else manifests.dump(conf)
