"""The functions that plugins have registered, by extension point.

Source: volcano ``pkg/scheduler/framework/session_plugins.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from scheduler_core.conf import SchedulerConf
from scheduler_core.errors import RegistrationError
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.plugin_fn import ClassKey, NodeFn, PluginFn, check_arguments, shape_only
from scheduler_core.model.job import TaskInfo

Kind = TypeVar("Kind", bound=PluginFn)


class Functions(dict[Point, list[Callable[..., Any]]]):
    """The functions of the plugins of one session.

    Maps each point to its functions over all tiers in order, collected when the point is first called.
    """

    def __init__(self, conf: SchedulerConf) -> None:
        super().__init__()
        self._conf = conf
        self._registered: dict[Point, dict[str, PluginFn]] = {point: {} for point in Point}
        self._tiers: dict[Point, list[list[PluginFn]]] = {}
        self._of_kind: dict[tuple[Point, type[PluginFn]], list[Any]] = {}
        self._same_for_equal_jobs: dict[tuple[Point, ...], bool] = {}
        self._class_keys: list[ClassKey] = []
        self._classes: dict[Hashable, int] = {}

    def __missing__(self, point: Point) -> list[Callable[..., Any]]:
        fns = self[point] = [added.fn for tier in self.tiers_of(point) for added in tier]
        return fns

    def add(self, point: Point, added: PluginFn) -> None:
        """Check the arguments of a function and its companions, and store them."""
        where = origin(point, added.plugin)
        if point in self._tiers:
            raise RegistrationError(f"{where}: the point has been asked; register while the session opens")
        check_arguments(where, added.fn, point.arguments)
        for name, arguments in added.companions.items():
            fn = getattr(added, name)
            if fn is not None:
                check_arguments(f"{where}, {name}", fn, arguments)
        self._registered[point][added.plugin] = added
        if isinstance(added, NodeFn):
            self._add_class_key(added.class_key)

    def _add_class_key(self, key: ClassKey | None) -> None:
        if key is not None and key is not shape_only and key not in self._class_keys:
            self._class_keys.append(key)

    def tiers_of(self, point: Point) -> list[list[PluginFn]]:
        """Return the functions of a point, tier by tier; a tier without any is an empty list."""
        tiers = self._tiers.get(point)
        if tiers is None:
            registered = self._registered[point]
            tiers = self._tiers[point] = [
                [
                    registered[option.name]
                    for option in tier
                    if option.name in registered
                    and (not point.switches or any(option.enabled(switch) for switch in point.switches))
                ]
                for tier in self._conf.tiers
            ]
        return tiers

    def of_kind(self, point: Point, kind: type[Kind]) -> list[Kind]:
        """Return the functions of a point over all tiers in order, typed as the point's kind."""
        known = self._of_kind.get((point, kind))
        if known is None:
            known = self._of_kind[point, kind] = [
                added for tier in self.tiers_of(point) for added in tier if isinstance(added, kind)
            ]
        return known

    def registered_by(self, plugin: str) -> set[Point]:
        """Return the points for which a plugin registered a function, regardless of its switches."""
        return {point for point, registered in self._registered.items() if plugin in registered}

    def same_for_equal_jobs(self, *points: Point) -> bool:
        """Return whether all functions of some points give equal jobs the same answers, see `PluginFn`."""
        known = self._same_for_equal_jobs.get(points)
        if known is None:
            answering = [added for point in points for added in self.of_kind(point, PluginFn)]
            known = self._same_for_equal_jobs[points] = all(fn.same_for_equal_jobs for fn in answering)
        return known

    @property
    def classes_are_shapes(self) -> bool:
        """Return whether all tasks of one shape are of one class."""
        return not self._class_keys

    def class_of(self, task: TaskInfo) -> int:
        """Return the number of the task's class: tasks of one class get the same answers on every node."""
        if not self._class_keys:
            return task.shape.number
        key = (task.shape.number, *[class_key(task) for class_key in self._class_keys])
        return self._classes.setdefault(key, len(self._classes))


def origin(point: Point, plugin: str) -> str:
    """Return the name of a function in messages: its plugin and its extension point."""
    return f"plugin {plugin!r} at {point.label}"
