"""Plugin priority: the order of jobs and tasks, and which tasks may be evicted."""

from __future__ import annotations

from scheduler_core.framework.session import Session
from scheduler_core.plugins.priority import (
    evictable,
    job_order,
    job_starving,
    lower_priority_tasks,
    task_order,
)
from tests.builders import conf, node, pod, podgroup, pods, scenario, session_of
from tests.scheduler_core.pages import table

ROWS = table("priority", "Worked example")


def session_of_three() -> Session:
    return session_of(
        {
            **scenario(
                nodes=[node("n0", cpu=3)],
                podgroups=[
                    *[podgroup(job, priority_class=f"p{value}", phase="Running") for job, value, _ in ROWS],
                    podgroup("new", priority_class="p100"),
                ],
                pods=[
                    *[entry for job, _, _ in ROWS for entry in pods(job, 1, node="n0", cpu=1)],
                    *pods("new", 1, cpu=1),
                ],
                conf=conf("preempt", ["priority"]),
            ),
            "priorityclasses": [{"metadata": {"name": f"p{v}"}, "value": v} for v in (10, 100, 1000)],
        }
    )


def test_plugin_page_shows_which_jobs_may_be_preempted() -> None:
    session = session_of_three()
    (preemptor,) = session.jobs["default/new"].tasks.values()
    accepted = {t.job.name for t in lower_priority_tasks(preemptor, session.nodes.tasks.in_order(0), {})}
    assert {job: "yes" if job in accepted else "no" for job, _, _ in ROWS} == {j: w for j, _, w in ROWS}


def test_gang_actions_compare_priorities_only_within_a_queue() -> None:
    session = session_of_three()
    (preemptor,) = session.jobs["default/new"].tasks.values()
    candidates = session.nodes.tasks.in_order(0)
    assert [t.job.name for t in evictable(preemptor, candidates, "gangpreempt", None)] == ["low"]
    assert evictable(preemptor, candidates, "gangreclaim", None) == candidates


def test_jobs_of_higher_priority_come_first() -> None:
    session = session_of_three()
    jobs = [session.jobs[f"default/{name}"] for name, *_ in ROWS]
    assert [job.name for job in sorted(jobs, key=job_order)] == ["high", "equal", "low"]


def test_task_priority_annotation_overrides_the_pods_priority() -> None:
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=3)],
            podgroups=[podgroup("new")],
            pods=[
                pod("a", group="new", cpu=1),
                pod("b", group="new", cpu=1, priority=5),
                pod("c", group="new", cpu=1, priority=5, annotations={"volcano.sh/task-priority": "7"}),
            ],
            conf=conf("allocate", ["priority"]),
        )
    )
    a, b, c = sorted(session.jobs["default/new"].tasks.values(), key=lambda task: task.name)
    assert [a.priority, b.priority, c.priority] == [1, 5, 7]
    assert task_order(c) < task_order(a)
    assert job_starving(session.jobs["default/new"])
