"""Situations from Volcano's issues, as small scenarios, and the answers to them.

Each situation keeps the proportions described in its issue; numbers that an issue leaves out are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from scheduler_core import Prepared, explain, prepare
from scheduler_core.explain.wording import quantities
from tests.builders import Object, Plugin, conf, node, pod, podgroup, pods, priority_class, queue, scenario

Sentences = Iterator[str]
HIERARCHY: Plugin = ("capacity", {"enableHierarchy": True})


@dataclass(frozen=True)
class Answer:
    """A situation and its explanation.

    Attributes
    ----------
    issue : int
        Number of the issue in volcano-sh/volcano.
    question : str
        The reporter's question.
    situation : callable
        Builds the scenario; its docstring describes the situation.
    say : callable
        ``say(run)``: the sentences of the answer.

    """

    issue: int
    question: str
    situation: Callable[[], Object]
    say: Callable[[Run], Sentences]


class Run:
    """A simulated situation."""

    def __init__(self, document: Object) -> None:
        self.document = document
        self.prepared: Prepared = prepare(document)
        self.result = self.prepared.simulate()
        assert "error" not in self.result, self.result["error"]

    def job(self, name: str, **options: Any) -> str:
        """Return the state of a job in one sentence."""
        sentence: str = explain.job_story(self.document, self.result, name, **options)["reason"]["sentence"]
        return sentence

    def victim(self, pod: str) -> dict[str, Any]:
        """Return the story of an eviction."""
        return explain.victim_story(self.document, self.result, pod)

    def evicted(self) -> list[str]:
        """Return all evicted pods, in order."""
        return [
            step["pod"]
            for cycle in self.result["cycles"]
            for step in cycle["decisions"]
            if step["op"] == "evict" and step["state"] == "committed"
        ]

    def failed_checks(self, job: str, action: str) -> Sentences:
        """Yield the failed checks of an action for a job."""
        (explanation,) = explain.reclaim_checklist(self.document, self.result, job)
        for entry in explanation["actions"]:
            if entry["action"] == action:
                yield from (check["reason"]["sentence"] for check in entry["checks"] if not check["passed"])

    def unblocking(self, job: str, *names: str) -> Sentences:
        """Yield the proposed changes of some kinds for a job."""
        result = explain.unblocking(self.document, job, self.prepared.simulate)
        yield from (change["reason"]["sentence"] for change in result["changes"] if change["id"] in names)

    def deserved(self, name: str) -> str:
        """Return how a queue's deserved amount is derived."""
        sentence: str = explain.derivation(self.document, self.result, name)["summary"]["sentence"]
        return sentence

    def holds(self, name: str) -> str:
        """Return a queue's final allocated and deserved amounts."""
        end = explain.queue_story(self.document, self.result, name)["at_end"]
        return (
            f"Queue {name} holds {quantities(end['allocated'])} and deserves {quantities(end['deserved'])}."
        )

    def flow(self, cycle: int | None = None) -> Sentences:
        """Yield the flow of resources between queues."""
        links = explain.flow(self.document, self.result, cycle=cycle)
        yield from (link["reason"]["sentence"] for link in links)


def running(group: str, count: int, on: str, **facts: Any) -> list[Object]:
    """Return running pods of one PodGroup on one node."""
    return pods(group, count, node=on, **facts)


# Tiers and victims


def quota_in_the_second_tier() -> Object:
    """Queue A deserves 32 cards and reclaims them from B and C, which hold 24 each and deserve 16."""
    return scenario(
        nodes=[node("n1", gpu=64, cpu=640, memory="640Gi")],
        queues=[
            queue("a", deserved={"gpu": 32}),
            queue("b", deserved={"gpu": 16}),
            queue("c", deserved={"gpu": 16}),
        ],
        podgroups=[
            podgroup("a-old", queue="a", phase="Running"),
            podgroup("b", queue="b", phase="Running"),
            podgroup("c", queue="c", phase="Running"),
            podgroup("a-new", queue="a", min_member=2),
        ],
        pods=[
            *running("a-old", 16, "n1", gpu=1),
            *running("b", 8, "n1", gpu=3),
            *running("c", 8, "n1", gpu=3),
            *pods("a-new", 2, gpu=8),
        ],
        conf=conf("allocate, reclaim", ["priority", "conformance"], ["capacity", "gang", "predicates"]),
    )


