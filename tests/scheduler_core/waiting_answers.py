"""More situations from issues about waiting jobs, and the answers to them."""

from __future__ import annotations

from tests.builders import Object, conf, node, podgroup, pods, priority_class, queue, scenario
from tests.scheduler_core.answers import Answer, Run, Sentences, running


def reserved_in_the_queue() -> Object:
    """A job that is larger than every node was enqueued and keeps most of its queue reserved."""
    return scenario(
        nodes=[node(f"n{number}", cpu=50, memory="100Gi") for number in range(2)],
        queues=[queue("q", capability={"cpu": 100})],
        podgroups=[
            podgroup("big", queue="q", min_resources={"cpu": 70}),
            podgroup("small", queue="q", min_member=2, min_resources={"cpu": 40}, phase="Pending"),
        ],
        pods=[*pods("big", 1, cpu=70), *pods("small", 2, cpu=20)],
        conf=conf("enqueue, allocate", ["gang"], ["predicates", "capacity"]),
    )


def say_reserved(run: Run) -> Sentences:
    yield run.job("small")
    yield run.job("big")


def reserved_in_the_cluster() -> Object:
    """Nodes are idle, but a gang that fits no node has reserved them up to the overcommit limit."""
    return scenario(
        nodes=[node(f"n{number}", cpu=10, memory="40Gi") for number in range(4)],
        queues=[queue("q")],
        podgroups=[
            podgroup("first", queue="q", min_member=4, min_resources={"cpu": 44}),
            podgroup("next", queue="q", min_resources={"cpu": 8}, phase="Pending", created=1),
        ],
        pods=[*pods("first", 4, cpu=11), *pods("next", 1, cpu=8)],
        conf=conf("enqueue, allocate", ["gang"], ["overcommit", "predicates"]),
    )


def say_cluster(run: Run) -> Sentences:
    yield run.job("next")
    yield run.job("first")


def gang_that_cannot_be_completed() -> Object:
    """A gang of eight is not enqueued; evictions would make room for only some of its pods."""
    return scenario(
        nodes=[node("n1", cpu=8, memory="32Gi")],
        queues=[queue("a", deserved={"cpu": 8}, capability={"cpu": 6}), queue("b", deserved={"cpu": 2})],
        podgroups=[
            podgroup("old", queue="b", phase="Running"),
            podgroup("gang", queue="a", min_member=8, min_resources={"cpu": 8}, phase="Pending"),
        ],
        pods=[*running("old", 8, "n1", cpu=1), *pods("gang", 8, cpu=1)],
        conf=conf("enqueue, allocate, reclaim", ["gang", "conformance"], ["predicates", "capacity"]),
    )


def say_gang(run: Run) -> Sentences:
    yield run.job("gang")
    yield from run.failed_checks("gang", "reclaim")


def deserved_under_proportion() -> Object:
    """A queue states what it deserves; the configuration has proportion, which reads weights only."""
    return scenario(
        nodes=[node("n1", cpu=12, memory="48Gi")],
        queues=[queue("a", weight=1, deserved={"cpu": 8}), queue("b", weight=2)],
        podgroups=[podgroup("ja", queue="a", min_member=8), podgroup("jb", queue="b", phase="Running")],
        pods=[*running("jb", 4, "n1", cpu=2), *pods("ja", 8, cpu=1)],
        conf=conf("allocate", ["gang"], ["predicates", "proportion"]),
    )


def say_deserved(run: Run) -> Sentences:
    yield run.job("ja")
    yield run.deserved("a")


def a_queue_full_of_a_gang() -> Object:
    """A complete gang of normal priority fills its queue; a job of higher priority waits there."""
    return scenario(
        nodes=[node("n1", cpu=8, memory="32Gi")],
        queues=[queue("development-queue", capability={"cpu": 4})],
        podgroups=[
            podgroup("normal", queue="development-queue", min_member=3, phase="Running"),
            podgroup("high", queue="development-queue", min_member=3, priority_class="high"),
        ],
        pods=[
            *running("normal", 4, "n1", cpu=1),
            *pods("high", 3, cpu=1, spec={"priorityClassName": "high"}),
        ],
        priorityclasses=[priority_class("high", 10_000)],
        conf=conf("allocate, preempt", ["priority", "gang", "conformance"], ["predicates", "capacity"]),
    )


def say_full_of_a_gang(run: Run) -> Sentences:
    yield run.job("high")
    yield from run.failed_checks("high", "preempt")


def more_cards_than_the_queue_may_hold() -> Object:
    """A job of two tasks requests seven cards in a queue that may hold three."""
    return scenario(
        nodes=[node("n1", gpu=8, cpu=80, memory="80Gi")],
        queues=[queue("a", weight=2, capability={"gpu": 3, "cpu": 8, "memory": "20Gi"})],
        podgroups=[podgroup("j", queue="a", min_member=2)],
        pods=[*pods("j", 1, gpu=2, cpu=1), *pods("j", 1, first=1, gpu=5, cpu=1)],
        conf=conf("allocate", ["gang"], ["predicates", "proportion"]),
    )


def say_more_cards(run: Run) -> Sentences:
    yield run.job("j")
    yield run.deserved("a")


def larger_than_every_node() -> Object:
    """A pod requests 73 cores; the only node has 72."""
    return scenario(
        nodes=[node("n1", cpu=72, memory="400Gi")],
        queues=[queue("q")],
        podgroups=[podgroup("j", queue="q")],
        pods=pods("j", 1, cpu=73),
        conf=conf("allocate", ["gang"], ["predicates"]),
    )


def say_larger(run: Run) -> Sentences:
    yield run.job("j")


WAITING = (
    Answer(4617, "Why is a small job not enqueued in an idle queue?", reserved_in_the_queue, say_reserved),
    Answer(1119, "Why are jobs not enqueued while nodes are idle?", reserved_in_the_cluster, say_cluster),
    Answer(
        3040,
        "Why does reclaim not help a gang of eight that is not enqueued?",
        gang_that_cannot_be_completed,
        say_gang,
    ),
    Answer(
        5814,
        "Why does a queue get less than its stated deserved amount?",
        deserved_under_proportion,
        say_deserved,
    ),
    Answer(
        4439,
        "Why does a high-priority job not preempt in a queue that a gang fills?",
        a_queue_full_of_a_gang,
        say_full_of_a_gang,
    ),
    Answer(
        1331,
        "Why do all pods of a job wait although some would fit its queue?",
        more_cards_than_the_queue_may_hold,
        say_more_cards,
    ),
    Answer(1295, "Why does a job wait forever for an empty node?", larger_than_every_node, say_larger),
)
