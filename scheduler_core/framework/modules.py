"""The modules of actions and plugins by their names; only configured ones are imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any


class Modules(Mapping[str, Callable[..., Any]]):
    """One function of each module of a package, by the name in configurations, with `-` for `_`.

    Parameters
    ----------
    package : str
        The package.
    names : sequence of str
        The names of its modules.
    function : str
        The name of the function.

    """

    def __init__(self, package: str, names: Sequence[str], function: str) -> None:
        self._package = package
        self._names = names
        self._function = function

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if name not in self._names:
            raise KeyError(name)
        module = import_module(f"{self._package}.{name.replace('-', '_')}")
        function: Callable[..., Any] = getattr(module, self._function)
        return function

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