def say_tiers(run: Run) -> Sentences:
    victim = run.evicted()[0]
    story = run.victim(victim)
    yield story["reason"]["sentence"]
    yield story["surplus_reason"]["sentence"]
    yield story["smallest"]["reason"]["sentence"]
    yield from run.flow()
    yield run.holds("c")


def last_member_stays() -> Object:
    """A job of four pods, which needs one, holds four GPUs; another job of four needs them."""
    return scenario(
        nodes=[node("n1", gpu=4, cpu=40, memory="40Gi")],
        queues=[
            queue("q1", deserved={"gpu": 4}, capability={"gpu": 4}, priority=500),
            queue("ql1", capability={"gpu": 4}),
        ],
        podgroups=[podgroup("low", queue="ql1", phase="Running"), podgroup("high", queue="q1", min_member=3)],
        pods=[*running("low", 4, "n1", gpu=1), *pods("high", 4, gpu=1)],
        conf=conf("allocate, reclaim", ["capacity"], ["gang", "predicates"]),
        cycles=3,
        evicted="delete",
    )


def say_last_member(run: Run) -> Sentences:
    yield f"{len(run.evicted())} of 4 pods were evicted."
    yield run.job("high")
    yield from run.failed_checks("high", "reclaim")


# Enqueue


def full_tree_with_enqueue() -> Object:
    """A branch above its deserved amount fills the cluster; a job arrives in the other branch."""
    return scenario(
        nodes=[node(f"n{number}", gpu=8, cpu=80, memory="80Gi") for number in range(2)],
        queues=[
            queue("root", capability={"gpu": 16}, deserved={"gpu": 16}, reclaimable=False),
            queue("a", parent="root", capability={"gpu": 16}, deserved={"gpu": 8}),
            queue("a1", parent="a", capability={"gpu": 8}, deserved={"gpu": 8}),
            queue("b", parent="root", capability={"gpu": 16}, deserved={"gpu": 8}),
        ],
        podgroups=[
            podgroup("big-x", queue="b", phase="Running", min_resources={"gpu": 8}),
            podgroup("big-y", queue="b", phase="Running", min_resources={"gpu": 8}),
            podgroup("new", queue="a1", min_member=1, min_resources={"gpu": 8}, phase="Pending"),
        ],
        pods=[
            *running("big-x", 1, "n0", gpu=8),
            *running("big-y", 1, "n1", gpu=8),
            *pods("new", 1, gpu=8),
        ],
        conf=conf("enqueue, allocate, reclaim", [HIERARCHY, "conformance", "predicates"], ["gang"]),
    )


def say_enqueue(run: Run) -> Sentences:
    yield run.job("new")
    yield from run.failed_checks("new", "reclaim")
    yield from run.unblocking("new", "unblock.actions")


def guarantee_lent_out() -> Object:
    """The first organisation borrowed everything; a job of the second requests its whole guarantee."""
    return scenario(
        nodes=[node("n1", cpu=100, memory="400Gi")],
        queues=[
            queue("root", capability={"cpu": 100}, reclaimable=False),
            queue("org-1", parent="root"),
            queue("org-1-team-1", parent="org-1"),
            queue("org-2", parent="root", guarantee={"cpu": 50}),
            queue("org-2-team-1", parent="org-2", deserved={"cpu": 50}),
        ],
        podgroups=[
            *(
                podgroup(f"lent-{number}", queue="org-1-team-1", phase="Running", min_resources={"cpu": 10})
                for number in range(10)
            ),
            podgroup("claim", queue="org-2-team-1", min_resources={"cpu": 50}, phase="Pending"),
        ],
        pods=[
            *(pod for number in range(10) for pod in running(f"lent-{number}", 1, "n1", cpu=10)),
            *pods("claim", 1, cpu=50),
        ],
        conf=conf("enqueue, allocate, reclaim", [HIERARCHY, "conformance", "predicates"], ["gang"]),
    )


