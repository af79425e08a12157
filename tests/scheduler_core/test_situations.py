"""Well-known situations between sessions; the expected outcomes follow from the rules.

The rules: a Job's pods are created once its PodGroup is Inqueue; a session a second.
"""

from __future__ import annotations

import json
from cProfile import Profile
from statistics import median
from typing import Any

import pytest

from scheduler_core.replay import Replay, replay_document
from scheduler_core.replay.census import Census
from scheduler_core.replay.job_states import JobState
from scheduler_core.validate import Inspection
from tests.builders import Object, amounts, conf, job, node, pod, podgroup, queue, scenario
from tests.scheduler_core.replays import small_replay

GANG = conf("enqueue, allocate", ["gang"], ["predicates", "proportion"])
RECLAIMS = conf("enqueue, allocate, reclaim", ["predicates", "capacity"], ["gang"])
RESTARTS = [{"event": "PodEvicted", "action": "RestartJob"}]


def task(
    name: str, replicas: int, *, seconds: float | None = None, codes: str = "", grace: int = 30, **fields: Any
) -> Object:
    """Return a task of pods that run for some seconds and end with these exit codes."""
    known = ("minAvailable", "dependsOn", "policies", "maxRetry")
    extra = {key: fields.pop(key) for key in known if key in fields}
    policy = {key: fields.pop(key) for key in ("restartPolicy",) if key in fields}
    annotations = {"queuecast/run-seconds": str(seconds)} if seconds else {}
    if codes:
        annotations["queuecast/exit-code"] = codes
    containers = [{"name": "main", "resources": {"requests": amounts(**(fields or {"cpu": 1}))}}]
    spec = {"containers": containers, "terminationGracePeriodSeconds": grace, **policy}
    return {
        "name": name,
        "replicas": replicas,
        "template": {"metadata": {"annotations": annotations}, "spec": spec},
        **extra,
    }


def submit(at: float, name: str, *tasks: Object, **spec: Any) -> Object:
    """Return the event of a Job that is submitted."""
    made = job(name, tasks=tasks, **spec)
    del made["metadata"]["creationTimestamp"]
    return {"at": at, "create": {"jobs": [made]}}


def cluster(
    *events: Object, cpu: int = 8, horizon: float = 300, conf: Object = GANG, **fields: Any
) -> Object:
    timeline = {
        name: fields.pop(name)
        for name in (
            "create_rate",
            "terminal_phase_first",
            "targeted_restart_keeps_podgroup",
            "evicted",
            "pull_seconds",
            "start_delay_seconds",
            "checkpoint_seconds",
            "restore_seconds",
        )
        if name in fields
    }
    return scenario(
        **{"nodes": [node("n", cpu=cpu, memory="64Gi")], "queues": [queue("default"), queue("b")], **fields},
        conf=conf,
        replay={"period_seconds": 1, "horizon_seconds": horizon, "events": list(events), **timeline},
    )


def reclaiming(*events: Object, **fields: Any) -> Object:
    """Return a cluster of 4 cores, all deserved by queue b, which reclaims them from the others."""
    queues = [queue("default", deserved={"cpu": 0}), queue("b", deserved={"cpu": 4})]
    return cluster(*events, cpu=4, conf=RECLAIMS, queues=queues, **fields)


