"""Counts the recorded sessions on which the reference engine decides as the real scheduler did.

``python -m tests.reference [FAMILY…]`` prints, for every file of recordings, how many are covered and equal,
where others differ first, and why the rest is left out. ``--varied`` and ``--changed`` compare core and
reference on clusters of full variety and on randomly changed recorded scenarios, ``--replays`` on recorded
and generated replays.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from scheduler_core.replay import replay_document
from tests.fidelity.versus import FAMILIES
from tests.reference.comparison import entries
from tests.reference.coverage import left_out, left_out_of_replays
from tests.reference.recordings import Entry, agrees, answered, recordings
from tests.reference.replaying import replay_agrees
from tests.reference.varied_replays import varied_replay
from tests.reference.variety import varied
from tests.scheduler_core.mutations import mutated
from tests.scheduler_core.replays import (
    calm_replay,
    clocked_replay,
    crowded_replay,
    small_replay,
    storm_replay,
)
from tests.shared import SHARED

MOST_PODS = 150
REPLAYS = (small_replay, crowded_replay, storm_replay, calm_replay, clocked_replay, varied_replay)


def groups(options: argparse.Namespace) -> Iterator[tuple[str, Iterable[Entry]]]:
    """Yield the compared items, each with its name."""
    if options.varied or options.changed:
        yield "varied", (answered(varied(number)) for number in range(options.varied))
        changed = (mutated(number, FAMILIES) for number in range(options.changed))
        yield "changed", (answered(one) for one in changed if len(one.get("pods") or ()) <= MOST_PODS)
        return
    for family, path in recordings().items():
        if not options.family or family in options.family:
            yield family, entries(path)


def replays(number: int) -> Iterator[tuple[str, Iterable[Entry]]]:
    """Yield the small recorded replays, and generated ones of every kind."""
    recorded = SHARED / "golden" / "replay" / "small.jsonl.gz"
    if recorded.exists():
        yield "recorded replays", entries(recorded)
    for make in REPLAYS:
        made = map(make, range(number))
        yield make.__name__, ({"scenario": one, "result": replay_document(one)} for one in made)


def figures(name: str, counts: Counter[str]) -> str:
    """Return a line of figures."""
    return f"{name}: {counts['equal']:,} equal of {counts['covered']:,} covered of {counts['all']:,}"


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.reference", description=__doc__)
    parser.add_argument("family", nargs="*", help="names of files; all by default")
    parser.add_argument("--varied", type=int, default=0, help="how many clusters of full variety")
    parser.add_argument("--changed", type=int, default=0, help="how many changed recorded scenarios")
    parser.add_argument("--replays", type=int, default=0, help="how many generated replays of each kind")
    options = parser.parse_args()
    total, reasons = Counter[str](), Counter[str]()
    chosen = replays(options.replays) if options.replays else groups(options)
    why = left_out_of_replays if options.replays else left_out
    compare = replay_agrees if options.replays else agrees
    for family, found in chosen:
        here = Counter[str]()
        for entry in found:
            here["all"] += 1
            reason = why(entry["scenario"])
            if reason is not None:
                reasons[reason] += 1
                continue
            here["covered"] += 1
            difference = compare(entry)
            here["equal"] += difference is None
            if difference is not None:
                print(f"  {entry['scenario']['name']}: {difference}", flush=True)
        total += here
        print(figures(family, here), flush=True)
    print(figures("together", total))
    for reason, count in reasons.most_common():
        print(f"  left out: {count:,} with {reason}")
    return int(total["equal"] != total["covered"])


if __name__ == "__main__":
    sys.exit(main())
