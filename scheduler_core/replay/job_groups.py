"""The PodGroups of Jobs: their creation, which a webhook may refuse, and their deletion."""

from __future__ import annotations

from scheduler_core.controllers.lifecycle import Request
from scheduler_core.controllers.vcjob import podgroup_of
from scheduler_core.replay.agenda import Kind
from scheduler_core.replay.job_states import JobState, JobStates
from scheduler_core.replay.queues import accepts_podgroups
from scheduler_core.replay.world import World

ATTEMPTS, FIRST_DELAY = 15, 0.005
"""How often a refused request is repeated, and the first delay in seconds, which then doubles."""
RETRY = "podgroup"
"""The name of a planned attempt, among the numbers of delayed actions."""
ACTIVE = ("Pending", "Running", "Restarting")


class JobGroups:
    """The PodGroups of the Jobs of a replay."""

    def __init__(self, world: World, known: JobStates) -> None:
        self.world = world
        self.known = known

    def ensure(self, key: str, state: JobState, time: float) -> bool:
        """Create the PodGroup of a Job if it is missing; return whether it exists.

        A queue that is not Open accepts no PodGroup. The request is repeated for 164 seconds; then the Job
        is terminated.
        """
        if state.group in self.world.podgroups:
            return True
        values = {name: int(entry.get("value") or 0) for name, entry in self.world.admission.classes.items()}
        group = podgroup_of(state.rules, self.world.admission.items("namespaces"), values)
        if not accepts_podgroups(self.world.cluster.queues, group["spec"]["queue"]):
            self._refuse(key, state, time)
            return False
        if state.groups or "creationTimestamp" not in group["metadata"]:
            metadata = {**group["metadata"], "creationTimestamp": self.world.timestamp(time)}
            group = {**group, "metadata": metadata}
        self.forget(key, state)
        state.groups += 1
        self.world.add_podgroup(state.group, group, self.world.records.vcjobs[key].submitted)
        return True

    def remove(self, state: JobState) -> None:
        """Delete the PodGroup of a Job."""
        if state.group in self.world.podgroups:
            self.world.remove_group(state.group)

    def _refuse(self, key: str, state: JobState, time: float) -> None:
        if not state.refusals:
            self._plan(key, state, time)
        elif state.refusals > ATTEMPTS:
            self.known.requests.append((key, Request("CommandIssued", action="TerminateJob")))

    def retry(self, key: str, state: JobState, time: float) -> None:
        """Repeat a request for a PodGroup."""
        if state.phase not in ACTIVE or state.group in self.world.podgroups:
            return
        self._plan(key, state, time)
        self.known.request(key, "OutOfSync")

    def _plan(self, key: str, state: JobState, time: float) -> None:
        """Plan the next attempt, unless there have been enough."""
        state.refusals += 1
        if state.refusals <= ATTEMPTS:
            due = time + FIRST_DELAY * 2 ** (state.refusals - 1)
            self.world.agenda.plan(due, Kind.ACTION, f"{key} {RETRY}")

    def forget(self, key: str, state: JobState) -> None:
        """Forget that a PodGroup was refused."""
        if state.refusals:
            state.refusals = 0
            self.world.agenda.cancel(f"{key} {RETRY}", Kind.ACTION)
