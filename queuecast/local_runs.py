"""Runs in a local folder, with the same core as the server."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from manifests.differences import differences
from queuecast.backend import Json, Progress
from queuecast.comparison import side_by_side
from queuecast.core import faults, simulate
from queuecast.outcome import Outcome, decisions
from queuecast.problems import Refused, refusal, unknown
from queuecast.store import Store, head

_FEWEST, _MOST = 2, 6


class LocalRuns:
    """The runs of a folder."""

    def __init__(self, folder: Path, *, dry_run: bool) -> None:
        self._store = Store(folder, dry_run=dry_run)

    def run_start(self, scenario: str, *, cycles: int = 1) -> Json:
        """Record a run, which is simulated when its result is requested; raise Refused if it cannot be."""
        there = self._store.one("scenarios", scenario)
        document = {**there["document"], "cycles": cycles}
        if wrong := faults(document):
            raise refusal(wrong)
        number = str(max((int(run["id"]) for run in self._store.all("runs")), default=0) + 1)
        run = {
            "id": number,
            "state": "queued",
            "scenario": there["id"],
            "scenario_revision": there["revision"],
            "options": {"cycles": cycles},
            "document": document,
        }
        self._store.keep("runs", run)
        return head(run)

    def run_wait(self, run: str, progress: Progress | None = None, *, seconds: float | None = None) -> Json:
        """Simulate a run if it was not simulated yet; return it."""
        there = self._run(run)
        if there["state"] == "queued":
            there["result"] = simulate(there["document"], progress)
            there["notes"] = there["result"]["notes"]
            there["state"] = "succeeded"
            self._store.keep("runs", there)
        return head(there)

    def runs(self, scenario: str = "") -> list[Json]:
        """Return the runs, newest first, of all scenarios or of one."""
        wanted = self._store.one("scenarios", scenario)["id"] if scenario else None
        found = [run for run in self._store.all("runs") if wanted in (None, run["scenario"])]
        return [head(run) for run in sorted(found, key=lambda run: -int(run["id"]))]

    def run_queues(self, run: str) -> list[Json]:
        """Return the outcome of a run for each queue."""
        return [
            {"queue": name, **held, "real_capability": held["realCapability"]}
            for name, held in self._outcome(run).queues.items()
        ]

    def run_jobs(self, run: str) -> list[Json]:
        """Return the outcome of a run for each job."""
        return [dict(job) for job in self._outcome(run).jobs.values()]

    def run_decisions(self, run: str, **filters: str) -> list[Json]:
        """Return the steps of a run in order; filters are `job`, `pod`, `node`, `action`, `op`."""
        steps = decisions(self._simulated(run)["result"])
        return [one for one in steps if all(one[name] == wanted for name, wanted in filters.items())]

    def run_victims(self, run: str) -> list[Json]:
        """Return the pods that a run evicts."""
        return [asdict(victim) for victim in self._outcome(run).victims]

    def run_documents(self, run: str) -> tuple[Json, Json]:
        """Return the input and the result of a run."""
        there = self._simulated(run)
        return there["document"], there["result"]

    def compare(self, runs: Sequence[str]) -> Json:
        """Return a comparison of two to six runs."""
        if not _FEWEST <= len(runs) <= _MOST:
            raise Refused(f"Compare two to six runs, not {len(runs)}.")
        held = [self._simulated(run) for run in runs]
        settings = differences([run["document"] for run in held])
        outcomes = [Outcome.of(run["result"], run["document"]) for run in held]
        return side_by_side([head(run) for run in held], settings, outcomes)

    def _outcome(self, run: str) -> Outcome:
        there = self._simulated(run)
        return Outcome.of(there["result"], there["document"])

    def _simulated(self, run: str) -> Json:
        there = self._run(run)
        if "result" not in there:
            raise Refused(f"Run {run} has not been simulated: queuecast --local run {there['scenario']}.")
        return there

    def _run(self, run: str) -> Json:
        """Return a run by its id, or the newest one of a scenario by the scenario's name."""
        runs = self._store.all("runs")
        for held in sorted(runs, key=lambda held: -int(held["id"])):
            if run in (held["id"], held["scenario"]):
                return held
        names = (name for held in runs for name in (held["id"], held["scenario"]))
        raise unknown("run", run, names, where=f"in {self._store.folder}")
