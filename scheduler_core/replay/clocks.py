"""The times at which plugins decide differently although nothing but the time has changed.

A session reads the state and, through the plugins below, the clock. Between two of the times that these
functions return, the same state gives the same session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from scheduler_core.conf import Arguments
from scheduler_core.framework.session import Session
from scheduler_core.model.annotations import WAITING_TIME, positive_duration
from scheduler_core.plugins import cdp, sla, tdm

Changes = Callable[[Session, Arguments], Iterator[float]]


def _deadlines(session: Session, arguments: Arguments) -> Iterator[float]:
    """Yield the times from which sla permits jobs because they have waited too long."""
    default = positive_duration(arguments.values.get(WAITING_TIME))
    plugin = sla.Sla(default, session.now)
    for job in session.jobs.values():
        deadline = plugin.deadline(job)
        if deadline is not None:
            yield deadline


def _ends_of_cooldowns(session: Session, _arguments: Arguments) -> Iterator[float]:
    """Yield the times from which cdp permits pods to be evicted again; it reads the session's time alone."""
    for job in session.jobs.values():
        for task in job.tasks.values():
            left = cdp.seconds_protected(task, session.now)
            if left > 0:
                yield session.now + left


def _edges_of_windows(session: Session, arguments: Arguments) -> Iterator[float]:
    """Yield the times at which zones open and close, and at which shuffle may evict again."""
    yield from tdm.edges_after(session.now, tdm.zones_of(arguments))
    last = session.kept.get(tdm.NAME)
    if last is not None:
        yield last + tdm.evict_period_of(arguments)


CLOCKS: Mapping[str, Changes] = {
    sla.NAME: _deadlines,
    cdp.NAME: _ends_of_cooldowns,
    tdm.NAME: _edges_of_windows,
}
"""The plugins that read the clock, by name."""


def next_reading(session: Session) -> float | None:
    """Return the next time at which a plugin's answers change without an event, in seconds since 1970."""
    if not any(map(session.conf.first_option, CLOCKS)):
        return None
    times = [
        time
        for option in session.conf.options()
        if option.name in CLOCKS
        for time in CLOCKS[option.name](session, option.arguments)
        if time > session.now
    ]
    return min(times, default=None)
