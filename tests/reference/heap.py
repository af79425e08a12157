"""The classical binary heap, with its order of equal elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Heap(Generic[Item]):
    """The classical binary heap, which is not resorted when its keys change."""

    def __init__(self, less: Callable[[Item, Item], bool], items: Iterable[Item] = ()) -> None:
        self.less, self.items = less, []
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self.items)

    def push(self, item: Item) -> None:
        self.items.append(item)
        j = len(self.items) - 1
        while j > 0 and self.less(self.items[j], self.items[i := (j - 1) // 2]):
            self.items[i], self.items[j] = self.items[j], self.items[i]
            j = i

    def pop(self) -> Item:
        items, n, i = self.items, len(self.items) - 1, 0
        items[0], items[n] = items[n], items[0]
        while (j := 2 * i + 1) < n:
            if j + 1 < n and self.less(items[j + 1], items[j]):
                j += 1
            if not self.less(items[j], items[i]):
                break
            items[i], items[j] = items[j], items[i]
            i = j
        return items.pop()


def drained(heap: Heap[Item]) -> list[Item]:
    items = []
    while heap:
        items.append(heap.pop())
    return items