def say_guarantee(run: Run) -> Sentences:
    yield run.job("claim")
    yield from run.unblocking("claim", "unblock.actions")


def siblings_and_enqueue() -> Object:
    """One of two sibling queues borrowed from the other, which is below its deserved amount."""
    return scenario(
        nodes=[node("n1", cpu=10, memory="40Gi")],
        queues=[
            queue("root", capability={"cpu": 10}, reclaimable=False),
            queue("parent", parent="root", deserved={"cpu": 10}, capability={"cpu": 10}),
            queue("queue1", parent="parent", deserved={"cpu": 5}),
            queue("queue2", parent="parent", deserved={"cpu": 5}),
        ],
        podgroups=[
            *(
                podgroup(f"busy-{number}", queue="queue1", phase="Running", min_resources={"cpu": 1})
                for number in range(10)
            ),
            podgroup("modest", queue="queue2", min_resources={"cpu": 2}, phase="Pending"),
        ],
        pods=[
            *(pod for number in range(10) for pod in running(f"busy-{number}", 1, "n1", cpu=1)),
            *pods("modest", 1, cpu=2),
        ],
        conf=conf("enqueue, allocate, reclaim", [HIERARCHY, "conformance", "predicates"], ["gang"]),
    )


def say_siblings(run: Run) -> Sentences:
    yield run.job("modest")
    yield from run.failed_checks("modest", "reclaim")
    yield from run.unblocking("modest", "unblock.actions")


def total_and_node() -> Object:
    """Many jobs on one node use up the enqueue limit; the other node is empty."""
    label = "pool"
    return scenario(
        nodes=[
            node("node-1", cpu=10, memory="40Gi", labels={label: "low"}),
            node("node-2", cpu=10, memory="40Gi", labels={label: "high"}),
        ],
        queues=[queue("q-low", weight=1), queue("q-high", weight=100)],
        podgroups=[
            podgroup("low-old", queue="q-low", phase="Running", min_member=10, min_resources={"cpu": 10}),
            podgroup("low-new", queue="q-low", min_member=10, min_resources={"cpu": 10}),
            podgroup("high", queue="q-high", min_resources={"cpu": 5}, phase="Pending"),
        ],
        pods=[
            *running("low-old", 10, "node-1", cpu=1, spec={"nodeSelector": {label: "low"}}),
            *pods("low-new", 10, cpu=1, spec={"nodeSelector": {label: "low"}}),
            *pods("high", 1, cpu=5, spec={"nodeSelector": {label: "high"}}),
        ],
        conf=conf(
            "enqueue, allocate, backfill",
            ["priority", "gang"],
            ["overcommit", "drf", "predicates", "proportion"],
        ),
    )


def say_total(run: Run) -> Sentences:
    yield run.job("high")
    yield from run.unblocking("high", "unblock.actions", "unblock.nodes")


def room_in_pieces() -> Object:
    """Twelve jobs fit the sum of all nodes, but only ten fit node by node."""
    return scenario(
        nodes=[node(f"n{number}", cpu=6, memory="10Gi") for number in range(10)],
        queues=[queue("q")],
        podgroups=[
            podgroup(f"j{number:02}", queue="q", min_resources={"cpu": 4, "memory": "8Gi"}, phase="Pending")
            for number in range(12)
        ],
        pods=[pod for number in range(12) for pod in pods(f"j{number:02}", 1, cpu=4, memory="8Gi")],
        conf=conf("enqueue, allocate", ["gang"], ["overcommit", "predicates", "proportion"]),
    )


def say_pieces(run: Run) -> Sentences:
    yield run.job("j11")
    yield from run.unblocking("j11", "unblock.nodes")


