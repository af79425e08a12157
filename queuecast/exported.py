"""Export of a scenario's queues and configuration, as manifests and commands."""

from collections.abc import Mapping, Sequence
from typing import Any

import manifests
from queuecast.problems import Json, as_problem
from scheduler_core.rollout import rollout
from scheduler_core.rollout_objects import changed_objects, commands, script, unchanged_objects

FORMS = ("changed", "whole", "script", "plan")
_LEFT_OUT = ("scheduler_conf", "queues", "name", "now", "cycles")
_END = "END_OF_MANIFESTS"


def exported(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """Return the steps from one document's queues and configuration to another's, in the shape of the API."""
    queues = list(after.get("queues") or ())
    way = rollout(list(before.get("queues") or ()), queues)
    text, present = _conf(after), _conf(before)
    conf = manifests.conf_manifest(text) if text else None
    changed = changed_objects(way, conf if text != present else None)
    unchanged = [*unchanged_objects(way, queues), *([conf] if conf and text == present else [])]
    return {
        "steps": [{"verb": one.verb, "queue": one.name, "halfway": one.halfway} for one in way.steps],
        "deletions": [step.name for step in way.deletions],
        "states": dict(way.states),
        "conf_changed": text != present,
        "impossible": [as_problem(one) for one in way.impossible],
        "changed": _documents(changed),
        "whole": _documents([*changed, *unchanged]),
        "script": script(commands(way)),
    }


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
    lines = [
        f"impossible: {one['message']}: the webhook refuses it in any order" for one in export["impossible"]
    ]
    if form == "script":
        return lines
    lines += [
        f"not in these manifests: queue {name} is deleted; --script does it" for name in export["deletions"]
    ]
    for name, state in sorted(export["states"].items()):
        action = "opened" if state == "Open" else "closed"
        lines.append(f"not in these manifests: queue {name} is {action}; --script does it")
    return lines


def unexported(differences: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the differences outside queues and configuration, which are not exported."""
    others = dict.fromkeys(f"{one['kind']} {one['name']}" for one in differences if one["kind"] not in _KINDS)
    return [f"not exported: {other}; --plan writes it" for other in others]


_KINDS = ("conf", *_LEFT_OUT)


def _conf(document: Mapping[str, Any]) -> str:
    conf = document.get("scheduler_conf") or ""
    return conf if isinstance(conf, str) else manifests.dump(conf)


def _documents(objects: Sequence[Mapping[str, Any]]) -> str:
    return manifests.dump(objects) if objects else ""
