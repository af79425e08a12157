"""Calm sessions, in which nothing is evicted, and their decisions.

In a calm session nobody evicts anybody, and every job that waits is one of a known kind, all of whose pods
wait: so it is in most sessions of a replay. What the session decides then follows from what queues hold, what
nodes have left, and who stands first in each line of equal jobs. Queues and nodes are kept up to date by the
plugins' own functions; jobs, tasks and objects are not looked at. They are written when somebody asks for
them, or when a session is not calm: the living state then finds in its journal what has changed meanwhile.

Sound, as plugins are asked the very questions that the actions ask, in the order in which they ask: whether a
job may enter, whether its queue may take a pod, which node scores best. What is left out would be answered as
it was: equal jobs behind one that was refused, classes that fit no node until a node has more room, queues in
which nothing moved.
"""

from scheduler_core.replay.calm.conditions import may_be_calm
from scheduler_core.replay.calm.sessions import Calm

__all__ = ["Calm", "may_be_calm"]