def room_after_an_eviction() -> Object:
    """A pod of queue online replaced an offline pod; two small offline jobs wait though cards are left."""
    return scenario(
        nodes=[node("n1", gpu=8, cpu=120, memory="900Gi"), node("n2", gpu=8, cpu=120, memory="900Gi")],
        queues=[
            queue("root", capability={"gpu": 16}, reclaimable=False),
            queue("top", parent="root", capability={"gpu": 16}, deserved={"gpu": 16}),
            queue("online", parent="top", deserved={"gpu": 12}, priority=10),
            queue("offline", parent="top", deserved={"gpu": 4}, capability={"gpu": 16}),
        ],
        podgroups=[
            podgroup("big-x", queue="offline", phase="Running", min_resources={"gpu": 8}),
            podgroup("big-y", queue="offline", phase="Running", min_resources={"gpu": 8}),
            podgroup("small-x", queue="offline", phase="Pending", min_resources={"gpu": 2}, created=1),
            podgroup("small-y", queue="offline", phase="Pending", min_resources={"gpu": 2}, created=2),
            podgroup("urgent", queue="online", min_resources={"gpu": 1}),
        ],
        pods=[
            *running("big-x", 1, "n1", gpu=8),
            *running("big-y", 1, "n2", gpu=8),
            *pods("small-x", 1, gpu=2),
            *pods("small-y", 1, gpu=2),
            *pods("urgent", 1, gpu=1),
        ],
        conf=conf("enqueue, allocate, reclaim", [HIERARCHY, "conformance", "predicates"], ["gang"]),
        cycles=2,
    )


def say_after_eviction(run: Run) -> Sentences:
    yield f"{', '.join(run.evicted())} was evicted."
    for cycle in (1, 2):
        yield f"Cycle {cycle}: {run.job('small-x', cycle=cycle)}"


# Reclaim


def gangs_that_need_everybody() -> Object:
    """An overcommitted queue whose job needs all of its members; gang and capacity are in one tier."""
    return scenario(
        nodes=[node("n1", gpu=40, cpu=400, memory="400Gi")],
        queues=[queue("queue1", deserved={"gpu": 16}), queue("queue2", deserved={"gpu": 24})],
        podgroups=[
            podgroup("greedy", queue="queue1", min_member=5, phase="Running"),
            podgroup("due", queue="queue2", min_member=3),
        ],
        pods=[*running("greedy", 5, "n1", gpu=8), *pods("due", 3, gpu=8)],
        conf=conf("allocate, reclaim", ["priority", "gang", "conformance", "capacity"], ["predicates"]),
    )


def say_gangs(run: Run) -> Sentences:
    yield run.job("due")
    yield from run.failed_checks("due", "reclaim")


def tiny_deserved() -> Object:
    """Both queues deserve one core and hold at least that."""
    return scenario(
        nodes=[node("n1", cpu=9, memory="40Gi")],
        queues=[queue("queue001", deserved={"cpu": 1}), queue("queue002", deserved={"cpu": 1})],
        podgroups=[
            podgroup("first", queue="queue001", phase="Running"),
            podgroup("second", queue="queue002", phase="Running"),
            podgroup("third", queue="queue002"),
        ],
        pods=[
            *running("first", 8, "n1", cpu=1),
            *running("second", 1, "n1", cpu=1),
            *pods("third", 1, cpu=1),
        ],
        conf=conf("allocate, backfill, reclaim, preempt", ["priority", "gang"], ["predicates", "capacity"]),
    )


def say_tiny(run: Run) -> Sentences:
    yield run.job("third")
    yield from run.failed_checks("third", "reclaim")
    yield from run.failed_checks("third", "preempt")
    yield from run.unblocking("third", "unblock.deserved")


def for_ever_and_ever() -> Object:
    """Two jobs in two queues, each with five pods and minMember 1, over six cycles."""
    return scenario(
        nodes=[node("n1", cpu=36, memory="400Gi")],
        queues=[queue("a"), queue("default")],
        podgroups=[podgroup("ja", queue="a", phase="Running"), podgroup("jd", queue="default")],
        pods=[*running("ja", 5, "n1", cpu=7), *pods("jd", 5, cpu=7)],
        conf=conf(
            "allocate, reclaim", ["priority", "gang", "conformance"], ["drf", "predicates", "proportion"]
        ),
        cycles=6,
    )


