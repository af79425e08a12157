"""The data of a run's page; each part is read when the template uses it."""

from functools import cached_property

from django.http import QueryDict

from planner.runs.charts import bullets
from planner.runs.charts.bullets import COMMON, SCALES, Bullet
from planner.runs.models import Run
from planner.runs.selectors.explain import loops
from planner.runs.selectors.figures import (
    AMOUNTS,
    SORTS,
    QueueLine,
    ShownQueues,
    largest_amount,
    most_contested,
    queue_lines,
    resources,
    shown_queues,
)
from planner.runs.selectors.runs import jobs_waiting, pending_jobs, queue_figures, run_counts
from planner.runs.selectors.steps import decisions
from planner.runs.selectors.stories import run_before
from planner.runs.selectors.verdicts import RunVerdict, baseline_of, run_verdict
from planner.web.templatetags.quantities import resource_order
from planner.web.views.listing import Listing
from planning.deficits import rolled_up
from planning.rows import LoopRow, QueueFigures, RunCounts
from planning.units import Scale, scale_of


class RunPage:
    """The parts of a run's page, given the filters in its address."""

    measures = AMOUNTS
    ops = ("enqueue", "enqueue_reject", "allocate", "bind", "pipeline", "unpipeline", "evict")

    def __init__(self, run: Run, params: QueryDict) -> None:
        self.run = run
        self.params = params
        self.containing = params.get("queue", "").strip()
        self.everything = params.get("show") == "all"
        self.as_tree = params.get("as") == "tree"
        sort = params.get("sort", "")
        self.backwards = sort.startswith("-")
        self.sort = sort.removeprefix("-") if sort.removeprefix("-") in SORTS else "deficit"
        scale = params.get("scale", COMMON)
        self.scale_by = scale if scale in SCALES else COMMON
        self.words = params.get("words", "").strip()
        self.op = params.get("op", "")

    @cached_property
    def counts(self) -> RunCounts:
        """How much the run decided."""
        return run_counts(self.run)

    @cached_property
    def figures(self) -> list[QueueFigures]:
        """The figures of every queue."""
        return queue_figures(self.run)

    @cached_property
    def loops(self) -> list[LoopRow]:
        """The pods that the run evicts and binds again in an endless loop."""
        return loops(self.run)

    @property
    def full(self) -> int:
        """The number of queues with allocated resources at or above their deserved amount."""
        return sum((row.share or 0) >= 1 and any(row.allocated.values()) for row in self.figures)

    @cached_property
    def baseline(self) -> Run | None:
        """The run of the unchanged snapshot."""
        return baseline_of(self.run)

    @cached_property
    def verdict(self) -> RunVerdict | None:
        """The verdict on the run, in sentences."""
        return run_verdict(self.run, self.baseline)

    @cached_property
    def queues(self) -> ShownQueues:
        """The queues in the table."""
        return shown_queues(
            queue_lines(self.figures, self.resource, jobs_waiting(self.run)),
            containing=self.containing,
            sort=self.sort,
            backwards=self.backwards,
            everything=self.everything,
            as_tree=self.as_tree,
        )

    @property
    def charted(self) -> list[tuple[QueueLine, Bullet]]:
        """Each queue with its bullet chart."""
        drawn = bullets(self.queues.rows, self.resource, self.scale_by)
        return list(zip(self.queues.lines, drawn, strict=True))

    @cached_property
    def scale(self) -> Scale:
        """The unit of all amounts in the table."""
        return scale_of(self.resource, largest_amount(self.queues.rows, self.resource))

    @property
    def scales(self) -> dict[str, str]:
        """The axes to choose from."""
        return SCALES

    @cached_property
    def resources(self) -> list[str]:
        """The resources to switch between."""
        return resource_order(resources(self.figures)) or ["cpu"]

    @cached_property
    def resource(self) -> str:
        """The selected resource."""
        wanted = self.params.get("resource", "")
        return wanted if wanted in self.resources else most_contested(self.figures, self.resources)

    @cached_property
    def compared_with(self) -> Run | None:
        """The run that figures are compared with: the baseline, otherwise the previous run."""
        return self.baseline or run_before(self.run)

    @cached_property
    def before(self) -> dict[str, QueueFigures]:
        """The figures of each queue in that run."""
        other = self.compared_with
        return {row.queue: row for row in rolled_up(queue_figures(other))} if other else {}

    @cached_property
    def victims(self) -> Listing:
        """The pods selected as victims."""
        return Listing(self.run.victims, name="victims", params=self.params)

    @cached_property
    def pending(self) -> Listing:
        """The waiting jobs."""
        return Listing(pending_jobs(self.run), name="pending", params=self.params)

    @cached_property
    def decisions(self) -> Listing:
        """The steps that match the filter."""
        found = decisions(self.run)
        if self.op:
            found = found.where(op=self.op)
        if self.words:
            found = found.containing(self.words, ("job", "pod", "node"))
        return Listing(found, name="decisions", params=self.params)
