"""The child process of a group of cells: reads the cluster once, then measures cell by cell.

`planner.experiments.services.groups` starts it. After half of a child's time limit it ends early, and another
child continues.
"""

import gc
import json
import time

from planner.work.subprocess_worker import Failed, report_found, report_progress, run_work
from planning.experiments.definition import Definition, grid_of
from planning.experiments.outcomes import Measurer

REPORT_SECONDS = 0.3
"""The interval of reports of progress, in seconds."""


def main(source_file: int, _result_file: int) -> int:
    """Measure the cells of a group; return the exit status.

    The result file stays empty, as each entry is reported at once.
    """
    return run_work(lambda: _measure(source_file))


def _measure(source_file: int) -> None:
    report_progress(0.0, "reading the input")
    with open(source_file, "rb") as source:
        given = json.load(source)
    grid, problems = grid_of(given["scenario"], given["written"], given["workload"])
    if problems:
        raise Failed(problems[0].message)
    measurer = Measurer(grid, Definition.of(given["written"]))
    measure = measurer.verification if given["verifies"] else measurer.entry
    cells = given["cells"]
    begun = reported = time.monotonic()
    gc.freeze()
    for number, cell in enumerate(cells):
        # Each at once: if this process is stopped, the worker knows at which cell.
        report_found({"entry": measure(tuple(cell))})
        if time.monotonic() - begun > given["seconds"]:
            break
        if time.monotonic() - reported > REPORT_SECONDS:
            report_progress((number + 1) / len(cells), f"{number + 1} of {len(cells)} cells")
            reported = time.monotonic()