def say_for_ever(run: Run) -> Sentences:
    yield from run.flow()
    yield run.job("jd")
    yield from run.failed_checks("jd", "reclaim")
    yield from run.failed_checks("ja", "reclaim")


def evicted_and_bound_again() -> Object:
    """One pod of 4 cores in a queue that deserves 3; another queue deserves 5, holds 1 and waits for 4."""
    return scenario(
        nodes=[node("n1", cpu=5, memory="50Gi")],
        queues=[queue("queue1", deserved={"cpu": 3}), queue("queue2", deserved={"cpu": 5})],
        podgroups=[
            podgroup("job1", queue="queue1", phase="Running"),
            podgroup("job2", queue="queue2", phase="Running"),
            podgroup("job3", queue="queue2"),
        ],
        pods=[
            pod("pod1", group="job1", node="n1", cpu=4),
            pod("pod2", group="job2", node="n1", cpu=1),
            pod("pod3", group="job3", cpu=4),
        ],
        conf=conf("allocate, reclaim", ["priority", "gang", "conformance"], ["predicates", "capacity"]),
        cycles=8,
    )


def say_again_and_again(run: Run) -> Sentences:
    (loop,) = explain.searched(run.document, run.result, run.prepared.simulate)
    yield loop["reason"]["sentence"]
    yield from (entry["sentence"] for entry in loop["why"])
    yield from (change["reason"]["sentence"] for change in loop["changes"])
    yield run.job("job1")
    yield run.job("job3")
    yield from run.flow()


# Shares and limits


def guarantee_below_the_job() -> Object:
    """Three queues, nine cores, one job of four cores each."""
    limits = {"guarantee": {"cpu": 2}, "deserved": {"cpu": 3}, "capability": {"cpu": 5}}
    return scenario(
        nodes=[node("n1", cpu=9, memory="9Gi")],
        queues=[
            queue("faked-root", parent="root", capability={"cpu": 9, "memory": "9Gi"}, deserved={"cpu": 9}),
            *(queue(f"queue-{number}", parent="faked-root", **limits) for number in (1, 2, 3)),
        ],
        podgroups=[
            podgroup(f"job-{number}", queue=f"queue-{number}", min_resources={"cpu": 4}, phase="Pending")
            for number in (1, 2, 3)
        ],
        pods=[pod for number in (1, 2, 3) for pod in pods(f"job-{number}", 1, cpu=4)],
        conf=conf("enqueue, allocate", [HIERARCHY, "predicates"], ["gang"]),
    )


def say_below(run: Run) -> Sentences:
    yield run.job("job-3")
    yield run.deserved("queue-3")
    yield from run.unblocking("job-3", "unblock.nodes", "unblock.capability")


def share_below_the_gang() -> Object:
    """Two queues of equal weight share three cards; each has a gang of two."""
    return scenario(
        nodes=[node("n1", gpu=3, cpu=30, memory="30Gi")],
        queues=[queue("b"), queue("c")],
        podgroups=[podgroup("jb", queue="b", min_member=2), podgroup("jc", queue="c", min_member=2)],
        pods=[*pods("jb", 2, gpu=1, cpu=1), *pods("jc", 2, gpu=1, cpu=1)],
        conf=conf("allocate", ["gang"], ["predicates", "proportion"]),
    )


def say_share(run: Run) -> Sentences:
    for name in ("jb", "jc"):
        yield run.job(name)
    yield run.deserved("b")
    yield from run.unblocking("jb", "unblock.weight", "unblock.members")


