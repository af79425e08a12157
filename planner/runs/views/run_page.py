"""What does the page of a run show? Each part is read only when a template asks for it."""

from functools import cached_property
from typing import Any

from django.http import QueryDict

from planner.runs.charts import amounts_figure, share_figure
from planner.runs.models import Run
from planner.runs.selectors.explain import loops
from planner.runs.selectors.figures import ShownQueues, most_contested, resources, shown_queues
from planner.runs.selectors.runs import pending_jobs, queue_figures, run_counts, victims
from planner.runs.selectors.steps import decisions
from planner.runs.selectors.stories import run_before
from planner.web.templatetags.quantities import resource_order
from planner.web.views.listing import Listing
from planning.rows import Amounts, LoopRow, QueueFigures, RunCounts


class RunPage:
    """The parts of a run's page under the switches and filters of its address."""

    measures = ("deserved", "allocated", "request", "guarantee", "capability")
    ops = ("enqueue", "enqueue_reject", "allocate", "bind", "pipeline", "unpipeline", "evict")

    def __init__(self, run: Run, asked: QueryDict) -> None:
        self.run = run
        self.asked = asked
        self.containing = asked.get("queue", "").strip()
        self.everything = asked.get("show") == "all"
        self.words = asked.get("words", "").strip()
        self.op = asked.get("op", "")

    @cached_property
    def counts(self) -> RunCounts:
        """How much the run decided."""
        return run_counts(self.run)

    @cached_property
    def figures(self) -> list[QueueFigures]:
        """What the run made of every queue."""
        return queue_figures(self.run)

    @cached_property
    def loops(self) -> list[LoopRow]:
        """Which pods the run evicts and binds again without end."""
        return loops(self.run)

    @property
    def full(self) -> int:
        """How many queues hold something, and all that they deserve or more."""
        return sum((row.share or 0) >= 1 and any(row.allocated.values()) for row in self.figures)

    @cached_property
    def queues(self) -> ShownQueues:
        """The queues that charts and tables show."""
        return shown_queues(self.figures, containing=self.containing, everything=self.everything)

    @cached_property
    def resources(self) -> list[str]:
        """The resources to switch between."""
        return resource_order(resources(self.figures)) or ["cpu"]

    @property
    def resource(self) -> str:
        """The resource that is shown."""
        asked = self.asked.get("resource", "")
        return asked if asked in self.resources else most_contested(self.figures, self.resources)

    @cached_property
    def last_run(self) -> Run | None:
        """The run of this scenario before this one that came to an outcome."""
        return run_before(self.run)

    @cached_property
    def deserved_before(self) -> dict[str, Amounts]:
        """What each queue deserved in that run."""
        return {row.queue: row.deserved for row in queue_figures(self.last_run)} if self.last_run else {}

    @property
    def amounts_figure(self) -> dict[str, Any]:
        """Deserved, allocated, request, guarantee and capability of each queue."""
        return amounts_figure(self.queues.rows, self.resource)

    @property
    def share_figure(self) -> dict[str, Any]:
        """The share of each queue."""
        return share_figure(self.queues.rows)

    @cached_property
    def victims(self) -> Listing:
        """The pods chosen as victims."""
        return Listing(victims(self.run), name="victims", asked=self.asked)

    @cached_property
    def pending(self) -> Listing:
        """The jobs that wait."""
        return Listing(pending_jobs(self.run), name="pending", asked=self.asked)

    @cached_property
    def decisions(self) -> Listing:
        """The steps taken, as far as the filter lets them through."""
        found = decisions(self.run)
        if self.op:
            found = found.where(op=self.op)
        if self.words:
            found = found.naming(self.words, ("job", "pod", "node"))
        return Listing(found, name="decisions", asked=self.asked)
