"""Calm sessions, in which nothing is evicted, and their decisions.

In a calm session nothing is evicted, and every waiting job is of a known kind, with all of its pods waiting.
Most sessions of a replay are calm. Their decisions follow from the amounts of queues, the idle amounts of
nodes, and the first job of each line of equal jobs. The plugins' own functions keep queues and nodes up to
date. Jobs, tasks and objects are not updated until something reads them or a session is not calm; the living
state then finds the changes in its journal.

Sound, as the plugins are called as by the actions, in the same order: whether a job may be enqueued,
whether its queue may allocate for a pod, which node scores best. Only calls that would return the same as
before are skipped: for equal jobs behind a refused one, for classes that fit no node until a node has more
room, for queues in which nothing moved, and pre-predicates of a class after the first time.
"""

from scheduler_core.replay.calm.conditions import may_be_calm
from scheduler_core.replay.calm.sessions import Calm

__all__ = ["Calm", "may_be_calm"]