class Watched:
    """A finished replay, with the phases of PodGroups and Jobs after each session.

    After each session the sums over the pods of every Job equal those of all its pods counted anew.
    """

    def __init__(self, document: Object) -> None:
        self.replay = Replay(document, Inspection(document))
        self.phases: dict[float, dict[str, str]] = {}
        self.groups: dict[float, dict[str, Object]] = {}
        for step in self.replay.steps():
            for state in self.replay._course.states.states.values():
                self._count_anew(state)
            groups = self.replay.world.podgroups
            self.groups[step.time] = dict(groups)
            self.phases[step.time] = {
                key.partition("/")[2].split("-")[0]: group["status"]["phase"] for key, group in groups.items()
            }
        self.result = self.replay.run()

    def _count_anew(self, state: JobState) -> None:
        world = self.replay.world
        kept, anew = (
            census.renew(world, state.creating) for census in (state.last_census, Census(state.places))
        )
        requested = len(state.creating)
        assert (kept.counts(requested), kept.ready) == (anew.counts(requested), anew.ready)
        assert (kept.going.keys(), kept.paused.keys()) == (anew.going.keys(), anew.paused.keys())
        for name in ("absent", "succeeded", "restarts"):
            sums, right = (
                {key: value for key, value in getattr(one, name).items() if value} for one in (kept, anew)
            )
            assert sums == right, name

    def decided(self, op: str) -> list[tuple[float, str]]:
        """Return time and pod, or PodGroup, of each decision of a kind."""
        return [
            (entry["t"], decision.get("pod") or decision["job"])
            for entry in self.result["log"]
            for decision in entry["decisions"]
            if decision["op"] == op
        ]

    def phase(self, name: str, time: float) -> str:
        """Return the phase of a Job's PodGroup after the last session up to a time."""
        return self.phases[max(seen for seen in self.phases if seen <= time)][name]

    def turns(self, name: str) -> list[tuple[float, str]]:
        """Return the phases of a Job with their times."""
        return [(time, phase) for time, phase in self.result["vcjobs"][f"default/{name}"]["phases"]]

    def life(self, name: str) -> Object:
        """Return the result's entry for a Job's PodGroup."""
        life: Object = self.result["jobs"][f"default/{name}-default-{name}"]
        return life


# 1 to 4: from submission to the first bind


def test_1_job_is_enqueued_in_the_first_session_and_bound_in_the_second() -> None:
    seen = Watched(cluster(submit(0, "j", task("w", 4))))
    assert seen.decided("enqueue") == [(0, "default/j-default-j")]
    assert [time for time, _ in seen.decided("bind")] == [1] * 4
    assert [seen.phases[time]["j"] for time in (0, 1, 2)] == ["Inqueue", "Inqueue", "Running"]


def test_2_pods_are_created_after_inqueue_even_without_action_enqueue() -> None:
    seen = Watched(cluster(submit(0, "j", task("w", 4)), conf=conf("allocate", ["gang"], ["predicates"])))
    assert seen.phases[0]["j"] == "Inqueue"
    assert [time for time, _ in seen.decided("bind")] == [1] * 4


