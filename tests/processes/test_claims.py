"""Workers that claim at the same moment each get different work."""

from concurrent.futures import ThreadPoolExecutor

from tests.processes.installation import Installation

WORKERS, RUNS = 4, 16


def test_concurrent_workers_claim_each_run_exactly_once(installation: Installation) -> None:
    runs = installation.drive("submit", "1", str(RUNS))
    with ThreadPoolExecutor(WORKERS) as workers:
        claimed = list(workers.map(installation.claims, range(WORKERS)))
    taken = [run for shown in claimed for run in shown["claims"]]
    assert sorted(taken) == sorted(runs), "each run was claimed exactly once"
    if "DATABASE_URL" in installation.environment:
        lost = sum(shown["lost"] for shown in claimed)
        assert lost < WORKERS, "workers conflict at most over the last run"
        assert sum(bool(shown["claims"]) for shown in claimed) == WORKERS
