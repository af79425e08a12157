"""Simulations of changes that would let a waiting job run, and why no action evicted pods for it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import manifests
from scheduler_core import Options, prepare
from scheduler_core.explain import Limits, Unknown, answers, reclaim_checklist
from scheduler_core.explain.changes import Change, applied
from scheduler_core.explain.cycle_view import items, key_of

Json = Mapping[str, Any]


def search(
    document: Json, job: str, options: Options, limits: Limits, on_report: Callable[[Json], None]
) -> dict[str, Any]:
    """Return the checklist of a job and the changes that would unblock it.

    `document` is a scenario whose configuration is a structure; `options.progress` is called before every
    simulation, and `heard` with the results so far whenever a change was found.
    """
    prepared = prepare(document)
    result = prepared.simulate(options=Options(extender=options.extender))
    if "error" in result:
        return {"error": result["error"]}
    done = 0

    def simulate(parts: Json, how: Options) -> Json:
        nonlocal done
        if not parts:
            return result
        done += 1
        if options.progress is not None:
            options.progress(min(done / limits.simulations, 0.99), f"simulation {done}")
        return prepared.simulate(parts, replace(how, extender=options.extender))

    answer: dict[str, Any] = {}
    try:
        for answer in answers(document, job, simulate, limits):
            on_report(answer)
        lists = reclaim_checklist(document, result, job)
    except Unknown as error:
        return {"error": f"{str(error)[:1].upper()}{str(error)[1:]}."}
    return {**answer, "checklist": lists[0]["actions"] if lists else []}


def changed_objects(document: Json, changes: Iterable[Json]) -> dict[tuple[str, str], Json | None]:
    """Return the objects after some changes, by kind and key; None: removed."""
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
    """Return a scheduler configuration as text; a text is returned unchanged."""
    return conf if isinstance(conf, str) else manifests.dump(conf)
