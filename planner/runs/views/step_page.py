"""The data of the page of one step; each part is read when the template uses it."""

from bisect import bisect_right
from functools import cached_property

from django.http import QueryDict

from planner.runs.models import Run
from planner.runs.selectors.figures import TOP
from planner.runs.selectors.moments import moments_of
from planner.runs.selectors.steps import TEXTS, Steps, decisions
from planner.web.templatetags.quantities import resource_order
from planning.deficits import dominant
from planning.moments import Moments
from planning.rows import Amounts, Decision, NodeMoment, QueueMoment

NEAR = 6
"""How many steps before and after are listed."""


class StepPage:
    """One step, given the filters in its address; step 0 is the start of the session."""

    def __init__(self, run: Run, seq: int, params: QueryDict) -> None:
        self.run = run
        self.seq = seq
        self.params = params
        self.words = params.get("words", "").strip()

    @cached_property
    def steps(self) -> Steps:
        """All steps of the run."""
        return decisions(self.run)

    @property
    def total(self) -> int:
        """The number of steps of the run."""
        return len(self.steps)

    @cached_property
    def step(self) -> Decision | None:
        """The decision, None at step 0."""
        return self.steps[self.seq - 1] if 0 < self.seq <= self.total else None

    @cached_property
    def cycle(self) -> int:
        """The cycle of this step."""
        return self.step.cycle if self.step else 1

    @cached_property
    def walked(self) -> Steps:
        """The steps that match the filter."""
        if not self.words:
            return self.steps
        named = self.run.job_outcomes.filter(queue__icontains=self.words)
        jobs = set(named.values_list("job", flat=True))
        naming = {step.seq for step in self.steps.containing(self.words, TEXTS)}
        return self.steps.matching(lambda step: step.job in jobs or step.seq in naming)

    @cached_property
    def near(self) -> list[Decision]:
        """The steps around this one."""
        return [*self._before_and_here[-NEAR - 1 :], *self._later[:NEAR]]

    @cached_property
    def _before_and_here(self) -> Steps:
        return self.walked[: self._place]

    @cached_property
    def _later(self) -> Steps:
        return self.walked[self._place :]

    @cached_property
    def _place(self) -> int:
        """The number of matching steps before the next one."""
        return bisect_right(self.walked, self.seq, key=lambda step: step.seq)

    # The targets of the buttons; None disables a button

    @property
    def first(self) -> int | None:
        """The start of the session."""
        return 0 if self.seq else None

    @property
    def before(self) -> int | None:
        """The previous step, or step 0."""
        earlier = [one.seq for one in self.near if one.seq < self.seq]
        return earlier[-1] if earlier else self.first

    @property
    def after(self) -> int | None:
        """The next step."""
        return next((one.seq for one in self.near if one.seq > self.seq), None)

    @property
    def last(self) -> int | None:
        """The last step."""
        last = self.walked[-1].seq if self.walked else None
        return last if last != self.seq else None

    @property
    def next_action(self) -> int | None:
        """The first step of the next action that made a decision."""
        if self.step is None:
            return self.after
        return next((step.seq for step in self._later if not self._is_same_action(step)), None)

    @property
    def action_before(self) -> int | None:
        """The last step of the previous action that made a decision."""
        if self.step is None:
            return None
        earlier = reversed(self._before_and_here)
        return next((step.seq for step in earlier if not self._is_same_action(step)), self.first)

    def _is_same_action(self, other: Decision) -> bool:
        assert self.step is not None, "step 0 has no action"
        return (other.cycle, other.action) == (self.step.cycle, self.step.action)

    # The state of the cluster

    @cached_property
    def moments(self) -> Moments:
        """The steps of this cycle, to be undone."""
        moments = moments_of(self.run, self.cycle, self.steps)
        assert moments is not None, "a run with steps has stored its moments"
        return moments

    @cached_property
    def request(self) -> Amounts:
        """The request of this step's pod."""
        return self.moments.request_of(self.step.pod) if self.step and self.step.pod else {}

    @cached_property
    def _around(self) -> tuple[dict[str, QueueMoment], list[QueueMoment], list[NodeMoment]]:
        before, after = self.moments.around(self.seq)
        return {row.queue: row for row in before.queues}, list(after.queues), list(after.nodes)

    @cached_property
    def resources(self) -> list[str]:
        """The resources to switch between."""
        named = {name for row in self._around[1] for name in {**row.deserved, **row.allocated}}
        return resource_order(named) or ["cpu"]

    @cached_property
    def resource(self) -> str:
        """The selected resource: the requested one, otherwise the scarcest that the pod requests."""
        wanted = self.params.get("resource", "")
        if wanted in self.resources:
            return wanted
        taken = [name for name in self.resources if self.request.get(name)]
        return next((name for name in taken if name not in ("cpu", "memory", "pods")), self.resources[0])

    @cached_property
    def queues(self) -> list[tuple[QueueMoment, QueueMoment | None, float | None, float | None]]:
        """The queues with their shares, and their state and share before a step that changed them.

        Changed queues come first, then those with the largest share.
        """
        before, after, _ = self._around
        rows = [
            (row, was if row != was else None, self._share(row), self._share(was))
            for row, was in ((row, before[row.queue]) for row in after)
        ]
        return sorted(rows, key=lambda row: (row[1] is None, -(row[2] or 0.0), row[0].queue))[:TOP]

    def _share(self, row: QueueMoment) -> float | None:
        """Return the share as the run's page has it: of a parent its dominant share, None for 0 of 0."""
        _, share = dominant(row.allocated, row.deserved)
        return share if share is None or row.queue in self.moments.parents else row.share

    @cached_property
    def nodes(self) -> list[NodeMoment]:
        """The nodes of the steps around, with this step's node first."""
        places = {name: place for place, name in enumerate(self._node_names)}
        rows = [row for row in self._around[2] if row.node in places]
        return sorted(rows, key=lambda row: places[row.node])

    @cached_property
    def _node_names(self) -> list[str]:
        here = [self.step.node] if self.step else []
        return list(dict.fromkeys(name for name in [*here, *(one.node for one in self.near)] if name))
