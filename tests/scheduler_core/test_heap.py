"""The heap makes the same moves as Go's container/heap, also while keys change inside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.heap import PriorityQueue, SettledQueue


@dataclass
class Item:
    name: int
    key: int


class SwappingHeap:
    """The textbook form with swaps, as Go writes it."""

    def __init__(self, less: Callable[[Item, Item], bool]) -> None:
        self.less = less
        self.items: list[Item] = []

    def swap(self, i: int, j: int) -> None:
        self.items[i], self.items[j] = self.items[j], self.items[i]

    def push(self, item: Item) -> None:
        self.items.append(item)
        j = len(self.items) - 1
        while True:
            i = (j - 1) // 2
            if i == j or j == 0 or not self.less(self.items[j], self.items[i]):
                break
            self.swap(i, j)
            j = i

    def pop(self) -> Item:
        n = len(self.items) - 1
        self.swap(0, n)
        i = 0
        while True:
            left = 2 * i + 1
            if left >= n:
                break
            j = left
            if left + 1 < n and self.less(self.items[left + 1], self.items[left]):
                j = left + 1
            if not self.less(self.items[j], self.items[i]):
                break
            self.swap(i, j)
            i = j
        return self.items.pop()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(0, 9)),
        st.tuples(st.just("pop"), st.just(0)),
        st.tuples(st.just("change"), st.integers(0, 9)),
    ),
    max_size=60,
)


@given(steps=STEPS)
def test_heap_array_matches_gos_container_heap_after_every_step(steps: list[tuple[str, int]]) -> None:
    def less(left: Item, right: Item) -> bool:
        return left.key < right.key

    ours: PriorityQueue[Item] = PriorityQueue(less)
    textbook = SwappingHeap(less)
    for number, (step, value) in enumerate(steps):
        if step == "push":
            item = Item(number, value)
            ours.push(item)
            textbook.push(item)
        elif step == "pop" and ours:
            assert ours.pop() is textbook.pop()
        elif step == "change" and ours:
            ours.items[value % len(ours)].key = value
        assert ours.items == textbook.items


@given(st.lists(st.integers(0, 50), unique=True), st.lists(st.booleans(), max_size=80))
def test_settled_queue_pops_in_the_same_order_as_the_heap(numbers: list[int], pops: list[bool]) -> None:
    settled = SettledQueue[int](lambda number: (number,), numbers[:3])
    literal = PriorityQueue[int](lambda left, right: left < right, numbers[:3])
    waiting = numbers[3:]
    for pop in pops:
        if pop and settled:
            first = settled.pop()
            assert first == literal.pop()
            waiting.append(first)
        elif waiting:
            number = waiting.pop(0)
            settled.push(number)
            literal.push(number)
    assert sorted(settled.items) == sorted(literal.items)
