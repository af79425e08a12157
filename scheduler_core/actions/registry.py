"""The function that executes each action, by the action's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core import conf
from scheduler_core.framework.modules import Modules
from scheduler_core.framework.session import Session

ACTIONS: Mapping[str, Callable[[Session], None]] = Modules("scheduler_core.actions", conf.ACTIONS, "execute")
