"""Measures the time of a variant of a cluster, with a shared prepared document and from scratch.

``python -m benchmarks.bench_experiments`` sweeps single-session variants of a generated cluster of 100 nodes
and 500 pods on one core, as a worker's child process does, and simulates some of them from scratch. Deserved
amounts change the session of each variant; weights do not, as plugin capacity does not read them. With
``--strict`` it returns 1 when 1,000 variants of the amounts would take more than 10 processor seconds.
"""

import argparse
import gc
import sys
from time import process_time

from benchmarks.generator import Size, cluster
from planning.collecting import collected_seldom
from planning.experiments.cells import Grid
from planning.experiments.figures import Figure
from planning.experiments.settings import setting_of
from scheduler_core import Options, simulate_document

SIZE = Size(nodes=100, pods=500, queues=8, levels=1, pending=30)
VARIANTS, MEASURED, ALONE = 1000, 1000, 20
LIMIT_SECONDS = 10.0
FIGURES = (Figure("waiting_pods"), Figure("evictions"), Figure("deficit", resource="cpu"))


AMOUNTS = {"field": "deserved", "resource": "cpu"}
"""Each variant has a session of its own; nothing reads weights (`WEIGHTS`) here."""
WEIGHTS = {"field": "weight"}


def measured(moved: dict[str, str]) -> tuple[float, float]:
    """Return the processor seconds of a variant that shares its document with others, and from scratch."""
    document = cluster(SIZE)
    gc.freeze()
    first, second = (queue["metadata"]["name"] for queue in document["queues"][-2:])
    grid = Grid(
        document,
        [
            setting_of({"queue": first, **moved, "range": {"from": 100, "to": 131, "step": 1}}),
            setting_of({"queue": second, **moved, "range": {"from": 100, "to": 131, "step": 1}}),
        ],
    )
    combinations = list(grid.product())[:MEASURED]
    begun = process_time()
    with collected_seldom():
        shared = [grid.cell(one, FIGURES) for one in combinations]
    together = (process_time() - begun) / MEASURED
    begun = process_time()
    for cell in shared[:: MEASURED // ALONE]:
        alone = simulate_document(grid.changed(cell.combination), Options(explain=False))
        assert cell.figures == tuple(float(figure.of(alone)) for figure in FIGURES)
    return together, (process_time() - begun) / ALONE


def main() -> int:
    """Print both figures; return 1 if they are too slow and ``--strict`` is given."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strict", action="store_true")
    asked = parser.parse_args()
    for name, moved in (("weights that nothing reads", WEIGHTS), ("amounts", AMOUNTS)):
        together, alone = measured(moved)
        print(
            f"{name}: a variant {together * 1000:.1f} ms, alone {alone * 1000:.1f} ms "
            f"({MEASURED} and {ALONE} measured); sharing is {alone / together:.2f} times as fast; "
            f"{VARIANTS:,} at this pace: {together * VARIANTS:.1f} s; the aim is {LIMIT_SECONDS:g} s"
        )
    return int(asked.strict and together * VARIANTS > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
