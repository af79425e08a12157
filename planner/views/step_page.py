"""What does the page of one step of a run show? Each part is read only when the template asks for it."""

from functools import cached_property

from django.db.models import Q, QuerySet
from django.http import QueryDict

from planner.models import Decision, Run
from planner.rows import Amounts, NodeMoment, QueueMoment
from planner.selectors.figures import TOP
from planner.selectors.moments import Moments
from planner.selectors.runs import decisions
from planner.templatetags.quantities import resource_order

NEAR = 6
"""So many steps before and after are listed."""


class StepPage:
    """One step under the filters of its address; step 0 is the opening of the run."""

    def __init__(self, run: Run, seq: int, asked: QueryDict) -> None:
        self.run = run
        self.seq = seq
        self.asked = asked
        self.words = asked.get("words", "").strip()

    @cached_property
    def total(self) -> int:
        """How many steps the run took."""
        return decisions(self.run).count()

    @cached_property
    def step(self) -> Decision | None:
        """The decision, None at the opening."""
        return decisions(self.run).filter(seq=self.seq).first()

    @cached_property
    def cycle(self) -> int:
        """The cycle of this step."""
        return self.step.cycle if self.step else 1

    @cached_property
    def walked(self) -> QuerySet[Decision]:
        """The steps that the filter lets through."""
        found = decisions(self.run)
        if not self.words:
            return found
        jobs = self.run.job_outcomes.filter(queue__icontains=self.words).values("job")
        named = Q(job__in=jobs)
        for field in ("job", "pod", "node", "for_pod"):
            named |= Q(**{f"{field}__icontains": self.words})
        return found.filter(named)

    @cached_property
    def near(self) -> list[Decision]:
        """The steps around this one."""
        before = self.walked.filter(seq__lte=self.seq).order_by("-seq")[: NEAR + 1]
        after = self.walked.filter(seq__gt=self.seq)[:NEAR]
        return [*reversed(before), *after]

    # where the buttons lead; None where there is nothing

    @property
    def first(self) -> int | None:
        """The opening."""
        return 0 if self.seq else None

    @property
    def before(self) -> int | None:
        """The step before, or the opening."""
        earlier = [one.seq for one in self.near if one.seq < self.seq]
        return earlier[-1] if earlier else self.first

    @property
    def after(self) -> int | None:
        """The next step."""
        return next((one.seq for one in self.near if one.seq > self.seq), None)

    @property
    def last(self) -> int | None:
        """The last step."""
        last = self.walked.values_list("seq", flat=True).last()
        return last if last != self.seq else None

    @property
    def next_action(self) -> int | None:
        """The first step of the next action that did something."""
        if self.step is None:
            return self.after
        later = self.walked.filter(seq__gt=self.seq)
        return later.exclude(**self._same_action).values_list("seq", flat=True).first()

    @property
    def action_before(self) -> int | None:
        """The last step of the action before that did something."""
        if self.step is None:
            return None
        earlier = self.walked.filter(seq__lt=self.seq).exclude(**self._same_action)
        return earlier.values_list("seq", flat=True).last() or self.first

    @property
    def _same_action(self) -> dict[str, object]:
        assert self.step is not None, "the opening has no action"
        return {"cycle": self.step.cycle, "action": self.step.action}

    # how things stood

    @cached_property
    def moments(self) -> Moments:
        """The steps of this cycle, to be undone."""
        return Moments(self.run, self.cycle)

    @cached_property
    def request(self) -> Amounts:
        """What the pod of this step takes."""
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
        """The resource that is shown: the one asked for, else the scarcest kind that the pod takes."""
        asked = self.asked.get("resource", "")
        if asked in self.resources:
            return asked
        taken = [name for name in self.resources if self.request.get(name)]
        return next((name for name in taken if name not in ("cpu", "memory", "pods")), self.resources[0])

    @cached_property
    def queues(self) -> list[tuple[QueueMoment, QueueMoment | None]]:
        """The queues, each with how it stood before if this step changed it; those first, then by share."""
        before, after, _ = self._around
        rows = [(row, None if row == before[row.queue] else before[row.queue]) for row in after]
        return sorted(rows, key=lambda row: (row[1] is None, -row[0].share, row[0].queue))[:TOP]

    @cached_property
    def nodes(self) -> list[NodeMoment]:
        """The nodes of the steps around, that of this step first."""
        places = {name: place for place, name in enumerate(self._node_names)}
        rows = [row for row in self._around[2] if row.node in places]
        return sorted(rows, key=lambda row: places[row.node])

    @cached_property
    def _node_names(self) -> list[str]:
        here = [self.step.node] if self.step else []
        return list(dict.fromkeys(name for name in [*here, *(one.node for one in self.near)] if name))