def full_queue() -> Object:
    """A queue at its capability, and a job of higher priority."""
    return scenario(
        nodes=[node("n1", cpu=8, memory="16Gi")],
        queues=[queue("prod-queue", capability={"cpu": 4, "memory": "4Gi"})],
        podgroups=[
            podgroup("old", queue="prod-queue", phase="Running", min_resources={"cpu": 4}),
            podgroup(
                "new", queue="prod-queue", priority_class="high", min_resources={"cpu": 2}, phase="Pending"
            ),
        ],
        pods=[
            *running("old", 2, "n1", cpu=2, memory="1Gi"),
            *pods("new", 1, cpu=2, memory="1Gi", spec={"priorityClassName": "high"}),
        ],
        priorityclasses=[priority_class("high", 1000)],
        conf=conf("enqueue, allocate, preempt", ["priority"], ["predicates", "proportion"]),
    )


def say_full(run: Run) -> Sentences:
    yield run.job("new")
    yield from run.failed_checks("new", "preempt")
    yield from run.unblocking("new", "unblock.capability", "unblock.actions")


# Gangs and nodes


def gang_in_the_first_tier() -> Object:
    """A complete low-priority gang fills the node; gang is in tier 1, tier 2 does not vote on victims."""
    return scenario(
        nodes=[node("n1", cpu=4, memory="16Gi")],
        queues=[queue("q")],
        podgroups=[
            podgroup("low", queue="q", min_member=4, phase="Running"),
            podgroup("high", queue="q", min_member=2, priority_class="high"),
        ],
        pods=[
            *running("low", 4, "n1", cpu=1),
            *pods("high", 2, cpu=1, spec={"priorityClassName": "high"}),
        ],
        priorityclasses=[priority_class("high", 1000)],
        conf=conf("allocate, preempt", ["priority", "gang", "conformance"], ["predicates"]),
    )


def say_first_tier(run: Run) -> Sentences:
    yield run.job("high")
    yield from run.failed_checks("high", "preempt")
    yield from run.unblocking("high", "unblock.tiers")


def promised_places() -> Object:
    """A gang is pipelined to resources that are being released; another gang waits for the rest."""
    return scenario(
        nodes=[node("n1", cpu=4, memory="16Gi")],
        queues=[queue("q")],
        podgroups=[
            podgroup("leaving", queue="q", phase="Running"),
            podgroup("first", queue="q", min_member=4),
            podgroup("second", queue="q", min_member=2, created=1),
        ],
        pods=[
            *running("leaving", 4, "n1", cpu=1, deleting=True),
            *pods("first", 4, cpu=1),
            *pods("second", 2, cpu=1),
        ],
        conf=conf("enqueue, allocate", ["gang"], ["overcommit", "predicates", "proportion"]),
    )


def say_promised(run: Run) -> Sentences:
    yield run.job("first")
    yield run.job("second")


def the_large_one_last() -> Object:
    """Two nodes, two tasks; the small task is placed first and takes the large node."""
    return scenario(
        nodes=[node("a", cpu=53, memory="400Gi"), node("b", cpu=31, memory="400Gi")],
        queues=[queue("q")],
        podgroups=[podgroup("j", queue="q", min_member=2)],
        pods=[
            pod("j-0", group="j", cpu=30, memory="1Gi"),
            pod("j-1", group="j", cpu=50, memory="1Gi", created=1),
        ],
        conf=conf("allocate", ["gang"], ["predicates", "proportion", "nodeorder"]),
    )


def say_large(run: Run) -> Sentences:
    yield run.job("j")
    yield from run.unblocking("j", "unblock.nodes", "unblock.members")


def one_per_node() -> Object:
    """Two gangs with one pod per node each, and as many nodes as one of them needs."""
    spec = {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "labelSelector": {"matchLabels": {"kind": "spread"}},
                        "topologyKey": "kubernetes.io/hostname",
                    }
                ]
            }
        }
    }
    facts: Any = {"cpu": 1, "memory": "1Gi", "labels": {"kind": "spread"}, "spec": spec}
    return scenario(
        nodes=[node(f"n{number}", cpu=4, memory="16Gi") for number in range(4)],
        queues=[queue("q")],
        podgroups=[
            podgroup(name, queue="q", min_member=4, min_resources={"cpu": 4}, phase="Pending")
            for name in ("one", "two")
        ],
        pods=[*pods("one", 4, **facts), *pods("two", 4, **facts)],
        conf=conf(
            "enqueue, allocate, backfill",
            ["priority", "gang"],
            ["overcommit", "drf", "predicates", "proportion"],
        ),
    )


