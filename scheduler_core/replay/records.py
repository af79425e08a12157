"""The records of a replay: the log of decisions, the life of each job, queues and nodes over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from scheduler_core.decision import Decision
from scheduler_core.model.queue_account import QueueAccount
from scheduler_core.rendering import number
from scheduler_core.replay.free_room import FreeRoom
from scheduler_core.replay.shared_maps import SharedMaps

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


class Records:
    """All records of a replay."""

    def __init__(self) -> None:
        self.vcjobs: dict[str, VcjobRecord] = {}
        self.log: list[dict[str, Any]] = []
        self.jobs: dict[str, JobRecord] = {}
        self.queues: list[dict[str, Any]] = []
        self.free_room = FreeRoom()
        self._last_rows: dict[str, dict[str, Any]] = {}
        self._seen: dict[str, tuple[QueueAccount, int]] = {}
        self._shared = SharedMaps()

    def record_decisions(self, time: float, decisions: Iterable[Decision]) -> bool:
        """Record the committed decisions of a session; returns whether there were any."""
        logged = [
            decision.as_logged()
            for decision in decisions
            if decision.op in LOGGED and decision.state == "committed"
        ]
        if logged:
            self.log.append({"t": number(time), "decisions": logged})
        return bool(logged)

    def record_queues(self, time: float, accounts: Iterable[QueueAccount]) -> None:
        """Record the queues that changed since the previous session."""
        seen, shown = self._seen, self._shared.of
        for account in accounts:
            name, version = account.name, account.version
            before = seen.get(name)
            if before is not None and before[1] == version and before[0] is account:
                continue
            seen[name] = account, version
            row = {
                "deserved": shown(account.deserved),
                "allocated": shown(account.allocated),
                "request": shown(account.request),
                "share": number(account.share),
            }
            if self._last_rows.get(name) != row:
                self._last_rows[name] = row
                self.queues.append({"t": number(time), "queue": name, **row})

    def frozen(self) -> dict[str, Any]:
        """Return the records as plain data."""
        jobs = {key: asdict(record) for key, record in self.jobs.items()}
        vcjobs = {key: asdict(record) for key, record in self.vcjobs.items()}
        return {
            "log": self.log,
            "jobs": jobs,
            "vcjobs": vcjobs,
            "queues": self.queues,
            "last_rows": self._last_rows,
            "nodes": self.free_room.rows,
        }

    @classmethod
    def thawed(cls, frozen: Mapping[str, Any]) -> Records:
        """Return the records that were frozen."""
        records = cls()
        records.log, records.queues = list(frozen["log"]), list(frozen["queues"])
        records.jobs = {key: JobRecord(**life) for key, life in frozen["jobs"].items()}
        records.vcjobs = {key: VcjobRecord(**life) for key, life in frozen["vcjobs"].items()}
        records._last_rows = dict(frozen["last_rows"])
        records.free_room = FreeRoom(frozen["nodes"])
        return records

    def result(self) -> dict[str, Any]:
        """Return the records in the form of the result."""
        return {
            "log": self.log,
            "jobs": {
                key: {name: _plain(getattr(record, name)) for name in _OF_JOB}
                for key, record in sorted(self.jobs.items())
            },
            "queues": self.queues,
            "nodes": self.free_room.rows,
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


def _plain_phases(phases: Iterable[Iterable[Any]]) -> list[list[Any]]:
    return [[_plain(float(time)), phase] for time, phase in phases]


def _plain(value: Any) -> Any:
    return number(value) if isinstance(value, float) else value
