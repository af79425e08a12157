"""The page of a run's nodes: how full they are, and where one more pod would fit."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.html import format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_http_methods

from planner.errors import Invalid
from planner.runs.forms import ProbeForm
from planner.runs.models import Run
from planner.runs.selectors.nodes import node_found, nodes_in_order, pool_heats
from planner.runs.selectors.searches import Fitting, fitting_found, newest_fitting
from planner.runs.selectors.verdicts import request_resources_of
from planner.runs.services.searches import fitting_create
from planner.web.templatetags.quantities import counted, resource_order
from planner.web.views.following import UNCHANGED, seen
from planner.web.views.found import run_or_404
from planner.web.views.listing import Listing
from planner.web.views.pages import caller, is_htmx, page_or_part
from planning.amounts import read_amounts
from planning.fitting import Probe
from planning.heat import NodeHeat, PoolHeat
from planning.rows import Problem, hangs_below
from planning.units import Scale, resource_label, scale_of

SHADES = 10
"""The number of shades of a node's colour."""
PALETTE = 8
"""How many queues have a colour of their own; the others share one."""
NAMED = 8
"""How many queues a node's row names, those with the most pods."""
_OF_THE_PAGE = ("colour", "page")
COLOURS = ("used", "queue", "fits")


class NodesPage:
    """The nodes of a run, given the filters in the page's address."""

    def __init__(self, run: Run, params: QueryDict, requestable: Sequence[str]) -> None:
        self.run = run
        self.requestable = requestable
        self.params = params
        self.pool = params.get("pool", "")
        self.words = params.get("words", "").strip()
        self.typed = {name: params.get(f"requests.{name}", "").strip() for name in self._typed_names}
        self.request = {name: value for name, value in read_amounts(self.typed).items() if value} or None

    @property
    def _typed_names(self) -> list[str]:
        named = [name.removeprefix("requests.") for name in self.params if name.startswith("requests.")]
        return list(dict.fromkeys([*self.requestable, *named]))

    @cached_property
    def pools(self) -> list[PoolHeat]:
        """All pools with their nodes."""
        return pool_heats(self.run, self.request)

    @cached_property
    def resources(self) -> list[str]:
        """The resources to switch between."""
        return resource_order({name for pool in self.pools for name, held in pool.total.items() if held})

    @cached_property
    def resource(self) -> str:
        """The selected resource: the chosen one, otherwise the fullest one of the request, or of all."""
        wanted = self.params.get("resource", "")
        if wanted in self.resources:
            return wanted
        requested = [name for name in self.resources if self.request and name in self.request]
        all_but_pods = [name for name in self.resources if name != "pods"]
        totals = {name: self._sum("total", name) for name in requested or all_but_pods}
        return max(totals, key=lambda name: self._sum("used", name) / totals[name], default="cpu")

    @cached_property
    def scale(self) -> Scale:
        """The unit of the columns of the table."""
        return scale_of(self.resource, max((self._total(node) for node in self._all), default=0.0))

    @property
    def headings(self) -> dict[str, str]:
        """The header of each column of amounts: resource, measure and unit."""
        label, unit = resource_label(self.resource), self.scale.many
        more = "" if unit.lower() == label.lower() else f", {unit}"
        return {measure: f"{label} {measure}{more}" for measure in ("used", "free", "total")}

    def _total(self, node: NodeHeat) -> float:
        return node.total.get(self.resource) or 0.0

    @property
    def colour(self) -> str:
        """What the colour of a node means."""
        wanted = self.params.get("colour", "")
        colours = [name for name in COLOURS if name != "fits" or self.request]
        return wanted if wanted in colours else "fits" if self.request and not wanted else "used"

    @cached_property
    def queues(self) -> list[str]:
        """The queues that have the most pods on some node, those of most nodes first."""
        counts: dict[str, int] = {}
        for node in self._all:
            if node.queue:
                counts[node.queue] = counts.get(node.queue, 0) + 1
        return sorted(counts, key=lambda name: (-counts[name], name))

    @property
    def legend(self) -> list[tuple[str, str]]:
        """The class of each colour, and its meaning."""
        if self.colour == "queue":
            named = [(f"heat__node--queue-{place}", name) for place, name in enumerate(self.queues[:PALETTE])]
            rest = [("heat__node--queue-rest", counted(len(self.queues) - PALETTE, "other queue"))]
            return [*named, *(rest if len(self.queues) > PALETTE else []), ("heat__node--none", "no pod")]
        if self.colour == "fits":
            return [("heat__node--fits", "the request fits"), ("heat__node--full", "it does not fit")]
        return [("heat__node--0", "0 % used"), ("heat__node--5", "50 %"), (f"heat__node--{SHADES}", "100 %")]

    def shade(self, node: NodeHeat) -> str:
        """Return the class of a node's colour."""
        if self.colour == "queue":
            if not node.queue:
                return "heat__node--none"
            place = self.queues.index(node.queue)
            return f"heat__node--queue-{place if place < PALETTE else 'rest'}"
        if self.colour == "fits":
            return "heat__node--fits" if node.fits else "heat__node--full"
        part = node.part(self.resource)
        return "heat__node--none" if part is None else f"heat__node--{min(SHADES, round(part * SHADES))}"

    @cached_property
    def maps(self) -> list[tuple[PoolHeat, SafeString]]:
        """The pools, each with a square for each of its nodes, which links to its page."""
        return [(pool, self._squares(pool)) for pool in self.pools]

    def _squares(self, pool: PoolHeat) -> SafeString:
        """Return the squares of a pool; for thousands of nodes a template would take ten times as long."""
        square = '<a class="h {}" href="{}/" tabindex="-1" title="{}"></a>'
        return format_html_join(
            "", square, ((self.shade(node), quote(node.node, safe=""), node.node) for node in pool.nodes)
        )

    @cached_property
    def listing(self) -> Listing:
        """One page of the nodes that match the filters."""
        found = [node for node in self._all if node_found(node, self.pool, self.words)]
        order = self.params.get("ordering", "")
        return Listing(nodes_in_order(found, order, self.resource), name="page", params=self.params)

    @property
    def rows(self) -> list[tuple[NodeHeat, list[tuple[str, int]], int]]:
        """The nodes of this page, each with its largest queues, and the number of its other queues."""
        return [
            (node, Counter(node.queues).most_common(NAMED), max(0, len(node.queues) - NAMED))
            for node in self.listing.rows
        ]

    @cached_property
    def _all(self) -> Sequence[NodeHeat]:
        return [node for pool in self.pools for node in pool.nodes]

    @property
    def total(self) -> int:
        """The number of nodes."""
        return len(self._all)

    @property
    def query(self) -> str:
        """The query string for the same nodes in the API."""
        given = {name: str(text) for name, text in self.params.items() if text and name not in _OF_THE_PAGE}
        return urlencode({**given, "resource": self.resource})

    @property
    def fits(self) -> int:
        """How many pods of the request fit on all nodes together."""
        return sum(pool.fits or 0 for pool in self.pools)

    def _sum(self, measure: str, resource: str) -> float:
        return sum(getattr(pool, measure).get(resource) or 0.0 for pool in self.pools)


