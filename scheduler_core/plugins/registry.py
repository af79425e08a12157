"""The function that opens each plugin, by the plugin's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.conf import MODELLED_PLUGINS, Arguments
from scheduler_core.framework.modules import Modules
from scheduler_core.framework.session import Session

Opener = Callable[[Session, Arguments], None]
OPENERS: Mapping[str, Opener] = Modules("scheduler_core.plugins", MODELLED_PLUGINS, "open_session")
