"""Job actions that wait for their timeout, and their cancellation."""

from __future__ import annotations

from scheduler_core.controllers.lifecycle import RESTARTS_OF, Reaction, Request
from scheduler_core.replay.agenda import Agenda, Kind
from scheduler_core.replay.job_states import JobState


class DelayedActions:
    """The waiting actions of all Jobs; each Job stores its own in `JobState.delayed`."""

    def __init__(self, agenda: Agenda) -> None:
        self.agenda = agenda

    def plan(self, key: str, state: JobState, request: Request, follows: Reaction, time: float) -> None:
        """Delay the action of a request, unless the same action is already delayed."""
        waiting = state.delayed.get(request.pod)
        if waiting is None or waiting[0] != follows.action:
            state.delayed[request.pod] = [follows.action, request.event, request.task, request.partition]
            self.agenda.plan(time + follows.delay, Kind.ACTION, f"{key} {request.pod}")

    def forget_outdated(self, key: str, state: JobState, request: Request) -> None:
        """Drop a pod's delayed action if the pod is no longer in the state that caused it."""
        waiting = state.delayed.get(request.pod)
        if waiting is None or request.event not in ("PodRunning", "PodFailed", "PodEvicted"):
            return
        ran = request.event == "PodRunning" and waiting[1] in ("PodFailed", "PodEvicted")
        if waiting[1] == "PodPending" or ran:
            self.drop(key, state, request.pod)

    def drop_alike(self, key: str, state: JobState, action: str, request: Request) -> None:
        """Drop the delayed actions that an executed action of the same kind makes unnecessary."""
        kind = RESTARTS_OF.get(action)
        for pod, (other, _, task, partition) in list(state.delayed.items()):
            same_part = {"task": task == request.task, "pod": pod == request.pod}.get(
                kind or "", kind is None or partition == request.partition
            )
            if RESTARTS_OF.get(other) == kind and same_part:
                self.drop(key, state, pod)

    def drop(self, key: str, state: JobState, pod: str) -> None:
        """Drop the delayed action of a pod."""
        del state.delayed[pod]
        self.agenda.cancel(f"{key} {pod}", Kind.ACTION)
