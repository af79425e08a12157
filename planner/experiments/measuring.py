"""What does the child process of a group of cells do? Read the cluster once, measure cell after cell.

Started by `planner.experiments.services.groups` as ``python -m planner.experiments.measuring SOURCE RESULT``:
two open files by number, of which the second stays empty: findings are reported as they come. After half of
the time that a child may use it ends early, and another one goes on.
"""

import gc
import json
import sys
import time

from planner.work.subprocess_worker import Failed, ended, tell, tell_progress, tell_so_far
from planning.collecting import collected_seldom
from planning.experiments.outcomes import Entry, Measurer
from planning.experiments.written import Definition, grid_of
from planning.version import ENGINE_VERSION

REPORT_SECONDS = 0.3
"""So often the child says what it has found since."""


def main(source_file: int) -> int:
    """Measure the cells of a group; return the exit status."""
    return ended(lambda: _measure(source_file))


def _measure(source_file: int) -> None:
    tell_progress(0.0, "reading the input")
    with open(source_file, "rb") as source:
        given = json.load(source)
    grid, problems = grid_of(given["scenario"], given["written"], given["workload"])
    if problems:
        raise Failed(problems[0].message)
    measurer = Measurer(grid, Definition.of(given["written"]))
    measure = measurer.verification if given["verifies"] else measurer.entry
    cells, fresh = given["cells"], list[Entry]()
    begun = reported = time.monotonic()
    gc.freeze()
    with collected_seldom():
        for number, cell in enumerate(cells):
            fresh.append(measure(tuple(cell)))
            if time.monotonic() - begun > given["seconds"]:
                break
            if time.monotonic() - reported > REPORT_SECONDS:
                tell_so_far({"entries": fresh})
                tell_progress((number + 1) / len(cells), f"{number + 1} of {len(cells)} cells")
                reported, fresh = time.monotonic(), []
    tell(entries=fresh, engine_version=ENGINE_VERSION)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
