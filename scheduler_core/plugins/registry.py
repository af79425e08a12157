"""Which module answers for which plugin name?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from scheduler_core.conf import MODELLED_PLUGINS, Arguments
from scheduler_core.framework.session import Session

Opener = Callable[[Session, Arguments], None]


class _Openers(Mapping[str, Opener]):
    """How each modelled plugin opens a session; nobody waits for those that no configuration names."""

    def __getitem__(self, name: str) -> Opener:
        if name not in MODELLED_PLUGINS:
            raise KeyError(name)
        opener: Opener = import_module(f"scheduler_core.plugins.{name.replace('-', '_')}").open_session
        return opener

    def __iter__(self) -> Iterator[str]:
        return iter(MODELLED_PLUGINS)

    def __len__(self) -> int:
        return len(MODELLED_PLUGINS)


OPENERS: Mapping[str, Opener] = _Openers()
