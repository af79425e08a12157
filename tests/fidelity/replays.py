"""Comparison of every recorded replay with the result of the real scheduler.

``python -m tests.fidelity.replays`` prints the figures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from scheduler_core.parity import first_replay_difference
from scheduler_core.reading import Entry, entries
from scheduler_core.replay import replay_document
from tests.shared import SHARED

REPLAYS = SHARED / "golden" / "replay"


def recordings(name: str) -> Iterator[Entry]:
    """Yield the recorded replays of a file."""
    return entries(str(REPLAYS / f"{name}.jsonl.gz"))


def difference(entry: Entry) -> str | None:
    """Return the first difference of our replay from the recorded one, None if they are equal."""
    assert entry.recorded is not None, "only recorded replays are compared"
    return first_replay_difference(replay_document(entry.scenario), entry.recorded)


def main(names: list[str]) -> int:
    """Print, per file, how many replays are equal; return 1 if any is not."""
    status = 0
    for path in sorted(REPLAYS.glob("*.jsonl.gz")):
        if names and path.name.removesuffix(".jsonl.gz") not in names:
            continue
        total = equal = 0
        for entry in entries(str(path)):
            parted = difference(entry)
            total += 1
            equal += parted is None
            if parted is not None:
                print(f"  {entry.scenario.get('name')}: {parted}")
        print(f"{Path(path).name}: {equal} of {total} equal ({100 * equal / total:.1f} %)", flush=True)
        status = status or int(equal != total)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
