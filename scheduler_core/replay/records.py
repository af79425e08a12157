"""The records of a replay: the log of decisions, the life of each job, queues and nodes over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

from scheduler_core.decision import Decision
from scheduler_core.model.queue_account import QueueAccount
from scheduler_core.rendering import number
from scheduler_core.replay.free_room import FreeRoom
from scheduler_core.replay.shared_maps import SharedMaps

Row = TypeVar("Row")

LOGGED = ("enqueue", "bind", "evict")


@dataclass(slots=True)
class JobRecord:
    """The life of one PodGroup, in seconds from the beginning; None: it did not happen."""

    queue: str
    submitted: float | None
    enqueued: float | None = None
    started: float | None = None
    finished: float | None = None
    evictions: int = 0
    lost_seconds: float = 0.0


_OF_JOB = tuple(entry.name for entry in fields(JobRecord))


@dataclass(slots=True)
class VcjobRecord:
    """The life of one Job, in seconds from the beginning; None: it did not happen.

    Attributes
    ----------
    podgroup : str
        The key of its PodGroup; its entry in `jobs` says how long it waited and ran.
    phases : list
        Each phase that it entered, with the time.
    retries : int
        How often it was restarted.
    refused : str
        Why the webhook rejected it, empty if it did not.

    """

    queue: str
    podgroup: str
    submitted: float
    phases: list[list[Any]] = field(default_factory=list)
    retries: int = 0
    deleted: float | None = None
    refused: str = ""


class QueueRow(NamedTuple):
    """The amounts of a queue from a session on.

    Attributes
    ----------
    t : float
        Seconds from the beginning.
    deserved, allocated, request : dict
        By resource, see `rendering.amounts`.

    """

    t: float
    queue: str
    deserved: dict[str, float]
    allocated: dict[str, float]
    request: dict[str, float]
    share: float

    def shown(self) -> dict[str, Any]:
        """Return the row in a result."""
        return {**self._asdict(), "t": number(self.t), "share": number(self.share)}


class Records:
    """All records of a replay; the rows of its result are made on demand.

    Attributes
    ----------
    decided : list of (float, list of Decision)
        The sessions that decided something: seconds from the beginning, and the committed decisions.
    queues : list of QueueRow
        A row for each change.

    """

    def __init__(self) -> None:
        self.vcjobs: dict[str, VcjobRecord] = {}
        self.decided: list[tuple[float, list[Decision]]] = []
        self.jobs: dict[str, JobRecord] = {}
        self.queues: list[QueueRow] = []
        self.free_room = FreeRoom()
        self._last_rows: dict[str, QueueRow] = {}
        self._seen: dict[str, tuple[QueueAccount, int]] = {}
        self._shared = SharedMaps()
        self._moved = False

    def record_decisions(self, time: float, decisions: Iterable[Decision]) -> bool:
        """Record the committed decisions of a session; returns whether there were any."""
        committed = [
            decision for decision in decisions if decision.op in LOGGED and decision.state == "committed"
        ]
        if committed:
            self.decided.append((time, committed))
        return bool(committed)

    def record_queues(self, time: float, accounts: Iterable[QueueAccount]) -> None:
        """Record the queues that changed since the previous session."""
        seen, shown = self._seen, self._shared.of
        for account in accounts:
            name, version = account.name, account.version
            before = seen.get(name)
            if before is not None and before[1] == version and before[0] is account:
                continue
            seen[name] = account, version
            row = QueueRow(
                time,
                name,
                shown(account.deserved),
                shown(account.allocated),
                shown(account.request),
                account.share,
            )
            last = self._last_rows.get(name)
            if last is None or last[1:] != row[1:]:
                self._last_rows[name] = row
                self.queues.append(row)

    def log(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the log of the sessions that decided something, without the first `after` of them."""
        return [_logged(*entry) for entry in self.decided[after:]]

    def frozen(self) -> dict[str, Any]:
        """Return the records as plain data."""
        jobs = {key: asdict(record) for key, record in self.jobs.items()}
        vcjobs = {key: asdict(record) for key, record in self.vcjobs.items()}
        rows = {
            "queues": [row.shown() for row in self.queues],
            "nodes": [row.shown() for row in self.free_room.rows],
        }
        return {"log": self.log(), "jobs": jobs, "vcjobs": vcjobs, **rows}

    @classmethod
    def thawed(cls, frozen: Mapping[str, Any]) -> Records:
        """Return the records that were frozen."""
        records = cls()
        records.decided = [
            (float(entry["t"]), [Decision.of_log(decision) for decision in entry["decisions"]])
            for entry in frozen["log"]
        ]
        records.queues = [
            QueueRow(**row)._replace(t=float(row["t"]), share=float(row["share"])) for row in frozen["queues"]
        ]
        records._last_rows = {row.queue: row for row in records.queues}
        records.jobs = {key: JobRecord(**life) for key, life in frozen["jobs"].items()}
        records.vcjobs = {key: VcjobRecord(**life) for key, life in frozen["vcjobs"].items()}
        records.free_room = FreeRoom(frozen["nodes"])
        return records

    def result(self) -> dict[str, Any]:
        """Return the records in the form of the result, once: its rows move, so as not to exist twice."""
        assert not self._moved, "the rows have moved into a result"
        self._moved = True
        return {
            "log": [_logged(*entry) for entry in _taken(self.decided)],
            "jobs": {
                key: {name: _plain(getattr(record, name)) for name in _OF_JOB}
                for key, record in sorted(self.jobs.items())
            },
            "queues": [row.shown() for row in _taken(self.queues)],
            "nodes": [row.shown() for row in _taken(self.free_room.rows)],
            **({"vcjobs": self._vcjobs()} if self.vcjobs else {}),
        }

    def _vcjobs(self) -> dict[str, Any]:
        """Return the Jobs as a result shows them, without fields for what did not happen."""
        return {
            key: {
                name: _plain_phases(value) if name == "phases" else _plain(value)
                for name, value in asdict(record).items()
                if value not in (None, "")
            }
            for key, record in sorted(self.vcjobs.items())
        }


def _taken(rows: list[Row]) -> Iterator[Row]:
    """Remove and yield all rows, in order."""
    rows.reverse()
    while rows:
        yield rows.pop()


def _logged(time: float, decisions: Iterable[Decision]) -> dict[str, Any]:
    return {"t": number(time), "decisions": [decision.as_logged() for decision in decisions]}


def _plain_phases(phases: Iterable[Iterable[Any]]) -> list[list[Any]]:
    return [[_plain(float(time)), phase] for time, phase in phases]


def _plain(value: Any) -> Any:
    return number(value) if isinstance(value, float) else value
