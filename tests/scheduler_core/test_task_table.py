"""Tasks that are only counted until they are read, and then are the same object everywhere."""

from __future__ import annotations

from scheduler_core.admission import Admission
from scheduler_core.framework.session import Session
from scheduler_core.model.pod_info import PodInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.model.task import NO_NODE
from tests.builders import Object, conf, node, pod, podgroup, pods, queue, scenario, session_of


def opened() -> Session:
    return session_of(
        scenario(
            conf=conf("allocate", ["gang"], ["predicates", "nodeorder"]),
            nodes=[node("n0", cpu=8), node("n1", cpu=8)],
            queues=[queue("default")],
            podgroups=[podgroup("a", min_member=2)],
            pods=[
                *pods("a", 2, node="n1", cpu=1),
                *pods("a", 2, first=2, cpu=1),
                pod("a-done", group="a", node="n0", phase="Succeeded", cpu=1),
                pod("single", node="n0", cpu=2),
            ],
        )
    )


def test_unread_tasks_are_counted() -> None:
    session = opened()
    job = session.jobs["default/a"]
    assert (job.size, job.allocated.cpu, session.nodes.used[1, 0]) == (5, 2000, 2000)
    assert job.status_counts() == {TaskStatus.PENDING: 2, TaskStatus.RUNNING: 2, TaskStatus.SUCCEEDED: 1}
    assert sum(isinstance(seen, PodInfo) for seen in job.seen()) == 3


def test_task_is_the_same_object_from_its_job_and_its_node() -> None:
    for look_at_nodes_first in (True, False):
        session = opened()
        job, nodes = session.jobs["default/a"], session.nodes
        if look_at_nodes_first:
            assert len(nodes.tasks[1]) == 2
        running = job.by_status[TaskStatus.RUNNING].values()
        assert [nodes.tasks[1][task.key] for task in running] == list(running)
        assert list(job.tasks) == sorted(job.tasks)
        assert [task.node for task in job.tasks.values()] == [1, 1, NO_NODE, NO_NODE, NO_NODE]
        assert nodes.tasks[0]["default/single"].job is None
        assert not any(isinstance(seen, PodInfo) for seen in job.seen())


def test_task_joins_the_tasks_of_its_new_status_read_or_unread() -> None:
    for status, there in ((TaskStatus.RUNNING, ["default-a-0", "default-a-1"]), (TaskStatus.BOUND, [])):
        job = opened().jobs["default/a"]
        first, last = list(job.by_status[TaskStatus.PENDING].values())
        job.update_task_status(first, status)
        job.update_task_status(last, status)
        assert not job.by_status[TaskStatus.PENDING]
        assert list(job.by_status[status]) == [*there, first.uid, last.uid]
        job.update_task_status(last, TaskStatus.PENDING)
        assert list(job.by_status[TaskStatus.PENDING]) == [last.uid]


def test_node_keeps_tasks_added_before_it_was_read() -> None:
    session = opened()
    nodes = session.nodes
    first, second = session.jobs["default/a"].by_status[TaskStatus.PENDING].values()
    nodes.add_task(first, 1)
    nodes.add_task(second, 1)
    nodes.remove_task(second)
    assert sorted(nodes.tasks[1]) == ["default/a-0", "default/a-1", "default/a-2"]
    assert nodes.used[1, 0] == 3000


def test_reading_a_node_creates_only_its_tasks_in_order() -> None:
    session = opened()
    job, nodes = session.jobs["default/a"], session.nodes
    assert [task.name for task in nodes.tasks.in_order(0)] == ["single"]
    assert sum(isinstance(seen, PodInfo) for seen in job.seen()) == 3
    first, second = job.by_status[TaskStatus.PENDING].values()
    nodes.add_task(second, 0)
    nodes.add_task(first, 0)
    assert [task.name for task in nodes.tasks.in_order(0)] == [first.name, second.name, "single"]
    nodes.remove_task(second)
    assert [task.name for task in nodes.tasks.in_order(0)] == [first.name, "single"]


def test_pod_is_admitted_when_it_is_read() -> None:
    plain: Object = {"metadata": {"name": "a"}, "spec": {"priorityClassName": "high"}}
    high: Object = {"metadata": {"name": "high"}, "value": 7}
    admitted = Admission(scenario(pods=[plain], priorityclasses=[high])).cluster().pods["default/a"]
    assert admitted == {
        "metadata": {"name": "a", "namespace": "default", "uid": "default-a"},
        "spec": {"priorityClassName": "high", "schedulerName": "volcano", "priority": 7},
        "status": {"phase": "Pending"},
    }
    assert plain == {"metadata": {"name": "a"}, "spec": {"priorityClassName": "high"}}


def test_pods_that_differ_only_in_volumes_share_a_shape() -> None:
    mounted = [pod("a", group="g", cpu=1), pod("b", group="g", cpu=1)]
    for number, entry in enumerate(mounted):
        entry["spec"]["volumes"] = [{"name": f"token-{number}", "projected": {"sources": []}}]
    known_pods = Admission(scenario(pods=mounted)).cluster().pods.known_pods()
    assert (len(known_pods.pods), len(known_pods.kinds), len(known_pods.shapes)) == (2, 1, 1)
