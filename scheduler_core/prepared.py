"""Prepared documents, which simulate variants without reading unchanged parts again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.admission import Admission
from scheduler_core.errors import InputError
from scheduler_core.failure import failed
from scheduler_core.fault import NOT_OURS
from scheduler_core.options import Options
from scheduler_core.simulate import Simulation
from scheduler_core.validate import Inspection, problems

Result = dict[str, Any]
DEFAULTS = Options()


class Prepared:
    """A scenario document that is read once and simulated in many variants.

    A variant is given as the parts of the document that differ, whole lists under their names: ``{"queues":
    [...]}``, ``{"scheduler_conf": {...}}``, ``{"pods": [*others, changed]}``. An object that a variant
    shares with the document is neither validated nor read again. The result of a variant is byte for byte
    that of a run of ``{**document, **changes}`` from scratch.

    Never edit an object that was passed in; pass a new one. Variants do not modify a `Prepared`, so several
    threads may share it.

    Parameters
    ----------
    document : mapping
        A scenario as for `simulate_document`. It may have errors; the result of every variant that still has
        them has the key `error`.

    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self._inspection: Inspection | None = None
        self._admission: Admission | None = None
        self._broken: Exception | None = None
        try:
            self._read()
        except NOT_OURS:
            raise
        except Exception as error:
            self._broken = error

    def _read(self) -> None:
        if isinstance(self.document, Mapping):
            self._inspection = Inspection(self.document)
            if not self._inspection.errors():
                self._admission = _admission_of(self.document, self._inspection)

    def simulate(self, changes: Mapping[str, Any] | None = None, options: Options = DEFAULTS) -> Result:
        """Return the result of a variant; one that cannot be simulated has the key `error`.

        Parameters
        ----------
        changes : mapping, optional
            The parts of the document that differ; None or empty: the document itself.
        options : Options
            The options of the simulation.

        """
        return self._answer(changes, options, Simulation.run)

    def figures(self, changes: Mapping[str, Any] | None = None, options: Options = DEFAULTS) -> Result:
        """Return a variant's queues when the first session opens, without running any action.

        The result has `name`, `notes`, `at_open` (queues with deserved, real capability, share and more, as
        in a result) and, unless explanations are off, ``explain.deserved``; or `error`.
        """
        return self._answer(changes, options, Simulation.figures)

    def fitting(
        self, pod: str, changes: Mapping[str, Any] | None = None, options: Options = DEFAULTS
    ) -> Result:
        """Return the nodes on which a waiting pod of a variant would be placed, without running any action.

        The result has `name`, `notes`, `pod` and the keys of `framework.fitting`; or `error`.
        """
        return self._answer(changes, options, lambda simulation, answer: simulation.fitting(answer, pod))

    def _answer(
        self,
        changes: Mapping[str, Any] | None,
        options: Options,
        ask: Callable[[Simulation, Result], Result],
    ) -> Result:
        document = {**self.document, **changes} if changes else self.document
        if not isinstance(document, Mapping):
            return {"name": "", "error": problems(document)[0].message, "notes": []}
        answer: Result = {"name": str(document.get("name") or "")}
        if self._broken is not None:
            return failed(answer, self._broken)
        try:
            return self._simulated(document, answer, options, ask, changed=bool(changes))
        except NOT_OURS:
            raise
        except Exception as error:
            return failed(answer, error)

    def _simulated(
        self,
        document: Mapping[str, Any],
        answer: Result,
        options: Options,
        ask: Callable[[Simulation, Result], Result],
        *,
        changed: bool,
    ) -> Result:
        inspection = self._inspection
        if inspection is None or changed or options.release is not None:
            inspection = Inspection(document, inspection, options.release)
        errors = inspection.errors()
        if errors or inspection.conf is None:
            others = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            return {**answer, "error": errors[0].message + others, "notes": []}
        admission = Admission(document, inspection.read_pods(), self._admission, inspection.conf.release)
        return ask(Simulation(document, inspection.conf, admission, options), answer)


def prepare(document: Mapping[str, Any]) -> Prepared:
    """Return a `Prepared` for a document, for many variants of it.

    Examples
    --------
    >>> prepared = prepare({"queues": [{"metadata": {"name": "a"}, "spec": {"weight": 3}}]})
    >>> prepared.simulate()["notes"][:1]
    ['Assumed: queue default exists; Volcano creates it at start.']

    """
    return Prepared(document)


def simulate_document(document: Mapping[str, Any], options: Options = DEFAULTS) -> Result:
    """Return the result of a scenario; one that cannot be simulated has the key `error`.

    Parameters
    ----------
    document : mapping
        A scenario whose `scheduler_conf` is a structure, or missing for Volcano's default.
    options : Options
        The options of the simulation.

    """
    return Prepared(document).simulate(options=options)


def _admission_of(document: Mapping[str, Any], inspection: Inspection) -> Admission | None:
    try:
        return Admission(document, inspection.read_pods())
    except InputError:
        return None
