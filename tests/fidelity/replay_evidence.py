"""Equality of differently computed replays, counted over many generated replays and windows.

``python -m tests.fidelity.replay_evidence [skips|windows|moments|frozen|order|hash]`` prints the figures.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from scheduler_core import Options, simulate_document
from scheduler_core.replay import Replay, replay_document
from scheduler_core.replay.records import LOGGED
from scheduler_core.validate import Inspection
from tests.builders import Object
from tests.scheduler_core.replays import clocked_replay, job_replay, small_replay
from tests.shared import SHARED

ROOT = Path(__file__).resolve().parents[2]
PHILLY = SHARED / "data" / "tools" / "philly_replay.py"
WINDOWS = 20
FIRST_DAY, DAYS_APART = 47.25, 2.5
CONFS = ("capacity", "capacity-plain", "proportion", "default", "tree")
KINDS = (small_replay, clocked_replay, job_replay)


def generated(count: int) -> Iterator[Object]:
    """Yield generated replays in turn: of PodGroups, with plugins that read the clock, and of Jobs."""
    for number in range(count):
        yield KINDS[number % len(KINDS)](number // len(KINDS))


def window(number: int, *, hours: float = 2.0, nodes: int = 2) -> Object:
    """Return a window of the Philly trace on few nodes, so that jobs wait."""
    options = {"day": str(FIRST_DAY + DAYS_APART * number), "hours": str(hours), "nodes": str(nodes)}
    options |= {"conf": CONFS[number % len(CONFS)], "period": "20", "limit": "150"}
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    made = subprocess.run([sys.executable, str(PHILLY), *arguments], capture_output=True, check=True)
    document: Object = json.loads(made.stdout)
    document["replay"]["horizon_seconds"] = 2 * hours * 3600
    return document


def opened(document: Object, **how: object) -> Replay:
    """Return a replay that has not started."""
    return Replay(document, Inspection(document), **how)  # type: ignore[arg-type]


def encoded(result: Object) -> bytes:
    """Return a result as bytes."""
    return json.dumps(result, sort_keys=True).encode()


# each returns the number of equal comparisons, and of all comparisons


def same_without_skipping(documents: Iterator[Object]) -> tuple[int, int]:
    """Compare replays that compute every session with replays that skip sessions."""
    equal = total = 0
    for document in documents:
        total += 1
        equal += encoded(replay_document(document)) == encoded(replay_document(document, skips=False))
    return equal, total


def committed(decisions: list[Object]) -> list[Object]:
    """Return the decisions that a replay applies, without their explanations."""
    return [
        {name: text for name, text in decision.items() if name not in ("reason", "state")}
        for decision in decisions
        if decision["op"] in LOGGED and decision["state"] == "committed"
    ]


def remembers_nothing(document: Object) -> bool:
    """Return whether a session depends only on its moment; plugin tdm remembers its last eviction."""
    tiers = document["scheduler_conf"]["tiers"]
    return all(plugin["name"] != "tdm" for tier in tiers for plugin in tier["plugins"])


def same_alone(documents: Iterator[Object]) -> tuple[int, int]:
    """Compare each session with a run of its moment as a scenario."""
    equal = total = 0
    for document in documents:
        replay = opened(document)
        moment = replay.moment()
        for step in replay.steps():
            alone = simulate_document(moment, Options(explain=False))["cycles"][0]["decisions"]
            total += 1
            equal += committed(alone) == committed([entry.as_dict() for entry in step.session.decisions])
            moment = replay.moment()
    return equal, total


def same_when_frozen(documents: Iterator[Object], stops: int) -> tuple[int, int]:
    """Freeze replays at some sessions, and compare their continuations."""
    equal = total = 0
    for number, document in enumerate(documents):
        whole = opened(document).run()
        computed = opened(document)
        computed.run()
        for stop in range(stops):
            replay = opened(document)
            last = 1 + (stop * 7919 + number * 104729) % max(computed.computed, 1)
            for count, _ in enumerate(replay.steps(), start=1):
                if count == last:
                    break
            frozen = json.loads(json.dumps(replay.freeze()))
            total += 1
            equal += encoded(opened(document, frozen=frozen).run()) == encoded(whole)
    return equal, total


def same_in_another_order(documents: Iterator[Object]) -> tuple[int, int]:
    """Reverse every list of objects."""
    equal = total = 0
    for document in documents:
        turned = {
            name: value[::-1] if isinstance(value, list) and name != "priorityclasses" else value
            for name, value in document.items()
        }
        total += 1
        equal += encoded(replay_document(turned)) == encoded(replay_document(document))
    return equal, total


def same_with_another_hash(documents: Iterator[Object]) -> tuple[int, int]:
    """Replay in processes with other hash seeds."""
    equal = total = 0
    for document in documents:
        answers = {
            subprocess.run(
                [sys.executable, "-m", "scheduler_core", "replay", "-"],
                cwd=ROOT,
                env={"PYTHONHASHSEED": seed},
                input=json.dumps(document).encode(),
                capture_output=True,
                check=True,
            ).stdout
            for seed in ("0", "1", "2")
        }
        total += 1
        equal += len(answers) == 1
    return equal, total


CHECKS: dict[str, Callable[[], tuple[int, int]]] = {
    "skips": lambda: same_without_skipping(generated(200)),
    "windows": lambda: same_without_skipping(window(number) for number in range(WINDOWS)),
    "moments": lambda: same_alone(islice(filter(remembers_nothing, generated(100)), 50)),
    "frozen": lambda: same_when_frozen(generated(6), 20),
    "order": lambda: same_in_another_order(generated(30)),
    "hash": lambda: same_with_another_hash(generated(12)),
}


def main(names: list[str]) -> int:
    """Print how many comparisons are equal; return 1 if any is not."""
    status = 0
    for name in names or CHECKS:
        equal, total = CHECKS[name]()
        print(f"{name}: {equal:,} of {total:,} equal", flush=True)
        status = status or int(equal != total)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
