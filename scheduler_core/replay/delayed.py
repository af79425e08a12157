"""Job actions that wait for their timeout, and their cancellation.

A pod has at most one action that can be cancelled. Another action of the pod takes its place but does not
stop it: both are executed.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_core.controllers.lifecycle import RESTARTS_OF, Reaction, Request
from scheduler_core.replay.agenda import Agenda, Kind
from scheduler_core.replay.job_states import JobState


class Delayed(NamedTuple):
    """An action that waits for its timeout, with the event that caused it."""

    action: str
    event: str
    task: str
    pod: str
    partition: str


class DelayedActions:
    """The waiting actions of all Jobs; each Job stores its own in `JobState.timers`."""

    def __init__(self, agenda: Agenda) -> None:
        self.agenda = agenda

    def plan(self, key: str, state: JobState, request: Request, follows: Reaction, time: float) -> None:
        """Delay the action of a request, unless the same action is already delayed."""
        waiting = self._of_pod(state, request.pod)
        if waiting is None or waiting.action != follows.action:
            state.delays += 1
            number = state.delayed[request.pod] = str(state.delays)
            state.timers[number] = [follows.action, *_cause(request)]
            self.agenda.plan(time + follows.delay, Kind.ACTION, f"{key} {number}")

    def pop(self, state: JobState, number: str) -> Delayed | None:
        """Remove and return an action whose timeout has passed, None if it was cancelled."""
        if number not in state.timers:
            return None
        due = Delayed(*state.timers.pop(number))
        if state.delayed.get(due.pod) == number:
            del state.delayed[due.pod]
        return due

    def forget_outdated(self, key: str, state: JobState, request: Request) -> None:
        """Drop a pod's delayed action if the pod is no longer in the state that caused it."""
        waiting = self._of_pod(state, request.pod)
        if waiting is None or request.event not in ("PodRunning", "PodFailed", "PodEvicted"):
            return
        ran = request.event == "PodRunning" and waiting.event in ("PodFailed", "PodEvicted")
        if waiting.event == "PodPending" or ran:
            self._drop(key, state, request.pod)

    def drop_alike(self, key: str, state: JobState, action: str, request: Request) -> None:
        """Drop the delayed actions that an executed action of the same kind makes unnecessary."""
        kind = RESTARTS_OF.get(action)
        for pod, number in list(state.delayed.items()):
            other = Delayed(*state.timers[number])
            same_part = {"task": other.task == request.task, "pod": pod == request.pod}.get(
                kind or "", kind is None or other.partition == request.partition
            )
            if RESTARTS_OF.get(other.action) == kind and same_part:
                self._drop(key, state, pod)

    def drop_all(self, key: str, state: JobState) -> None:
        """Drop all delayed actions of a deleted Job."""
        for number in state.timers:
            self.agenda.cancel(f"{key} {number}", Kind.ACTION)
        state.timers.clear()
        state.delayed.clear()

    def _of_pod(self, state: JobState, pod: str) -> Delayed | None:
        number = state.delayed.get(pod)
        return None if number is None else Delayed(*state.timers[number])

    def _drop(self, key: str, state: JobState, pod: str) -> None:
        number = state.delayed.pop(pod)
        del state.timers[number]
        self.agenda.cancel(f"{key} {number}", Kind.ACTION)


def _cause(request: Request) -> tuple[str, str, str, str]:
    return request.event, request.task, request.pod, request.partition