@require_GET
def show(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show the nodes at the end of a run."""
    run = run_or_404(request, run_id)
    resources = request_resources_of(run)
    table, form = NodesPage(run, request.GET, resources), _fit_context(run, request.GET, resources)
    context = {"run": run, "table": table, **form}
    return page_or_part(request, "runs/nodes.html", {}, context)


@require_http_methods(["GET", "POST"])
def fit(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Start a search for the nodes that a pod fits on, or show its progress."""
    run = run_or_404(request, run_id)
    problems: Sequence[Problem] = ()
    resources = request_resources_of(run)
    context = {"run": run, **_fit_context(run, request.POST, resources)}
    if request.method == "POST":
        form = context["fit_form"]
        try:
            fitting_create(run=run, probe=form.probe(), user=caller(request))
        except Invalid as error:
            problems = error.problems
            form.refuse(problems)
            context |= {"fit_search": None, "fit_found": None}
        else:
            if not is_htmx(request):
                return redirect("planner:run-fit", run.pk)
            context |= _fit_context(run, request.POST, resources)
    search = context["fit_search"]
    if search is not None and request.GET.get("seen") == seen(search):
        return HttpResponse(status=UNCHANGED)
    status = HTTPStatus.OK
    if problems or context["fit_form"].errors:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    return page_or_part(
        request,
        "runs/fit.html",
        {"fit": "runs/_fit.html"},
        {**context, "fit_problems": problems},
        status,
    )


def _fit_context(run: Run, typed: QueryDict, resources: Sequence[str]) -> dict[str, Any]:
    """Return the context of the part about one more pod: the form, the last search and its result."""
    search = newest_fitting(run)
    kept = None if search is None or search.probe is None else Probe(**search.probe)
    tree = dict(run.queue_outcomes.order_by("queue").values_list("queue", "parent"))
    parents = {hangs_below(queue, parent) for queue, parent in tree.items()}
    found: Fitting | None = fitting_found(search) if search else None
    return {
        "fit_search": search,
        "fit_found": found,
        "fit_seen": seen(search) if search else "",
        "fit_form": ProbeForm(
            typed if "queue" in typed else None,
            [queue for queue in tree if queue not in parents | {"root"}],
            resources,
            kept,
        ),
    }
