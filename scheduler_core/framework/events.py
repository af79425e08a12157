"""The events of a session, and the handlers of the plugins.

Source: volcano ``pkg/scheduler/framework/event.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scheduler_core.errors import EventError
from scheduler_core.framework.plugin_fn import check_arguments
from scheduler_core.model.job import TaskInfo

Handler = Callable[[TaskInfo], None]
OnDiscard = Callable[[Sequence[TaskInfo]], None]


class Events:
    """The handlers for placed and removed tasks, and for the end of the session.

    Attributes
    ----------
    on_discard : list of callable or None
        The handlers for undone evictions; None if a plugin must handle each eviction.
    close_fns : list of callable
        The functions that plugins call after the last action.

    """

    def __init__(self) -> None:
        self._on_allocate: list[Handler] = []
        self._on_deallocate: list[Handler] = []
        self.on_discard: list[OnDiscard] | None = []
        self.close_fns: list[Callable[[], None]] = []

    def add_handler(
        self, *, allocate: Handler, deallocate: Handler, on_discard: OnDiscard | None = None
    ) -> None:
        """Register the handlers for a task that is placed on its node or removed from it.

        ``on_discard(tasks)`` has the same effect as evicting the tasks one after the other and undoing that
        in reverse, once or repeatedly, also with more tasks each time; None: the plugin must handle each
        eviction.
        """
        for name, handler in (("allocate", allocate), ("deallocate", deallocate)):
            check_arguments(f"add_handler: {name}", handler, ("task",))
        self._on_allocate.append(allocate)
        self._on_deallocate.append(deallocate)
        if on_discard is None:
            self.on_discard = None
        elif self.on_discard is not None:
            check_arguments("add_handler: on_discard", on_discard, ("tasks",))
            self.on_discard.append(on_discard)

    def add_close_fn(self, close: Callable[[], None]) -> None:
        """Register a function that is called after the last action."""
        self.close_fns.append(close)

    def fire_allocate(self, task: TaskInfo) -> Exception | None:
        """Call the handlers for a placed task; return the last refusal among them."""
        refusal: Exception | None = None
        for allocate in self._on_allocate:
            try:
                allocate(task)
            except EventError as error:
                refusal = error.with_traceback(None)  # its frames would refer to it
        return refusal

    def fire_deallocate(self, task: TaskInfo) -> None:
        """Call the handlers for a task removed from its node."""
        for deallocate in self._on_deallocate:
            deallocate(task)
