"""Situations from issues about evictions, as small scenarios, and the answers to them."""

from __future__ import annotations

from scheduler_core import explain
from tests.builders import Object, conf, node, pod, podgroup, pods, priority_class, queue, scenario
from tests.scheduler_core.answers import HIERARCHY, Answer, Run, Sentences, running

CLASSES = [priority_class("low", 1), priority_class("high", 1_000_000)]
STOCK = (["priority", "gang", "conformance"], ["overcommit", "drf", "predicates", "proportion", "nodeorder"])
HIGH: Object = {"priorityClassName": "high"}


def in_tree(run: Run, name: str) -> str:
    """Return a queue's position in the tree of hierarchical drf."""
    explanation = explain.derivation(run.document, run.result, name)["tree_summary"]
    sentence: str = explanation["sentence"]
    return sentence


def checks(run: Run, job: str, action: str, *names: str) -> Sentences:
    """Yield the sentences of some checks of an action for a job."""
    (explanation,) = explain.reclaim_checklist(run.document, run.result, job)
    for entry in explanation["actions"]:
        if entry["action"] == action:
            yield from (check["reason"]["sentence"] for check in entry["checks"] if check["id"] in names)


def passed_over(run: Run, victim: str) -> str:
    """Return the votes on a victim that did not count."""
    sentence: str = run.victim(victim)["passed_over"]["sentence"]
    return sentence


def single_pod_gangs() -> Object:
    """Jobs of one pod each fill the cluster, and gang is in tier 1; a third queue requests its share."""
    return scenario(
        nodes=[node("n1", cpu=29, memory="200Gi")],
        queues=[queue("over", weight=1), queue("within", weight=4), queue("asking", weight=1)],
        podgroups=[
            *(podgroup(f"over-{number:02}", queue="over", phase="Running") for number in range(12)),
            *(podgroup(f"within-{number:02}", queue="within", phase="Running") for number in range(17)),
            podgroup("new", queue="asking", min_member=4),
        ],
        pods=[
            *(
                pod(f"{name}-{number:02}-0", group=f"{name}-{number:02}", node="n1", cpu=1)
                for name, count in (("over", 12), ("within", 17))
                for number in range(count)
            ),
            *pods("new", 4, cpu=1),
        ],
        conf=conf("allocate, reclaim", *STOCK),
    )


def say_single(run: Run) -> Sentences:
    victim = run.evicted()[0]
    yield run.victim(victim)["reason"]["sentence"]
    yield passed_over(run, victim)
    yield from checks(run, "new", "reclaim", "check.votes", "check.gang")


def a_gang_in_the_way() -> Object:
    """A low-priority gang of four fills the cluster; a high-priority job follows."""
    return scenario(
        nodes=[node("n1", cpu=4, memory="16Gi")],
        queues=[queue("q")],
        podgroups=[
            podgroup(
                "low",
                queue="q",
                phase="Running",
                min_member=4,
                min_resources={"cpu": 4},
                priority_class="low",
            ),
            podgroup(
                "high",
                queue="q",
                phase="Pending",
                min_member=2,
                min_resources={"cpu": 2},
                priority_class="high",
            ),
        ],
        pods=[*running("low", 4, "n1", cpu=1), *pods("high", 2, cpu=1, spec=HIGH)],
        priorityclasses=CLASSES,
        conf=conf("enqueue, allocate, preempt, backfill", *STOCK),
    )


def say_gang_in_the_way(run: Run) -> Sentences:
    yield run.job("high")
    yield from checks(run, "high", "preempt", "check.enqueued", "check.votes", "check.gang")
    yield from run.unblocking("high", "unblock.actions")


def two_weighted_branches() -> Object:
    """Driver and executors of queue test1 fill the cluster; the driver of test2, of equal weight, waits."""
    facts: Object = {"cpu": 1, "memory": "1Gi"}
    return scenario(
        nodes=[node("n1", cpu=9, memory="9Gi")],
        queues=[
            queue(
                name,
                annotations={
                    "volcano.sh/hierarchy": f"root/{name}",
                    "volcano.sh/hierarchy-weights": "100/50",
                },
            )
            for name in ("test1", "test2")
        ],
        podgroups=[
            podgroup("driver-1", queue="test1", phase="Running"),
            podgroup("executor-1", queue="test1", phase="Running", min_member=8),
            podgroup("driver-2", queue="test2"),
        ],
        pods=[
            *running("driver-1", 1, "n1", **facts),
            *running("executor-1", 8, "n1", **facts),
            *pods("driver-2", 1, **facts),
        ],
        conf=conf(
            "enqueue, allocate, reclaim, backfill",
            ["priority", "gang", "conformance"],
            [("drf", {"enableHierarchy": True}), "predicates", "nodeorder"],
        ),
    )


def say_branches(run: Run) -> Sentences:
    yield from run.flow()
    for victim in run.evicted():
        yield run.victim(victim)["reason"]["sentence"]
        yield passed_over(run, victim)
    yield from checks(run, "driver-2", "reclaim", "check.votes", "check.gang", "check.fit")


