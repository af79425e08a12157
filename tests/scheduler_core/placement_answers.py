"""Situations from issues about placement and refused plans, and the answers to them."""

from __future__ import annotations

from scheduler_core import explain, simulate_document
from scheduler_core.lint import review
from tests.builders import GPU, Object, Plugin, conf, node, podgroup, pods, queue, scenario
from tests.scheduler_core.answers import HIERARCHY, Answer, Run, Sentences, running

CARDS: Plugin = (
    "binpack",
    {"arguments": {"binpack.resources": GPU, f"binpack.resources.{GPU}": 10}},
)


def _placed(document: Object, plugin: Plugin, name: str) -> str:
    """Return the node of the waiting pod if this plugin scores the nodes."""
    changed = {**document, "scheduler_conf": conf("allocate", ["gang"], ["predicates", plugin])}
    result = explain.pod_story(changed, simulate_document(changed), "default/new-0")
    return f"With {name}: {result['reason']['sentence']}"


def cards_that_binpack_ignores() -> Object:
    """Node n1 has four of eight cards in use, n2 none, but more CPU and memory; a pod requests one card."""
    return scenario(
        nodes=[node(name, cpu=64, memory="512Gi", gpu=8) for name in ("n1", "n2")],
        podgroups=[podgroup("cards", phase="Running"), podgroup("cores", phase="Running"), podgroup("new")],
        pods=[
            *running("cards", 1, "n1", cpu=1, memory="1Gi", gpu=4),
            *running("cores", 1, "n2", cpu=40, memory="40Gi"),
            *pods("new", 1, cpu=1, memory="1Gi", gpu=1),
        ],
        conf=conf("allocate", ["gang"], ["predicates", "binpack"]),
    )


def say_ignored(run: Run) -> Sentences:
    yield _placed(run.document, "binpack", "plugin binpack")
    yield _placed(run.document, CARDS, f"binpack.resources: {GPU}")


def jobs_on_few_nodes() -> Object:
    """One node is half full, the other one empty; a pod fits on both."""
    return scenario(
        nodes=[node(name, cpu=8, memory="64Gi") for name in ("n1", "n2")],
        podgroups=[podgroup("old", phase="Running"), podgroup("new")],
        pods=[*running("old", 1, "n1", cpu=4, memory="8Gi"), *pods("new", 1, cpu=2, memory="4Gi")],
        conf=conf("allocate", ["gang"], ["predicates", "binpack"]),
    )


def say_few(run: Run) -> Sentences:
    yield _placed(run.document, "binpack", "plugin binpack")
    yield _placed(run.document, "nodeorder", "plugin nodeorder")


def a_root_as_large_as_numbers_go() -> Object:
    """The root has a capability of millions of cores; a child may have 500 cores, the cluster has 474."""
    return scenario(
        nodes=[node("n1", cpu=474, memory="2660Gi")],
        queues=[
            queue("root", capability={"cpu": "91696k", "memory": "7630840000Gi"}),
            queue("offline", parent="root", capability={"cpu": 500}),
        ],
        conf=conf("enqueue, allocate, backfill", ["gang"], ["predicates", HIERARCHY]),
    )


def say_root(run: Run) -> Sentences:
    found = [problem for problem in review(run.document) if problem.path.startswith("queues")]
    errors = [problem for problem in found if problem.severity == "error"]
    yield f"Findings of lint: {len(found)}, errors among them: {len(errors)}."
    yield from (f"{problem.severity.capitalize()}: {problem.message}." for problem in found)


PLACEMENTS = (
    Answer(
        1844,
        "Why does binpack scatter pods that request a card?",
        cards_that_binpack_ignores,
        say_ignored,
    ),
    Answer(1914, "Why do jobs pile up on a few nodes?", jobs_on_few_nodes, say_few),
    Answer(
        4349,
        "Is a child queue of 500 cores refused under a root of millions?",
        a_root_as_large_as_numbers_go,
        say_root,
    ),
)