def say_one_per_node(run: Run) -> Sentences:
    yield run.job("one")
    yield run.job("two")
    yield from run.unblocking("two", "unblock.nodes")


def gang_after_an_outage() -> Object:
    """A gang lost pods with a node; a new job holds nothing yet and is served first."""
    return scenario(
        nodes=[node("n1", cpu=4, memory="16Gi")],
        queues=[queue("default")],
        podgroups=[
            podgroup("hurt", min_member=4, phase="Running"),
            podgroup("fresh", min_member=2, created=10),
        ],
        pods=[
            *running("hurt", 2, "n1", cpu=1),
            *pods("hurt", 2, first=2, cpu=1),
            *pods("fresh", 2, cpu=1),
        ],
        conf=conf(
            "enqueue, allocate, backfill",
            ["priority", "conformance"],
            ["drf", "gang", "predicates", "proportion"],
        ),
    )


def say_outage(run: Run) -> Sentences:
    yield run.job("fresh")
    yield run.job("hurt")
    yield from run.unblocking("hurt", "unblock.priority", "unblock.nodes")


ANSWERS = (
    Answer(
        5896,
        "Why are more cards evicted than my queue needs, and below what another queue deserves?",
        quota_in_the_second_tier,
        say_tiers,
    ),
    Answer(
        4679,
        "Why does a job stay Pending below its queue's deserved, and why does reclaim never consider it?",
        full_tree_with_enqueue,
        say_enqueue,
    ),
    Answer(
        4817,
        "Why is the job not enqueued although my guarantee covers it?",
        guarantee_lent_out,
        say_guarantee,
    ),
    Answer(
        4235,
        "Why are small jobs not enqueued after an eviction made room?",
        room_after_an_eviction,
        say_after_eviction,
    ),
    Answer(
        4756,
        "Why does enqueue prevent reclaim between sibling queues?",
        siblings_and_enqueue,
        say_siblings,
    ),
    Answer(4808, "Why is one pod of a low job never reclaimed?", last_member_stays, say_last_member),
    Answer(
        3990,
        "Why is nothing reclaimed from a queue that holds more than it deserves?",
        gangs_that_need_everybody,
        say_gangs,
    ),
    Answer(
        3861,
        "Why is nothing reclaimed from a queue with eight times its deserved amount?",
        tiny_deserved,
        say_tiny,
    ),
    Answer(
        3869,
        "Do two jobs that do not fit together reclaim from each other forever?",
        for_ever_and_ever,
        say_for_ever,
    ),
    Answer(
        4947,
        "Why is the same pod evicted and started again and again?",
        evicted_and_bound_again,
        say_again_and_again,
    ),
    Answer(
        4995,
        "Why does the third job get nothing although its guarantee is free?",
        guarantee_below_the_job,
        say_below,
    ),
    Answer(1096, "Why do two gangs wait forever while cards are idle?", share_below_the_gang, say_share),
    Answer(1772, "Why are no pods preempted in a full queue?", full_queue, say_full),
    Answer(2034, "Why does the high-priority job not preempt?", gang_in_the_first_tier, say_first_tier),
    Answer(2083, "Why does a gang hold resources without running?", promised_places, say_promised),
    Answer(3670, "Why is a job not enqueued for an empty node?", total_and_node, say_total),
    Answer(665, "Why were twelve jobs enqueued when ten fit?", room_in_pieces, say_pieces),
    Answer(1297, "Why does a job wait that two nodes could run?", the_large_one_last, say_large),
    Answer(
        3373,
        "Why does a second gang with one pod per node get in the way of the first?",
        one_per_node,
        say_one_per_node,
    ),
    Answer(5805, "Why does a gang that lost a node never recover?", gang_after_an_outage, say_outage),
)
