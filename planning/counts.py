"""How much did a run decide, in numbers of pods and jobs?"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from planning.rows import Decision, RunCounts

Json = Mapping[str, Any]


def counts_of(steps: Sequence[Decision], jobs: Collection[Json], victims: Collection[Json]) -> RunCounts:
    """Return the numbers of a run: pods that occur in several cycles count once.

    `jobs` and `victims` are the rows of its outcome.
    """
    by_state: dict[str, set[str]] = {"committed": set(), "kept": set(), "failed": set()}
    for victim in victims:
        by_state[victim["state"]].add(victim["pod"])
    return RunCounts(
        bound=len({step.pod for step in steps if step.op == "bind" and step.state == "committed"}),
        pipelined=len({step.pod for step in steps if step.op == "pipeline"}),
        evictions=sum(victim["state"] == "committed" for victim in victims),
        **{f"victims_{state}": len(pods) for state, pods in by_state.items()},
        jobs=len(jobs),
        jobs_pending=sum(job["pending"] > 0 for job in jobs),
        decisions=len(steps),
    )
