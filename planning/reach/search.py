"""Search for the smallest change of each kind with which a figure reaches an amount.

Every kind of change has a grid, from the smallest change on, and its points are tried in this order until the
first that reaches the amount: each smaller one was tried and misses it. No conclusion is drawn from one point
about another, because Volcano is not monotone: more weight for a queue may place fewer of its pods, and too
large a guarantee takes resources from every queue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from planning.collecting import collected_seldom
from planning.demands import Demand
from planning.reach.figures import Figure, JobFigure, QueueFigure, Value, conf_of
from planning.reach.kinds import Kind, Move, node_kinds, queue_kinds
from planning.reach.questions import PLACED, SHARE, Question
from scheduler_core.explain.changes import refusals
from scheduler_core.queue_fields import unread_fields

Json = Mapping[str, Any]
TURN = 6
"""Moves of a kind that are tried in its turn: all of a job's grid, so that kinds are decided in order."""
Status = Literal["found", "none", "undecided"]


@dataclass
class Found:
    """The findings about one kind of change.

    Attributes
    ----------
    kind : Kind
        What moves, and its grid.
    tried : int
        How many points of the grid were tried, from the smallest on.
    move : Move or None
        The smallest with which the figure reaches the amount; None when there is none, or none yet.
    value : float or None
        The figure after the move; without a move after the last one tried.
    refused : str
        Why a smaller move that reaches the amount is not offered: the webhook refuses it, or the scenario
        could not be simulated.

    """

    kind: Kind
    tried: int = 0
    move: Move | None = None
    value: float | None = None
    refused: str = ""

    @property
    def status(self) -> Status:
        """Return whether a move is `found`, the grid has `none`, or the time was up."""
        if self.move is not None:
            return "found"
        return "none" if self.tried == len(self.kind.moves) else "undecided"

    @property
    def so_far(self) -> Tried:
        """Return the state from which a search continues."""
        return self.tried, self.move is not None, self.value, self.refused

    def resume(self, so_far: Tried) -> None:
        """Restore the state of an earlier search."""
        self.tried, is_found, self.value, self.refused = so_far
        self.move = self.kind.moves[self.tried - 1] if is_found else None


@dataclass(frozen=True)
class Reached:
    """The answer: the current value of the figure, and the smallest change of each kind.

    Attributes
    ----------
    question : Question
        The question.
    now : float
        The current value of the figure.
    found : sequence of Found
        One for each kind; none if the figure meets the question already.
    limit : str
        Why no step of any kind reaches the amount; empty if one does, or if nothing is known to bound the
        figure.

    """

    question: Question
    now: float
    found: Sequence[Found] = field(default_factory=list)
    limit: str = ""

    @property
    def is_met(self) -> bool:
        """Return whether nothing needs to change."""
        return self.question.is_met_by(self.now)

    @property
    def is_complete(self) -> bool:
        """Return whether no kind is undecided."""
        return all(one.status != "undecided" for one in self.found)


Tried = tuple[int, bool, float | None, str]
"""The findings about a kind so far: `tried`, whether the last move is offered, `value`, `refused`."""


def reached(
    document: Json,
    question: Question,
    demand: Demand | None = None,
    is_late: Callable[[], bool] = lambda: False,
    known: Sequence[Tried] = (),
) -> Reached:
    """Return the smallest change of each kind with which a figure reaches an amount.

    Parameters
    ----------
    document : mapping
        The scenario, its configuration a structure or missing for Volcano's default.
    question : Question
        Which figure shall reach what.
    demand : Demand, optional
        What `demand_of` counts of the document, where that is at hand.
    is_late : callable
        Whether the time is up; then kinds without an answer are `undecided`. One point is tried at least.
    known : sequence of Tried
        What a search that was late found of the same question in the same scenario, which is not tried again.

    Raises
    ------
    Unanswered
        If the figure has no value in this scenario.

    """
    figure: Figure
    if question.figure == PLACED:
        figure = JobFigure(document, question)
    else:
        figure = QueueFigure(document, question, demand)
    if question.is_met_by(figure.now):
        return Reached(question, figure.now)
    found = [Found(kind) for kind in kinds(document, question, figure) if kind.moves]
    for one, tried in zip(found, known, strict=False):
        one.resume(tried)
    with collected_seldom():
        _search(document, question, figure, found, is_late)
    hopeless = all(one.status == "none" for one in found)
    return Reached(question, figure.now, found, figure.limit() if hopeless else "")


def kinds(document: Json, question: Question, figure: Figure) -> list[Kind]:
    """Return the kinds of change that can raise or lower the figure of a question.

    A queue deserves more, and a job finds more room, with more of every field and with more nodes; a share is
    larger where less is deserved.
    """
    is_raised = question.is_least != (question.figure == SHARE)
    unread = unread_fields(conf_of(document))
    grid = figure.grid()
    listed = list(queue_kinds(document, figure.chain(), unread, grid, is_raised=is_raised))
    return [*listed, *node_kinds(document, grid)] if is_raised else listed


def _search(
    document: Json,
    question: Question,
    figure: Figure,
    found: Sequence[Found],
    is_late: Callable[[], bool],
) -> None:
    """Try the kinds by turns of some moves, smallest first, so that no kind takes all the time."""
    open_ones, has_tried = list(found), False
    while open_ones:
        for one in open_ones:
            for _ in range(TURN):
                if one.status != "undecided":
                    break
                if is_late() and has_tried:
                    return
                _try_next(document, question, figure, one)
                has_tried = True
        open_ones = [one for one in open_ones if one.status == "undecided"]


def _try_next(document: Json, question: Question, figure: Figure, one: Found) -> None:
    move = one.kind.moves[one.tried]
    value = figure.after(one.kind, move)
    one.tried, one.value = one.tried + 1, value.figure
    if value.figure is None or not question.is_met_by(value.figure):
        return
    if why := value.refused or _refused(document, one.kind, move):
        one.refused = why
    else:
        one.move = move


def _refused(document: Json, kind: Kind, move: Move) -> str:
    """Return why the webhook would reject a move, empty if it accepts it."""
    if move.count:
        return ""
    return next(iter(refusals(document, [kind.change(document, move)])), "")


__all__ = ["Found", "Reached", "Value", "kinds", "reached"]
