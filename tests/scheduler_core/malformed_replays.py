"""Replay documents of generated replays with values of any type at random places, deterministic by number."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.builders import Object
from tests.scheduler_core import replays

GENERATORS = (
    replays.small_replay, replays.crowded_replay, replays.clocked_replay,
    replays.job_replay, replays.calm_replay, replays.storm_replay,
)  # fmt: skip
VALUES = (
    *(None, True, False, 0, -1, 1, 3, 0.5, 1e300, -1e300, 10**30, "", "x", "0", "-1", "1.5", "NaN", "1Gi"),
    *("9Ei", "2026-01-01T00:00:00Z", "a/b", "default/j0", "*", [], {}, [None], [{}], {"x": None}, ["a"]),
    *("Restart", "RestartJob", "PodFailed", "Never", "OnFailure"),
)
Path = tuple[Any, ...]


def malformed(number: int) -> Object:
    """Return a generated replay with one to four changes anywhere, half of them in its timeline."""
    random = Random(number)
    document: Object = json.loads(json.dumps(random.choice(GENERATORS)(number % 400)))
    for _ in range(random.choice((1, 1, 2, 4))):
        _change(random, document)
    return document


def _change(random: Random, document: Object) -> None:
    paths = [*_paths(document, ())]
    inside = [path for path in paths if path[0] == "replay"] if random.random() < 0.5 else paths
    *above, last = random.choice(inside or paths)
    parent: Any = _at(document, above)
    action = random.choice(("set", "set", "remove", "repeat", "copy", "swap"))
    if action == "remove":
        del parent[last]
    elif action == "repeat" and isinstance(parent, list):
        parent.insert(last, copy.deepcopy(parent[last]))
    elif action == "copy":
        parent[last] = copy.deepcopy(_at(document, random.choice(paths)))
    elif action == "swap" and isinstance(parent, dict):
        other = random.choice(list(parent))
        parent[last], parent[other] = parent[other], parent[last]
    else:
        parent[last] = copy.deepcopy(random.choice(VALUES))


def _paths(value: Any, above: Path) -> Iterator[Path]:
    if not isinstance(value, (dict, list)):
        return
    for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*above, key)
        yield from _paths(entry, (*above, key))


def _at(value: Any, path: Any) -> Any:
    for key in path:
        value = value[key]
    return value
