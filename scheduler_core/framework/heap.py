"""Priority queues that return elements as Go's binary heap does, step by step.

Keys change while elements are queued and nothing re-sorts them, so the array layout affects decisions. Every
push and pop makes the same comparisons and results in the same array as Go's ``container/heap``.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


class PriorityQueue(Generic[Item]):
    """A heap whose comparison reads live objects.

    Parameters
    ----------
    less : callable
        ``less(left, right)``: whether `left` is popped before `right`.
    items : iterable, optional
        Pushed one by one, in order.

    """

    def __init__(self, less: Callable[[Item, Item], bool], items: Iterable[Item] = ()) -> None:
        self.less = less
        self.items: list[Item] = []
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self.items)

    def push(self, item: Item) -> None:
        """Add an element and sift it up."""
        items, less = self.items, self.less
        items.append(item)
        child = len(items) - 1
        while child > 0:
            parent = (child - 1) // 2
            if not less(item, items[parent]):
                break
            items[child] = items[parent]
            child = parent
        items[child] = item

    def pop(self) -> Item:
        """Remove and return the first element."""
        items, less = self.items, self.less
        last = items.pop()
        if not items:
            return last
        first, items[0] = items[0], last
        count, parent = len(items), 0
        while (child := 2 * parent + 1) < count:
            if child + 1 < count and less(items[child + 1], items[child]):
                child += 1
            if not less(items[child], last):
                break
            items[parent] = items[child]
            parent = child
        items[parent] = last
        return first


class Remembered(Generic[Item]):
    """A comparison that remembers its answers until `forget` is called.

    Sound if `forget` is called whenever a key might have changed.

    Parameters
    ----------
    less : callable
        As in `PriorityQueue`.

    """

    __slots__ = ("_known", "_less")

    def __init__(self, less: Callable[[Item, Item], bool]) -> None:
        self._less = less
        self._known: dict[tuple[Item, Item], bool] = {}

    def __call__(self, left: Item, right: Item) -> bool:
        """Return whether `left` is popped before `right`."""
        pair = left, right
        known = self._known.get(pair)
        if known is None:
            known = self._known[pair] = self._less(left, right)
        return known

    def forget(self) -> None:
        """Forget all answers."""
        self._known.clear()


class SettledQueue(Generic[Item]):
    """A sorted queue of elements whose order does not change while they are queued.

    A heap would return them in the same order.

    Parameters
    ----------
    key : callable
        ``key(item)``: the sort key, a tuple, different for every element. It is read at the first pop; for
        elements added later, when they are added.
    items : iterable, optional
        The first elements.

    """

    __slots__ = ("_entries", "_first", "_fresh", "key")

    def __init__(self, key: Callable[[Item], tuple[Any, ...]], items: Iterable[Item] = ()) -> None:
        self.key = key
        self._fresh: list[Item] | None = list(items)
        self._entries: list[tuple[Any, ...]] = []
        self._first = 0

    def __len__(self) -> int:
        return len(self._entries) - self._first if self._fresh is None else len(self._fresh)

    @property
    def items(self) -> list[Item]:
        """Return the elements, in no particular order before the first pop."""
        if self._fresh is not None:
            return self._fresh
        return [entry[-1] for entry in self._entries[self._first :]]

    def push(self, item: Item) -> None:
        """Add an element."""
        if self._fresh is not None:
            self._fresh.append(item)
        else:
            insort(self._entries, (*self.key(item), item), lo=self._first)

    def pop(self) -> Item:
        """Remove and return the first element."""
        if self._fresh is not None:
            if len(self._fresh) == 1:
                return self._fresh.pop()
            key, fresh = self.key, self._fresh
            self._entries, self._fresh = sorted([(*key(item), item) for item in fresh]), None
        entry = self._entries[self._first]
        self._entries[self._first] = ()  # release the memory of popped elements
        self._first += 1
        item: Item = entry[-1]
        return item


class LiveQueue(PriorityQueue[Item]):
    """A heap that is rebuilt before every pop, so that the current first element is returned.

    Volcano does not have it; rules of ours that read live keys use it.
    """

    def pop(self) -> Item:
        """Remove and return the current first element."""
        waiting, self.items = self.items, []
        for item in waiting:
            self.push(item)
        return super().pop()
