"""On how many recorded sessions does the reference decide as the real scheduler did?

``python -m tests.reference [FAMILY…]`` prints, for every file of recordings, how many are covered and equal,
where others differ first, and why the rest is left out. ``--varied`` and ``--changed`` compare core and
reference on clusters of full variety and on randomly changed recorded scenarios.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from tests.fidelity.versus import FAMILIES
from tests.reference.comparison import entries
from tests.reference.coverage import left_out
from tests.reference.recordings import Entry, agrees, answered, recordings
from tests.reference.variety import varied
from tests.scheduler_core.mutations import mutated

MOST_PODS = 150


def groups(options: argparse.Namespace) -> Iterator[tuple[str, Iterable[Entry]]]:
    """Yield what is compared, each with its name."""
    if options.varied or options.changed:
        yield "varied", (answered(varied(number)) for number in range(options.varied))
        changed = (mutated(number, FAMILIES) for number in range(options.changed))
        yield "changed", (answered(one) for one in changed if len(one.get("pods") or ()) <= MOST_PODS)
        return
    for family, path in recordings().items():
        if not options.family or family in options.family:
            yield family, entries(path)


def said(name: str, counts: Counter[str]) -> str:
    """Return a line of figures."""
    return f"{name}: {counts['equal']:,} equal of {counts['covered']:,} covered of {counts['all']:,}"


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.reference", description=__doc__)
    parser.add_argument("family", nargs="*", help="names of files; all by default")
    parser.add_argument("--varied", type=int, default=0, help="how many clusters of full variety")
    parser.add_argument("--changed", type=int, default=0, help="how many changed recorded scenarios")
    options = parser.parse_args()
    total, reasons = Counter[str](), Counter[str]()
    for family, found in groups(options):
        here = Counter[str]()
        for entry in found:
            here["all"] += 1
            reason = left_out(entry["scenario"])
            if reason is not None:
                reasons[reason] += 1
                continue
            here["covered"] += 1
            difference = agrees(entry)
            here["equal"] += difference is None
            if difference is not None:
                print(f"  {entry['scenario']['name']}: {difference}", flush=True)
        total += here
        print(said(family, here), flush=True)
    print(said("together", total))
    for reason, count in reasons.most_common():
        print(f"  left out: {count:,} with {reason}")
    return int(total["equal"] != total["covered"])


if __name__ == "__main__":
    sys.exit(main())