def test_3_deployment_pods_are_enqueued_and_bound_in_one_session() -> None:
    plain = [pod(f"web-{number}", cpu=1) for number in range(3)]
    for one in plain:
        one["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "uid": "rs", "controller": True}]
    seen = Watched(cluster({"at": 0, "create": {"pods": plain}}, controllers=True, evicted="owner"))
    assert seen.decided("enqueue") == [(0, "default/podgroup-rs")]
    assert [time for time, _ in seen.decided("bind")] == [0] * 3


def test_4_gang_of_a_thousand_waits_until_all_its_pods_are_created() -> None:
    document = cluster(submit(0, "j", task("w", 1000, cpu="1m")), horizon=25)
    document["nodes"] = [node("n", cpu=8, memory="64Gi", pods=2000)]
    assert {time for time, _ in Watched(document).decided("bind")} == {19}
    document["replay"]["create_rate"] = 0
    assert {time for time, _ in Watched(document).decided("bind")} == {1}


def test_the_work_of_counting_a_gang_grows_with_its_pods_not_with_their_square() -> None:
    def calls(pods: int) -> int:
        document = cluster(submit(0, "j", task("w", pods, cpu="1m", seconds=20)), horizon=60)
        document["nodes"] = [node("n", cpu=8, memory="64Gi", pods=2000)]
        with Profile() as profile:
            assert replay_document(document)["vcjobs"]["default/j"]["phases"][-1][1] == "Completed"
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(400) < 2.5 * calls(200)


# 5 to 7: phases of PodGroups


def test_5_enqueued_job_waits_inqueue_and_its_reservation_counts() -> None:
    seen = Watched(
        cluster(
            submit(0, "blocks", task("w", 2, cpu=3, seconds=3500)),
            submit(10, "waits", task("w", 1, cpu=2)),
            submit(20, "late", task("w", 1, cpu=2)),
            nodes=[node(name, cpu=4, memory="8Gi") for name in ("n0", "n1")],
            horizon=3600,
        )
    )
    waiting = {seen.phase("waits", time) for time in seen.phases if 10 <= time < 3501}
    assert waiting == {"Inqueue"}, "two cores are idle, but not on one node"
    assert seen.phase("late", 3500) == "Pending", "the two cores are reserved"
    assert [(time, key.partition("-")[0]) for time, key in seen.decided("bind") if time > 1] == [
        (3501, "default/waits"),
        (3502, "default/late"),
    ]


def lost_member(*gang: str) -> Watched:
    """Return a gang of four that loses a pod when a node is drained at 50; a new node is added at 100."""
    nodes = [node("n0", cpu=3, memory="8Gi"), node("n1", cpu=1, memory="8Gi")]
    return Watched(
        cluster(
            submit(0, "j", task("w", 4)),
            {"at": 50, "drain": {"nodes": ["n1"]}},
            {"at": 100, "create": {"nodes": [node("n2", cpu=16, memory="8Gi")]}},
            nodes=nodes,
            conf=conf("enqueue, allocate", *([list(gang)] if gang else []), ["predicates", "proportion"]),
        )
    )


def test_6_gang_that_lost_a_pod_is_unknown_and_replaces_it_without_enqueue() -> None:
    seen = lost_member("gang")
    assert [seen.phase("j", time) for time in (60, 99)] == ["Unknown", "Unknown"]
    assert [time for time, _ in seen.decided("bind")] == [1] * 4 + [100], "its pod has existed since 80"
    assert [seen.phase("j", time) for time in (100, 102)] == ["Pending", "Running"], (
        "Pending at the end of that session"
    )


def test_6_job_that_lost_a_pod_without_gang_is_pending_and_enqueued_again() -> None:
    seen = lost_member()
    assert [seen.phase("j", time) for time in (60, 99)] == ["Pending", "Pending"]
    assert [time for time, _ in seen.decided("enqueue")] == [0, 100]
    assert [time for time, _ in seen.decided("bind")] == [1] * 4 + [101], (
        "its pod is created after it is enqueued"
    )


def test_7_evicted_single_pod_job_is_enqueued_again_before_its_pod_is_gone() -> None:
    seen = Watched(
        reclaiming(
            submit(0, "victim", task("w", 1, cpu=4)),
            submit(50, "heir", task("w", 1, cpu=4, seconds=20), queue="b"),
        )
    )
    (evicted, name) = seen.decided("evict")[0]
    assert name == "default/victim-w-0"
    admitted = [time for time, key in seen.decided("enqueue") if "victim" in key and time > 0]
    assert evicted < admitted[0] < evicted + 30
    bound = [time for time, key in seen.decided("bind") if "heir" in key]
    assert bound[0] == evicted + 30, "the pod is Failed then, which frees the node before the object is gone"


# 8 to 13: policies


def storms(count: int, seconds: float = 20) -> list[Object]:
    """Return jobs of queue b that arrive one after the other and reclaim everything."""
    return [
        submit(100 * (number + 1), f"b{number}", task("w", 1, cpu=4, seconds=seconds), queue="b")
        for number in range(count)
    ]


def test_8_third_eviction_fails_a_job_that_restarts_on_eviction() -> None:
    victim = submit(0, "victim", task("w", 2, cpu=2, minAvailable=1), minAvailable=1, policies=RESTARTS)
    seen = Watched(reclaiming(victim, *storms(4), horizon=600))
    phases = [phase for _, phase in seen.turns("victim")]
    assert phases.count("Restarting") == 3
    assert phases[-1] == "Failed"
    assert seen.result["vcjobs"]["default/victim"]["retries"] == 3
    created = {
        group["metadata"]["creationTimestamp"]
        for groups in seen.groups.values()
        for key, group in groups.items()
        if key == "default/victim-default-victim"
    }
    assert len(created) == 3, "each restart creates a new PodGroup, except for the third"


def test_8_restarted_job_is_served_after_a_job_submitted_before_the_restart() -> None:
    seen = Watched(
        cluster(
            submit(0, "first", task("w", 1, cpu=8, seconds=50, codes="1,0"), policies=fails("RestartJob")),
            submit(10, "second", task("w", 1, cpu=8, seconds=50)),
        )
    )
    order = [name.split("-")[0] for _, name in seen.decided("bind")]
    assert order == ["default/first", "default/second", "default/first"]


def fails(action: str) -> list[Object]:
    return [{"event": "PodFailed", "action": action}]


@pytest.mark.parametrize(("terminal", "phase"), [(True, "Terminated"), (False, "Pending")])
def test_9_evicted_pod_fails_before_deletion_since_kubernetes_1_27(terminal: bool, phase: str) -> None:
    policies = [*fails("TerminateJob"), *RESTARTS]
    victim = submit(0, "victim", task("w", 1, cpu=4), policies=policies)
    heir = submit(50, "heir", task("w", 1, cpu=4), queue="b")
    seen = Watched(reclaiming(victim, heir, terminal_phase_first=terminal))
    assert seen.turns("victim")[-1][1] == phase


def targeted(**fields: Any) -> Watched:
    """Return a Job of two tasks that fills the cluster; one task restarts itself at 50."""
    return Watched(
        cluster(
            submit(
                0,
                "j",
                task("ps", 2, cpu=2),
                task("w", 2, cpu=2, seconds=50, codes="1,0", policies=fails("RestartTask")),
            ),
            cpu=8,
            **fields,
        )
    )


def test_10_targeted_restart_enqueues_the_whole_job_again_while_other_tasks_run() -> None:
    seen = targeted(conf=conf("enqueue, allocate", ["overcommit", "predicates", "proportion"]))
    assert [phase for _, phase in seen.turns("j")] == ["Pending", "Running", "Restarting"]
    assert seen.phase("j", 250) == "Pending", (
        "8 more cores are not enqueued in addition to the 4 that still run"
    )
    assert sorted(key for key, life in seen.replay.world.lives.items() if life.runs) == [
        "default/j-ps-0",
        "default/j-ps-1",
    ]


def test_10_podgroup_of_a_targeted_restart_is_unknown_with_gang_so_pods_return() -> None:
    seen = targeted()
    assert seen.phase("j", 60) == "Unknown", "some of its pods run, and gang finds fewer than minMember"
    assert [time for time, name in seen.decided("bind") if "-w-" in name] == [1, 1, 82, 82]
    assert len(seen.decided("enqueue")) == 1


def test_10_targeted_restart_that_keeps_the_podgroup_restarts_only_the_task() -> None:
    seen = targeted(conf=conf("allocate", ["predicates"]), targeted_restart_keeps_podgroup=True)
    assert seen.turns("j")[-1][1] == "Running"
    assert (
        len(
            {
                group["metadata"]["creationTimestamp"]
                for groups in seen.groups.values()
                for group in groups.values()
            }
        )
        == 1
    )


def test_11_completed_workers_complete_a_job_whose_servers_never_end() -> None:
    policies = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    tasks = [task("ps", 1), task("w", 2, seconds=40, policies=policies)]
    seen = Watched(cluster(submit(0, "j", *tasks)))
    assert seen.turns("j") == [(0, "Pending"), (1, "Running"), (41, "Completing"), (71, "Completed")]
    assert not [key for key in seen.replay.world.lives if "-ps-" in key]


ENDINGS = {
    "minSuccess of two is reached": (
        [task("a", 2, seconds=10), task("b", 2)],
        {"minSuccess": 2},
        "Completed",
    ),
    "task below its minimum fails the job": (
        [task("a", 2, seconds=10), task("b", 2, seconds=10, codes="1")],
        {},
        "Failed",
    ),
    "enough successes without task minimums": (
        [
            task("a", 2, seconds=10),
            task("b", 2, seconds=10, codes="1"),
        ],
        {"minAvailable": 2},
        "Completed",
    ),
    "all failed": ([task("a", 2, seconds=10, codes="1")], {}, "Failed"),
}


@pytest.mark.parametrize(("tasks", "spec", "phase"), ENDINGS.values(), ids=ENDINGS.keys())
def test_12_final_phase_of_a_job(tasks: list[Object], spec: Object, phase: str) -> None:
    seen = Watched(cluster(submit(0, "j", *tasks, **spec)))
    assert seen.turns("j")[-1][1] == phase
    assert "j" not in seen.phases[max(seen.phases)], "its PodGroup is deleted immediately"


def test_13_pod_pending_policy_aborts_the_job_after_its_timeout() -> None:
    policies = [{"event": "PodPending", "action": "AbortJob", "timeout": "10m"}]
    waits = submit(5, "waits", task("w", 1, cpu=8), policies=policies)
    starts = submit(0, "starts", task("w", 1, cpu=4), policies=policies)
    admits = conf("enqueue, allocate", ["gang"], ["predicates"])
    seen = Watched(cluster(starts, waits, horizon=700, conf=admits))
    assert seen.turns("starts")[-1][1] == "Running", "the timeout is cancelled once the pod runs"
    assert seen.turns("waits")[-2:] == [(605.05, "Aborting"), (605.05, "Aborted")]


# 14 to 16: the clock


def test_14_sla_enqueues_a_job_at_its_deadline() -> None:
    sla = conf("enqueue, allocate", ["gang", "sla"], ["overcommit", "predicates", "proportion"])
    late = submit(0.5, "late", task("w", 1, cpu=20))
    late["create"]["jobs"][0]["metadata"]["annotations"] = {"sla-waiting-time": "10m"}
    seen = Watched(cluster(late, horizon=700, conf=sla))
    assert seen.life("late")["enqueued"] == 600, "10 minutes after its timestamp, which has whole seconds"


def test_14_restarting_a_job_starts_its_sla_deadline_again() -> None:
    sla = conf("enqueue, allocate", ["gang", "sla"], ["overcommit", "predicates", "proportion"])
    late = submit(0, "late", task("w", 1, cpu=6, seconds=50, codes="1,0"), policies=fails("RestartJob"))
    rival = submit(20, "rival", task("w", 1, cpu=6, seconds=2000))
    for event in (late, rival):
        event["create"]["jobs"][0]["metadata"]["annotations"] = {"sla-waiting-time": "10m"}
    seen = Watched(cluster(late, rival, horizon=900, conf=sla))
    assert seen.decided("enqueue") == [
        (0, "default/late-default-late"),
        (51, "default/rival-default-rival"),
        (651, "default/late-default-late"),
    ], "the PodGroup of the restarted Job was created at 51"


def test_15_pod_is_evicted_once_its_cooldown_ends() -> None:
    cdp = conf("enqueue, allocate, reclaim", ["cdp", "predicates", "capacity"], ["gang"])
    victim = submit(0, "victim", task("w", 1, cpu=4))
    victim["create"]["jobs"][0]["metadata"]["annotations"] = {"volcano.sh/cooldown-time": "5m"}
    heir = submit(20, "heir", task("w", 1, cpu=4), queue="b")
    seen = Watched(reclaiming(victim, heir, horizon=400) | {"scheduler_conf": cdp})
    assert seen.decided("evict")[0] == (301, "default/victim-w-0"), "bound at 1, protected for 300 s"


def test_16_tdm_evicts_pods_of_a_zone_a_minute_apart_after_midnight() -> None:
    arguments = {"tdm.revocable-zone.night": "22:00-06:00", "tdm.evict.period": "1m"}
    tdm = conf("enqueue, allocate, shuffle", ["gang"], [("tdm", {"arguments": arguments}), "predicates"])
    marks = {"volcano.sh/preemptable": "true", "volcano.sh/revocable-zone": "*"}
    batch = [
        pod(f"b-{number}", group="b", node="n", cpu=1, annotations=marks, preemptable=True)
        for number in range(2)
    ]
    document = scenario(
        nodes=[node("n", cpu=8, memory="8Gi", labels={"volcano.sh/revocable-zone": "night"})],
        podgroups=[podgroup("b", phase="Running")],
        pods=batch,
        conf=tdm,
        now="2026-01-01T23:59:00Z",
        replay={"period_seconds": 1, "horizon_seconds": 7500, "evicted": "delete"},
    )
    evicted = [
        entry["t"]
        for entry in replay_document(document)["log"]
        for decision in entry["decisions"]
        if decision["op"] == "evict"
    ]
    assert evicted == [60, 120], "inactive from midnight on, one pod per minute"


# 17 to 20


def test_17_closing_queue_rejects_jobs_and_is_closed_after_its_last_podgroup() -> None:
    seen = Watched(
        cluster(
            submit(0, "early", task("w", 1, seconds=60)),
            {"at": 30, "close": {"queues": ["default"]}},
            submit(40, "late", task("w", 1, seconds=60)),
        )
    )
    assert seen.turns("early")[-1] == (61, "Completed")
    assert "not Open" in seen.result["vcjobs"]["default/late"]["refused"]
    (mine,) = [q for q in seen.replay.world.cluster.queues if q["metadata"]["name"] == "default"]
    assert mine["status"]["state"] == "Closed"


def test_18_job_due_while_another_is_active_starts_when_that_one_has_finished() -> None:
    template = {"spec": {"schedulerName": "volcano", "tasks": [task("w", 1, seconds=90)]}}
    cron = {
        "metadata": {"name": "c"},
        "spec": {"schedule": "* * * * *", "concurrencyPolicy": "Forbid", "jobTemplate": template},
    }
    seen = Watched(cluster({"at": 1, "create": {"cronjobs": [cron]}}, horizon=500))
    submitted = [entry["submitted"] for entry in seen.result["vcjobs"].values()]
    assert submitted == [60.1, 152, 243, 334, 425]
    minutes = sorted(int(key.rpartition("-")[2]) for key in seen.result["vcjobs"])
    assert [minute - minutes[0] for minute in minutes] == [0, 1, 3, 4, 6], "the last due minute names a Job"


def test_19_gang_on_a_lost_node_does_not_recover_while_the_node_object_exists() -> None:
    nodes = [node(name, cpu=2, memory="8Gi") for name in ("n0", "n1")]
    events = [submit(0, "j", task("w", 4, seconds=5000)), {"at": 100, "lose": {"nodes": ["n1"]}}]
    spare = {"at": 200, "create": {"nodes": [node("n2", cpu=2, memory="8Gi")]}}
    seen = Watched(cluster(*events, spare, nodes=nodes, horizon=2000))
    infos = seen.replay.world.cluster.pods
    deleted = {
        pod["metadata"].get("deletionTimestamp") for pod in infos.values() if pod["spec"]["nodeName"] == "n1"
    }
    assert deleted == {"2026-01-01T12:07:20Z"}, "340 s after the loss"
    assert len(seen.decided("bind")) == 4
    assert seen.life("j")["finished"] is None
    healed = Watched(
        cluster(*events, spare, {"at": 600, "delete": {"nodes": ["n1"]}}, nodes=nodes, horizon=8000)
    )
    assert [time for time, _ in healed.decided("bind")] == [1] * 4 + [601] * 2
    life = healed.life("j")
    assert life["finished"] == 601 + 5000, "the two new pods start from zero"
    assert life["lost_seconds"] == 2 * 99 + 2 * 501, (
        "their lost work, and the time that the other pods waited"
    )


@pytest.mark.parametrize("seed", range(3))
def test_20_halving_the_period_never_lengthens_the_median_wait_by_more_than_a_period(seed: int) -> None:
    waits = []
    for period in (4, 2):
        result = replay_document(small_replay(seed, period_seconds=period, evicted="resume"))
        lives = [life for life in result["jobs"].values() if life["started"] is not None]
        waits.append(median(life["started"] - life["submitted"] for life in lives))
    assert waits[1] <= waits[0] + 4


def test_20_job_replay_gives_the_same_bytes_without_skipping_and_when_frozen() -> None:
    victim = submit(0, "victim", task("w", 2, cpu=2, minAvailable=1), minAvailable=1, policies=RESTARTS)
    document = reclaiming(victim, *storms(3), horizon=500, checkpoint_seconds=7)
    whole = Replay(document, Inspection(document)).run()
    assert json.dumps(whole) == json.dumps(Replay(document, Inspection(document), skips=False).run())
    for stop in (2, 5, 9, 14, 20, 31):
        replay = Replay(document, Inspection(document))
        for number, _ in enumerate(replay.steps(), start=1):
            if number == stop:
                break
        frozen = json.loads(json.dumps(replay.freeze()))
        assert Replay(document, Inspection(document), frozen=frozen).run() == whole
