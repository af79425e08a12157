"""Why a task fits no node: statuses, kept as numbers per node until they are shown as text.

Source: volcano ``pkg/scheduler/api/unschedule_info.go`` at v1.15.1.
"""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Why = NDArray[np.int32]
FITS = 0


class Code(IntEnum):
    """The code of a status, as in kube-scheduler."""

    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5


ABORTING = frozenset({Code.ERROR, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.WAIT, Code.SKIP})
_REJECTING = ABORTING | {Code.UNSCHEDULABLE}


INSUFFICIENT = "Insufficient "

# Properties of a refusal: it rejects the node; it rejects the node even for preemption; no eviction can help;
# the node lacks a resource; it holds as long as node and task are unchanged.
_STRICT, _LENIENT, _UNRESOLVABLE, _LACKING, _PERMANENT = range(5)


class Status(NamedTuple):
    """A reason why a node refuses a task.

    Attributes
    ----------
    permanent : bool
        Whether it depends on the objects of node and task alone, neither on other pods nor on time.

    """

    code: int
    reason: str
    plugin: str = ""
    permanent: bool = False


POD_NUMBER = Status(Code.UNSCHEDULABLE, "node(s) pod number exceeded", "predicates")


class StatusTable:
    """All distinct lists of statuses of a session; number 0 is the empty list: the task fits.

    A filter returns one number per node, so that thousands of refusals take one array instead of objects.
    """

    def __init__(self) -> None:
        self.lists: list[tuple[Status, ...]] = [()]
        self._numbers: dict[tuple[Status, ...], int] = {(): FITS}
        self._meanings: list[tuple[bool, ...]] = [(False,) * 5]
        self._known = np.zeros((5, 0), dtype=np.bool_)

    def number(self, *statuses: Status) -> int:
        """Return the number of a list of statuses."""
        known = self._numbers.get(statuses)
        if known is None:
            known = self._numbers[statuses] = len(self.lists)
            self.lists.append(statuses)
            codes = {status.code for status in statuses}
            self._meanings.append(
                (
                    bool(codes & _REJECTING),
                    bool(codes & ABORTING),
                    Code.UNSCHEDULABLE_AND_UNRESOLVABLE in codes,
                    any(status.reason.startswith(INSUFFICIENT) for status in statuses),
                    any(status.permanent for status in statuses),
                )
            )
        return known

    def append(self, why: Why, where: NDArray[np.bool_], status: Status) -> Why:
        """Return the numbers after a status is appended to the lists of some nodes."""
        longer = why.copy()
        for number in numbers_in(why[where]):
            longer[where & (why == number)] = self.number(*self.lists[number], status)
        return longer

    def is_resolvable(self, number: int) -> bool:
        """Return whether evictions could resolve a refusal, or there is none."""
        return not self._meanings[number][_LENIENT]

    def rejected(self, why: Why, *, lenient: bool) -> NDArray[np.bool_]:
        """Return which refusals reject the node; with `lenient`, only those that evictions cannot resolve."""
        return self._means(_LENIENT if lenient else _STRICT, why)

    def unresolvable(self, why: Why) -> NDArray[np.bool_]:
        """Return which refusals no eviction on the node can resolve."""
        return self._means(_UNRESOLVABLE, why)

    def lacking(self, why: Why) -> NDArray[np.bool_]:
        """Return which refusals are for lack of a resource."""
        return self._means(_LACKING, why)

    def permanent(self, why: Why) -> NDArray[np.bool_]:
        """Return which refusals hold as long as node and task are unchanged."""
        return self._means(_PERMANENT, why)

    def _means(self, meaning: int, why: Why) -> NDArray[np.bool_]:
        if self._known.shape[1] < len(self._meanings):
            self._known = np.array(self._meanings).T.copy()
        means: NDArray[np.bool_] = self._known[meaning].take(why)
        return means


class FitErrors:
    """Why one task fits no node.

    Attributes
    ----------
    why : (N,) int32 or None
        By node, a number of the status table, 0 if the node was not refused. None: no node was examined.
    sentence : str
        The message if no node was examined.

    """

    __slots__ = ("_is_permanent", "_reasons", "_resolvable_nodes", "_text", "sentence", "table", "why")

    def __init__(self, table: StatusTable, why: Why | None, sentence: str = "") -> None:
        self.table = table
        self.why = why
        self.sentence = sentence
        self._text: str | None = None
        self._reasons: Counter[str] | None = None
        self._resolvable_nodes: tuple[NDArray[np.intp] | None] | None = None
        self._is_permanent: bool | None = None

    def resolvable_nodes(self) -> NDArray[np.intp] | None:
        """Return the nodes where evictions might help, (K,); None if all might, or no node was examined."""
        if self._resolvable_nodes is None:
            hopeless = None if self.why is None else self.table.unresolvable(self.why)
            self._resolvable_nodes = (
                np.flatnonzero(~hopeless) if hopeless is not None and hopeless.any() else None,
            )
        return self._resolvable_nodes[0]

    def rule_out_permanently(self) -> bool:
        """Return whether all nodes where evictions cannot help refuse the task permanently."""
        if self._is_permanent is None:
            why = no_refusals(0) if self.why is None else self.why[self.table.unresolvable(self.why)]
            self._is_permanent = bool(self.table.permanent(why).all())
        return self._is_permanent

    def reasons(self) -> Counter[str]:
        """Return the number of nodes per reason; do not change it."""
        if self._reasons is None:
            self._reasons = Counter()
            if self.why is not None:
                for number, occurrences in enumerate(np.bincount(self.why).tolist()):
                    if occurrences:
                        for status in self.table.lists[number]:
                            self._reasons[status.reason] += occurrences
        return self._reasons

    def text(self) -> str:
        """Return the summary that Volcano writes on the pod."""
        if self.why is None:
            return self.sentence
        if self._text is None:
            self._text = summary(int(np.count_nonzero(self.why)), self.reasons())
        return self._text


def summary(refused: int, reasons: Counter[str]) -> str:
    """Return a sentence with the number of refusing nodes for each reason.

    Examples
    --------
    >>> summary(2, Counter({"Insufficient cpu": 2}))
    '0/2 nodes are unavailable: 2 Insufficient cpu.'

    """
    text = f"0/{refused} nodes are unavailable"
    if refused == 0:
        return text
    return text + ": " + ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items())) + "."


def numbers_in(why: Why) -> list[int]:
    """Return the distinct numbers in an array, ascending."""
    numbers: list[int] = np.flatnonzero(np.bincount(why)).tolist()
    return numbers


def merge_first(first: Why, later: Why) -> Why:
    """Return for each node the first refusal if there is one, else the later one."""
    return np.where(first == FITS, later, first)


def no_refusals(shape: int | tuple[int, ...]) -> Why:
    """Return an array without refusals."""
    return np.zeros(shape, dtype=np.int32)


def everywhere(count: int, number: int) -> Why:
    """Return an array with the same refusal on every node."""
    return np.full(count, number, dtype=np.int32)


def numbers_where(condition: NDArray[np.bool_], number: int) -> Why:
    """Return `number` where the condition holds, else 0."""
    return np.where(condition, np.int32(number), np.int32(FITS))
