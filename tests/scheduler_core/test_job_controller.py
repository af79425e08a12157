"""Rules of Volcano's controllers that a comparison of replays with the real controllers showed."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import problems
from scheduler_core.controllers.cron import schedule_of
from scheduler_core.errors import InputError
from scheduler_core.replay.queues import closed, opened
from tests.builders import Object, conf, node, queue
from tests.scheduler_core.test_situations import Watched, cluster, fails, submit, task

PLAIN = conf("enqueue, allocate", ["predicates", "proportion"])


def phases(seen: Watched, name: str = "j") -> list[str]:
    return [phase for _, phase in seen.turns(name)]


# phases and counts


def test_killed_pods_count_as_terminating_until_the_podgroup_is_enqueued() -> None:
    one = task("w", 1, cpu=8, seconds=50, codes="1,0")
    blocks = submit(10, "blocks", task("w", 1, cpu=8, seconds=50))
    seen = Watched(cluster(submit(0, "j", one, policies=fails("RestartJob")), blocks))
    assert seen.turns("j")[2:4] == [(51, "Restarting"), (102, "Pending")], "its only pod is gone at 51"


def test_finished_pods_of_a_resumed_job_count_once_its_podgroup_is_enqueued() -> None:
    tasks = [task("a", 1, seconds=10), task("b", 1, seconds=100)]
    events = [submit(0, "j", *tasks, minAvailable=1), {"at": 20, "abort": {"jobs": ["j"]}}]
    seen = Watched(cluster(*events, {"at": 60.5, "resume": {"jobs": ["j"]}}))
    assert seen.turns("j")[-4:-1] == [(60.5, "Restarting"), (60.5, "Pending"), (61, "Running")]


def test_container_that_waits_for_its_restart_counts_as_running() -> None:
    seen = Watched(cluster(submit(0, "j", task("w", 2, seconds=5, codes="1,0", restartPolicy="OnFailure"))))
    assert phases(seen) == ["Pending", "Running", "Completed"]


def test_pods_of_a_lost_node_count_as_running_until_they_are_deleted() -> None:
    nodes = [node(name, cpu=2, memory="8Gi") for name in ("n0", "n1")]
    gang = submit(0, "j", task("w", 4, seconds=5000))
    seen = Watched(cluster(gang, {"at": 100, "lose": {"nodes": ["n1"]}}, nodes=nodes, horizon=600))
    assert phases(seen) == ["Pending", "Running"]


def test_partition_without_pods_is_not_restarted() -> None:
    one = task("w", 2, cpu=1, policies=[{"event": "PodEvicted", "action": "RestartPartition"}])
    one["partitionPolicy"] = {"totalPartitions": 2, "partitionSize": 1}
    nodes = [node("n0", cpu=1, memory="8Gi"), node("n1", cpu=1, memory="8Gi")]
    drained = {"at": 50, "drain": {"nodes": ["n1"]}}
    seen = Watched(cluster(submit(0, "j", one, minAvailable=1), drained, nodes=nodes, conf=PLAIN))
    assert phases(seen) == ["Pending", "Running"]
    assert seen.result["vcjobs"]["default/j"]["retries"] == 0


# events


def test_task_fails_when_the_kubelet_restarts_a_container_not_when_it_crashes() -> None:
    policies = [{"event": "TaskFailed", "action": "TerminateJob"}]
    crashes = task("w", 1, seconds=5, codes="1", restartPolicy="OnFailure", maxRetry=1, policies=policies)
    seen = Watched(cluster(submit(0, "j", crashes)))
    assert seen.turns("j")[2] == (16, "Terminating"), "it crashed at 6 and was restarted 10 s later"


def test_restarts_of_deleted_pods_do_not_fail_their_task() -> None:
    policies = [{"event": "TaskFailed", "action": "RestartJob"}]
    crashes = task(
        "w", 1, seconds=5, codes="1,1,0", restartPolicy="OnFailure", maxRetry=2, policies=policies, grace=0
    )
    seen = Watched(cluster(submit(0, "j", crashes)))
    assert phases(seen).count("Restarting") == 1, "the second pod succeeds at its first run"


def test_policy_for_unknown_does_not_match_after_a_restart() -> None:
    """The event belongs to no version of the Job, so it is outdated once all pods were killed."""
    policies = [{"event": "Unknown", "action": "AbortJob"}, *fails("RestartJob")]
    nodes = [node("n0", cpu=3, memory="8Gi"), node("n1", cpu=1, memory="8Gi")]
    again = submit(0, "j", task("w", 4, seconds=30, codes="1,0", grace=0), policies=policies)
    drained = {"at": 50, "drain": {"nodes": ["n1"]}}
    seen = Watched(cluster(again, drained, nodes=nodes))
    assert "Unknown" in {groups.get("j") for groups in seen.phases.values()}
    assert "Aborting" not in phases(seen)


def test_delayed_action_is_executed_even_if_another_one_of_the_pod_replaced_it() -> None:
    policies = [
        {"event": "PodEvicted", "action": "TerminateJob", "timeout": "20s"},
        {"event": "PodPending", "action": "RestartJob", "timeout": "60s"},
    ]
    nodes = [node("n0", cpu=1, memory="8Gi"), node("n1", cpu=1, memory="8Gi")]
    gang = submit(0, "j", task("w", 2, grace=0), policies=policies)
    seen = Watched(cluster(gang, {"at": 50, "drain": {"nodes": ["n1"]}}, nodes=nodes))
    assert (70, "Terminating") in seen.turns("j")


def test_lost_pod_whose_policy_waits_returns_with_the_next_change_of_a_pod() -> None:
    policies = [{"event": "PodEvicted", "action": "RestartJob", "timeout": "100s"}]
    nodes = [node("n0", cpu=3, memory="8Gi"), node("n1", cpu=1, memory="8Gi")]
    job = submit(0, "j", task("w", 4, grace=0), policies=policies, minAvailable=1)
    late = [{"at": 50, "drain": {"nodes": [name]}} for name in ("n1",)]
    spare = {"at": 55, "create": {"nodes": [node("n2", cpu=16, memory="8Gi")]}}
    seen = Watched(cluster(job, *late, spare, {"at": 70, "drain": {"nodes": ["n0"]}}, nodes=nodes))
    assert [time for time, _ in seen.decided("bind")][4:5] == [71], "nothing happens to its pods before 70"


# closed queues


def closing(*more: Object, seconds: float = 20) -> Watched:
    """Return a Job that restarts after its queue was closed."""
    restarts = submit(
        0, "j", task("w", 1, seconds=seconds, codes="1,0"), queue="b", policies=fails("RestartJob")
    )
    return Watched(cluster(restarts, {"at": 10, "close": {"queues": ["b"]}}, *more))


def test_job_that_restarts_in_a_closed_queue_gets_no_podgroup_and_is_terminated() -> None:
    turns = closing().turns("j")
    assert [phase for _, phase in turns][2:] == ["Restarting", "Pending", "Terminating", "Terminated"]
    assert turns[-1][0] == pytest.approx(21 + 0.005 * (2**15 - 1))


def test_job_that_restarts_in_a_closed_queue_continues_if_the_queue_is_opened_in_time() -> None:
    seen = closing({"at": 60, "open": {"queues": ["b"]}})
    assert phases(seen)[-1] == "Completed"
    submitted = [time for time, key in seen.decided("enqueue") if time > 1]
    assert submitted == [62], "the refused request is repeated at 61.955"


# queues


def states(queues: list[Object]) -> dict[str, str]:
    return {entry["metadata"]["name"]: entry["status"]["state"] for entry in queues}


def tree() -> list[Object]:
    """Return open queues: a, with a1, with a11."""
    made = [queue("root"), queue("a", parent="root"), queue("a1", parent="a"), queue("a11", parent="a1")]
    for entry in made:
        entry["status"] = {"state": "Open"}
    return made


def test_queue_below_a_closed_parent_cannot_be_opened() -> None:
    after = opened(closed(tree(), ["a"], []), ["a1"])
    assert states(after) == {"root": "Open", "a": "Closed", "a1": "Closed", "a11": "Closed"}


def test_opening_a_queue_leaves_queues_below_a_closed_child_closed() -> None:
    own = closed(tree(), ["a1"], [])
    after = opened(closed(own, ["a"], []), ["a"])
    assert states(after) == {"root": "Open", "a": "Open", "a1": "Closed", "a11": "Closed"}


def test_closing_root_changes_nothing() -> None:
    assert closed(tree(), ["root"], []) == tree()


def test_queue_of_a_namespace_is_noted() -> None:
    document = cluster(submit(0, "j", task("w", 1)))
    annotations = {"scheduling.volcano.sh/queue-name": "default"}
    named = {**document, "namespaces": [{"metadata": {"name": "default", "annotations": annotations}}]}
    notes = [
        sum("/podgroups/mutate" in one for one in Watched(given).result["notes"])
        for given in (document, named)
    ]
    assert notes == [0, 1]


# CronJobs


def crons(seconds: float = 70, horizon: float = 400, job: Object | None = None, **spec: Any) -> Watched:
    """Return a CronJob that is due every minute from 60 on."""
    template = {"spec": {"schedulerName": "volcano", "tasks": [task("w", 1, seconds=seconds)], **(job or {})}}
    cron = {"metadata": {"name": "c"}, "spec": {"schedule": "* * * * *", "jobTemplate": template, **spec}}
    return Watched(cluster({"at": 1, "create": {"cronjobs": [cron]}}, horizon=horizon))


def submissions(seen: Watched) -> list[float]:
    return [entry["submitted"] for _, entry in sorted(seen.result["vcjobs"].items())]


def test_starting_deadline_skips_a_job_that_would_start_late() -> None:
    late = crons(concurrencyPolicy="Forbid")
    assert submissions(late) == [60.1, 132, 203, 274, 345]
    strict = crons(concurrencyPolicy="Forbid", startingDeadlineSeconds=10)
    assert submissions(strict) == [60.1, 180.1, 300.1]


def test_aborted_job_of_a_cronjob_is_still_active() -> None:
    aborts = {"policies": [{"event": "PodPending", "action": "AbortJob", "timeout": "5s"}]}
    template = {"spec": {"schedulerName": "volcano", "tasks": [task("w", 1, cpu=20)], **aborts}}
    spec = {"schedule": "* * * * *", "jobTemplate": template, "concurrencyPolicy": "Forbid"}
    cron = {"at": 1, "create": {"cronjobs": [{"metadata": {"name": "c"}, "spec": spec}]}}
    seen = Watched(cluster(cron, conf=conf("allocate", ["predicates"])))
    (only,) = seen.result["vcjobs"].values()
    assert only["phases"][-1][1] == "Aborted"


def test_terminated_jobs_of_a_cronjob_do_not_count_in_its_history() -> None:
    fails_at_once = [task("w", 1, seconds=5, codes="1")]
    failed = crons(job={"tasks": fails_at_once})
    ended = crons(job={"tasks": fails_at_once, "policies": fails("TerminateJob")})
    kept = [
        sum("deleted" not in entry for entry in seen.result["vcjobs"].values()) for seen in (failed, ended)
    ]
    assert kept == [1, 6]


def test_interval_counts_from_the_creation_and_then_from_the_last_due_time() -> None:
    assert submissions(crons(seconds=5, schedule="@every 1m30s")) == [91.1, 181.1, 271.1, 361.1]
    held_back = crons(seconds=100, schedule="@every 1m30s", concurrencyPolicy="Forbid", horizon=450)
    assert submissions(held_back) == [91.1, 193, 294, 395]


def test_interval_longer_than_the_starting_deadline_is_never_due() -> None:
    assert "vcjobs" not in crons(schedule="@every 1m30s", startingDeadlineSeconds=30).result
    due = crons(seconds=5, schedule="@every 2m", startingDeadlineSeconds=200)
    assert submissions(due) == [121.1, 241.1, 361.1]


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        ("@every 5", "no duration such as 1h30m"),
        ("@every 10s", "due twice in a minute"),
        ("@Daily", "has 1 fields, not 5"),
        ("CRON_TZ=UTC 0 0 * * *", "names a time zone, which the webhook refuses"),
    ],
)
def test_schedule_that_volcano_refuses_is_an_error(schedule: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        schedule_of(schedule)


@pytest.mark.parametrize(
    ("zone", "refused"), [("UTC", False), ("Europe/Berlin", True), ("", True), (None, False)]
)
def test_cronjob_in_a_time_zone_that_the_images_lack_is_an_error(zone: str | None, refused: bool) -> None:
    spec: Object = {"schedule": "0 8 * * *", "timeZone": zone, "jobTemplate": {"spec": {}}}
    event = {"at": 1, "create": {"cronjobs": [{"metadata": {"name": "c"}, "spec": spec}]}}
    found = [one for one in problems(cluster(event)) if one.rule == "time.zone"]
    assert [one.path for one in found] == (
        ["replay.events[0].create.cronjobs[0].spec.timeZone"] if refused else []
    )
    assert all(one.fix == "leave it out, and write the schedule in UTC" for one in found)


def test_day_of_week_7_is_no_day() -> None:
    with pytest.raises(InputError, match="day of week '7' is not between 0 and 6"):
        schedule_of("0 0 * * 7")


def test_step_over_all_days_restricts_the_day() -> None:
    friday = 1_767_312_000.0  # 2026-01-02
    assert schedule_of("0 0 */10 * 1").after(friday) == friday + 3 * 86400, "Monday, the 5th"
    assert schedule_of("0 0 */1 * 1").after(friday) == friday + 3 * 86400
    assert schedule_of("0 0 */10 * *").after(friday) == friday + 9 * 86400, "the 11th"


# JobFlows


def flow(*steps: Object, **templates: Object) -> Object:
    made = [
        {"metadata": {"name": name}, "spec": {"schedulerName": "volcano", "tasks": [one]}}
        for name, one in templates.items()
    ]
    flow = {"metadata": {"name": "f"}, "spec": {"flows": list(steps), "jobRetainPolicy": "retain"}}
    return {"at": 0, "create": {"jobtemplates": made, "jobflows": [flow]}}


def after(name: str, *targets: str) -> Object:
    return {"name": name, "dependsOn": {"targets": list(targets)}} if targets else {"name": name}


def test_failed_jobflow_creates_no_more_jobs() -> None:
    bad, good = task("w", 1, seconds=5, codes="1"), task("w", 1, seconds=20)
    steps = [after("bad"), after("good"), after("next", "good")]
    seen = Watched(cluster(flow(*steps, bad=bad, good=good, next=good)))
    assert sorted(seen.result["vcjobs"]) == ["default/f-bad", "default/f-good"]


def test_missing_template_stops_the_steps_after_it() -> None:
    seen = Watched(
        cluster(flow(after("a"), after("none"), after("b"), a=task("w", 1, seconds=5), b=task("w", 1)))
    )
    assert sorted(seen.result["vcjobs"]) == ["default/f-a"]


def test_jobflow_creates_a_deleted_job_again_when_another_one_changes() -> None:
    steps = flow(after("a"), after("b"), a=task("w", 1, seconds=5), b=task("w", 1, seconds=50))
    seen = Watched(cluster(steps, {"at": 20, "delete": {"jobs": ["f-a"]}}))
    assert seen.result["vcjobs"]["default/f-a"]["submitted"] == 51