def a_branch_with_a_little_queue() -> Object:
    """Queue dev has a big child and a little one that holds almost nothing; all queues request more."""
    paths = {
        "little": ("root/dev/little", "1/1/1"),
        "big": ("root/dev/big", "1/1/1"),
        "alt": ("root/alt", "1/1"),
    }
    return scenario(
        nodes=[node(f"n{number}", cpu=4, memory="16Gi") for number in range(6)],
        queues=[
            queue(
                name,
                annotations={"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights},
            )
            for name, (path, weights) in paths.items()
        ],
        podgroups=[
            podgroup("small", queue="little", phase="Running"),
            podgroup("large", queue="big", phase="Running"),
            podgroup("other", queue="alt", phase="Running"),
            podgroup("more", queue="big"),
        ],
        pods=[
            *running("small", 1, "n0", cpu=1),
            *pods("small", 1, first=1, cpu=3),
            *(running("large", 1, f"n{number}", first=number, cpu=3)[0] for number in range(4)),
            *pods("large", 1, first=4, cpu=3),
            *(running("other", 1, f"n{number}", first=number, cpu=3)[0] for number in (4, 5)),
            *pods("other", 1, first=6, cpu=3),
            *pods("more", 1, cpu=3),
        ],
        conf=conf(
            "allocate, reclaim",
            ["priority", ("gang", {"enableReclaimable": False})],
            [("drf", {"enableHierarchy": True}), "predicates"],
        ),
    )


def say_little(run: Run) -> Sentences:
    yield from run.flow()
    victim = run.victim(run.evicted()[0])
    yield victim["reason"]["sentence"]
    yield from (vote["reason"]["sentence"] for vote in victim["votes"])
    yield from (in_tree(run, name) for name in ("little", "big", "alt"))


def a_full_laptop() -> Object:
    """Priority is in tier 1 and proportion in tier 2; a low-priority job fills the cluster."""
    return scenario(
        nodes=[node("n1", cpu=12, memory="8Gi")],
        queues=[queue("basic-queue")],
        podgroups=[
            podgroup(
                "low", queue="basic-queue", phase="Running", min_resources={"cpu": 12}, priority_class="low"
            ),
            podgroup(
                "high", queue="basic-queue", phase="Pending", min_resources={"cpu": 2}, priority_class="high"
            ),
        ],
        pods=[*running("low", 6, "n1", cpu=2), *pods("high", 1, cpu=2, spec=HIGH)],
        priorityclasses=CLASSES,
        conf=conf("enqueue, allocate, preempt", ["priority"], ["proportion"]),
    )


def say_laptop(run: Run) -> Sentences:
    yield run.job("high")
    yield from checks(run, "high", "preempt", "check.enqueued", "check.votes")
    yield from run.unblocking("high", "unblock.actions")


def two_queue_plugins() -> Object:
    """A leaf queue holds its parent's whole limit; its sibling waits; proportion and capacity are both on."""
    return scenario(
        nodes=[node("n1", gpu=8, cpu=80, memory="80Gi")],
        queues=[
            queue("root", capability={"gpu": 8}),
            queue("test-default", parent="root", capability={"gpu": 6}, deserved={"gpu": 4}),
            queue("test", parent="test-default", deserved={"gpu": 1}),
            queue("test-new", parent="test-default", deserved={"gpu": 3}),
        ],
        podgroups=[
            podgroup("old", queue="test", phase="Running"),
            podgroup("new", queue="test-new", priority_class="high"),
        ],
        pods=[*running("old", 8, "n1", gpu=1), *pods("new", 1, gpu=1, spec=HIGH)],
        priorityclasses=CLASSES,
        conf=conf(
            "allocate, preempt, reclaim",
            ["priority", ("gang", {"enableReclaimable": False}), "conformance"],
            ["proportion", HIERARCHY, "predicates"],
        ),
    )


def say_both(run: Run) -> Sentences:
    yield run.job("new")
    yield from checks(run, "new", "preempt", "check.candidates")
    yield from checks(run, "new", "reclaim", "check.may-evict", "check.votes")
    yield from run.flow()


def borrowed_between_projects() -> Object:
    """Two projects deserve two of four cards each and may use three; the first borrowed a third card."""
    return scenario(
        nodes=[node("n1", gpu=4, cpu=40, memory="40Gi")],
        queues=[
            queue("root", deserved={"gpu": 4}),
            *(
                queue(f"project{number}", parent="root", deserved={"gpu": 2}, capability={"gpu": 3})
                for number in (1, 2)
            ),
            *(
                queue(f"project{number}-{leaf}", parent=f"project{number}", deserved={"gpu": 1})
                for number in (1, 2)
                for leaf in ("a", "b")
            ),
        ],
        podgroups=[
            podgroup("borrower", queue="project1-a", phase="Running"),
            podgroup("second", queue="project2-a", phase="Running"),
            podgroup("claim", queue="project2-b"),
        ],
        pods=[
            *running("borrower", 3, "n1", gpu=1),
            *running("second", 1, "n1", gpu=1),
            *pods("claim", 1, gpu=1),
        ],
        conf=conf("allocate, reclaim", ["gang", HIERARCHY], ["predicates"]),
    )


def say_projects(run: Run) -> Sentences:
    yield from run.flow()
    yield run.victim(run.evicted()[0])["reason"]["sentence"]
    yield run.holds("project1")


EVICTIONS = (
    Answer(
        4165,
        "Why are single-pod jobs evicted although gang is in tier 1?",
        single_pod_gangs,
        say_single,
    ),
    Answer(
        5105, "Why is nothing preempted for the high-priority job?", a_gang_in_the_way, say_gang_in_the_way
    ),
    Answer(
        1748,
        "Does reclaim evict pods between branches of the queue tree when the cluster is full?",
        two_weighted_branches,
        say_branches,
    ),
    Answer(
        1661,
        "Why are jobs in another branch of the queue tree evicted immediately?",
        a_branch_with_a_little_queue,
        say_little,
    ),
    Answer(1720, "Why does a high-priority job wait in a full cluster?", a_full_laptop, say_laptop),
    Answer(4576, "Why is there no preemption between two leaf queues?", two_queue_plugins, say_both),
    Answer(
        4530,
        "Does a project get back the cards that another one borrowed?",
        borrowed_between_projects,
        say_projects,
    ),
)
