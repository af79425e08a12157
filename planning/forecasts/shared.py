"""Data that forecasts of variants of one scenario share: arrivals and checks of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any

from planning.forecasts.document import Arrivals, Times, arrivals_of, names_in_use
from planning.forecasts.workload import Fitting, fitted_to, leaf_queues
from planning.node_constraints import EXAMPLE_PARTS, NOTHING_KNOWN, KnownConstraints, examples_of
from planning.rows import Problem
from scheduler_core.validate import Inspection
from traces import Trace

Json = Mapping[str, Any]

KEPT_EVENTS = 50_000
"""The most arrivals whose events are cached, some 2 kB each, of the latest workloads."""


class Shared:
    """Data read for the forecasts of some variants that is valid for the next one.

    The examples of node constraints are those of the pods, PodGroups and Jobs, which most variants share.

    Forecasts of one trace with the same fitting share arrivals. Sound, as these depend only on the trace, the
    queues that may have jobs, the fitting, the node constraints of the scenario's pods, the names in use, the
    horizon and the default run time, and no event is edited.

    Attributes
    ----------
    inspection : Inspection or None
        Of the variant that was inspected last; objects that it shares with the next one are not checked
        again.

    """

    def __init__(self) -> None:
        self.inspection: Inspection | None = None
        self._known: OrderedDict[Hashable, tuple[Trace, Arrivals]] = OrderedDict()
        self._read: tuple[list[Any], KnownConstraints] = ([], NOTHING_KNOWN)

    def arrivals(
        self, trace: Trace, document: Json, fitting: Fitting, times: Times
    ) -> tuple[Arrivals, list[Problem]]:
        """Return the arrivals of a trace during a forecast of a scenario, or why it cannot be fitted."""
        queues, known = leaf_queues(document), fitting.known_constraints(document, self.examples)
        placed = None if known is None else known.key
        taken = names_in_use(document)
        key = (id(trace), tuple(queues), fitting.key, placed, taken, times.horizon, times.default_run)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key][1], []
        work, problems = fitted_to(trace, queues, fitting, known)
        if problems:
            return Arrivals((), ()), problems
        made = arrivals_of(work, times, taken)
        self._known[key] = trace, made
        while len(self._known) > 1 and self._count() > KEPT_EVENTS:
            self._known.popitem(last=False)
        return made, []

    def examples(self, document: Json) -> KnownConstraints:
        """Return `examples_of` a document, read anew only if it has other pods than the one before."""
        parts = [document.get(name) for name in EXAMPLE_PARTS]
        if not self._read[0] or any(one is not held for one, held in zip(parts, self._read[0], strict=True)):
            self._read = parts, examples_of(document)
        return self._read[1]

    @property
    def fitted(self) -> int:
        """Return the number of cached arrivals."""
        return len(self._known)

    def _count(self) -> int:
        return sum(len(arrivals.events) for _, arrivals in self._known.values())
