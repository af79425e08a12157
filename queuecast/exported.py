"""Export of a scenario's queues and configuration, as manifests and commands."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import manifests
from planning.export import export_of
from queuecast.problems import Json, problem
from scheduler_core.rollout_objects import script

FORMS = ("changed", "whole", "script", "plan")
_LEFT_OUT = ("scheduler_conf", "queues", "name", "now", "cycles")
_END = "END_OF_MANIFESTS"


def exported(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """Return the steps from one document's queues and configuration to another's, in the shape of the API."""
    there, wanted = (list(document.get("queues") or ()) for document in (before, after))
    export = export_of(there, wanted, _conf(before), _conf(after))
    return asdict(export) | {"impossible": [problem(**asdict(one)) for one in export.impossible]}


def written(export: Mapping[str, Any], form: str) -> str:
    """Return an export in one format; the script also applies the manifests."""
    if form != "script":
        return str(export[form])
    lines = str(export["script"]).splitlines()[2:]
    if export["changed"]:
        lines = [f"kubectl apply -f - <<'{_END}'", *str(export["changed"]).splitlines(), _END, *lines]
    return script(lines)


def missing(export: Mapping[str, Any], form: str) -> list[str]:
    """Return what an export in this format does not do, a sentence each."""
    lines = [f"impossible: {one['message']}: Volcano refuses it in any order" for one in export["impossible"]]
    if form == "script":
        return lines
    lines += [
        f"not in these manifests: queue {name} is deleted; --script does it" for name in export["deletions"]
    ]
    for name, state in sorted(export["states"].items()):
        action = "opened" if state == "Open" else "closed"
        lines.append(f"not in these manifests: queue {name} is {action}; --script does it")
    return lines


def removed_fields(export: Mapping[str, Any]) -> list[str]:
    """Return a sentence on the fields of each queue that `kubectl apply` may leave."""
    fields: dict[str, dict[str, None]] = {}
    for step in export["steps"]:
        fields.setdefault(step["queue"], {}).update(dict.fromkeys(step["removes"]))
    return [
        f"kubectl apply removes {', '.join(paths)} of queue {name} only if an earlier kubectl apply set it"
        for name, paths in fields.items()
        if paths
    ]


def unexported(differences: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the differences outside queues and configuration, which are not exported."""
    others = dict.fromkeys(f"{one['kind']} {one['name']}" for one in differences if one["kind"] not in _KINDS)
    return [f"not exported: {other}; --plan writes it" for other in others]


_KINDS = ("conf", *_LEFT_OUT)


def _conf(document: Mapping[str, Any]) -> str:
    conf = document.get("scheduler_conf") or ""
    return conf if isinstance(conf, str) else manifests.dump(conf)
