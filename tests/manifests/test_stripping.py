"""Secrets are removed without changing the decisions of the scheduler."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manifests import stripped
from manifests.stripping import (
    CONDITION,
    CONTAINER,
    CONTAINER_STATUS,
    JOB_SPEC,
    JOB_TASK,
    POD_SPEC,
    POD_STATUS,
    SETTINGS,
    UNREAD_LISTS,
    is_kept_annotation,
    stripped_object,
)
from scheduler_core import encode, simulate_document
from scheduler_core.model.unmodelled import UNREAD_LISTS as NOTED_LISTS
from scheduler_core.validate import pod_fields, scenario
from tests.trials import trials

SECRET = "hunter2-planted"
CASES = sorted((Path(__file__).parents[1] / "fidelity" / "cases").glob("*.jsonl.gz"))
SMALL_FIRST = sorted(CASES, key=lambda path: (path.name.startswith("big"), path.name))
"""Files of large clusters come last."""

ENVIRONMENT = [{"name": "PASSWORD", "value": SECRET}, {"name": "TOKEN", "valueFrom": {"key": SECRET}}]
PLANTED_CONTAINER: dict[str, Any] = {
    "env": ENVIRONMENT,
    "envFrom": [{"secretRef": {"name": SECRET}}],
    "args": [f"--password={SECRET}"],
    "command": ["sh", "-c", SECRET],
    "lifecycle": {"preStop": {"exec": {"command": [SECRET]}}},
    "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": SECRET}]}},
    "volumeMounts": [{"name": "v", "mountPath": SECRET}],
    "tomorrow": SECRET,
}
PLANTED_VOLUMES: list[dict[str, Any]] = [
    {"name": "a", "secret": {"secretName": SECRET}},
    {"name": "b", "projected": {"sources": [{"secret": {"name": SECRET}}]}},
    {"name": "c", "csi": {"driver": "d", "volumeAttributes": {"password": SECRET}}},
    {"name": "d", "configMap": {"name": SECRET}},
]
PLANTED_ANNOTATIONS = {
    "kubectl.kubernetes.io/last-applied-configuration": json.dumps({"env": ENVIRONMENT}),
    "team.example.com/token": SECRET,
}
MANAGED = [{"manager": SECRET, "fieldsV1": {"f:env": {SECRET: {}}}}]


def planted(document: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario with a secret in every place where clusters may have one."""
    full = copy.deepcopy(document)
    for name, things in full.items():
        for thing in things if isinstance(things, list) else ():
            if not isinstance(thing, dict) or "metadata" not in thing:
                continue
            plant_metadata(thing["metadata"])
            if name == "pods":
                plant_spec(thing.setdefault("spec", {}))
                thing.setdefault("status", {}).update(message=SECRET, hostIP=SECRET)
                for status in thing["status"].get("containerStatuses", ()):
                    status["lastState"] = {"terminated": {"message": SECRET}}
            if name == "jobs":
                plant_job(thing)
    return full | {"secrets": [{"data": SECRET}]}


def plant_metadata(metadata: dict[str, Any]) -> None:
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **PLANTED_ANNOTATIONS}
    metadata["managedFields"] = MANAGED


def plant_spec(spec: dict[str, Any]) -> None:
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        container.update(PLANTED_CONTAINER)
    spec.update(
        ephemeralContainers=[PLANTED_CONTAINER],
        imagePullSecrets=[{"name": SECRET}],
        hostAliases=[{"hostnames": [SECRET]}],
    )
    if spec.get("volumes"):  # a pod without volumes is told apart from one with some
        spec["volumes"] = [*spec["volumes"], *PLANTED_VOLUMES]


def plant_job(job: dict[str, Any]) -> None:
    spec = job.setdefault("spec", {})
    spec["plugins"] = {"ssh": [f"--ssh-private-key={SECRET}"]}
    spec["volumes"] = [{"volumeClaim": {"tomorrow": SECRET}}]
    job.setdefault("status", {})["controlledResources"] = {"plugin-ssh": SECRET}
    for task in spec.get("tasks") or ():
        template = task.setdefault("template", {})
        plant_metadata(template.setdefault("metadata", {}))
        plant_spec(template.setdefault("spec", {}))


def first_of(path: Path, count: int = 2) -> list[dict[str, Any]]:
    with gzip.open(path) as lines:
        return [json.loads(line)["scenario"] for _, line in zip(range(count), lines, strict=False)]


@pytest.mark.parametrize("path", trials(SMALL_FIRST, always=6), ids=lambda path: path.name.partition(".")[0])
def test_planted_secrets_are_stripped_without_changing_decisions(path: Path) -> None:
    for document in first_of(path):
        full = planted(document)
        bare = stripped(full)
        assert SECRET not in json.dumps(bare)
        answer = encode(simulate_document(document))
        assert encode(simulate_document(full)) == answer, "the planted parts do not affect decisions"
        assert encode(simulate_document(dict(bare))) == answer


def test_a_document_without_secrets_is_returned_as_the_same_object() -> None:
    for path in CASES:
        for document in first_of(path):
            bare = stripped(document)
            assert stripped(bare) is bare


def test_stripping_keeps_every_field_that_the_core_reads() -> None:
    core = {
        POD_SPEC: pod_fields.POD_SPEC_SCALARS.keys() | pod_fields.POD_SPEC_PARTS.keys(),
        SETTINGS: scenario.SETTINGS.keys() | {"scheduler_conf"},
        UNREAD_LISTS: NOTED_LISTS.keys(),
    }
    for kept, read in core.items():
        assert set(kept) >= set(read)
    whole = {
        "pods": [
            {
                "metadata": {"name": "p"},
                "spec": {
                    "containers": [dict.fromkeys(CONTAINER, "x")],
                    "volumes": [
                        {"name": "v", "persistentVolumeClaim": {"claimName": "c"}},
                        {"name": "w", "ephemeral": {"volumeClaimTemplate": {}}},
                    ],
                },
                "status": {
                    **dict.fromkeys(POD_STATUS, "x"),
                    "conditions": [dict.fromkeys(CONDITION, "x")],
                    "containerStatuses": [dict.fromkeys(CONTAINER_STATUS, "x")],
                },
            }
        ],
        "jobs": [
            {
                "metadata": {"name": "j"},
                "spec": {**dict.fromkeys(JOB_SPEC, "x"), "tasks": [dict.fromkeys(JOB_TASK, "x")]},
                "status": {"state": {"phase": "Running"}, "version": 1, "retryCount": 0},
            }
        ],
    }
    assert stripped(whole) is whole


def test_volume_claims_are_kept_without_their_contents() -> None:
    volumes = [
        {"name": "v", "persistentVolumeClaim": {"claimName": "c", "tomorrow": SECRET}},
        {"name": "w", "ephemeral": {"volumeClaimTemplate": {"metadata": {"annotations": {"a": SECRET}}}}},
    ]
    bare = stripped({"pods": [{"metadata": {"name": "p"}, "spec": {"volumes": volumes}}]})
    assert bare["pods"][0]["spec"]["volumes"] == [
        {"name": "v", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "w", "ephemeral": {"volumeClaimTemplate": {}}},
    ]


def test_volumes_of_a_job_keep_only_their_claim() -> None:
    volumes = [{"mountPath": SECRET, "volumeClaimName": "c"}, {"volumeClaim": {"storageClassName": SECRET}}]
    bare = stripped({"jobs": [{"metadata": {"name": "j"}, "spec": {"volumes": volumes}}]})
    assert bare["jobs"][0]["spec"]["volumes"] == [{"volumeClaimName": "c"}, {}]


def test_templates_in_the_events_of_a_replay_keep_no_secrets() -> None:
    task = {"name": "w", "template": {"spec": {"containers": [{"name": "c", "env": [{"value": SECRET}]}]}}}
    metadata = {"name": "x", "annotations": {"a.example/token": SECRET, "queuecast/run-seconds": "5"}}
    template = {"metadata": metadata, "spec": {"tasks": [task], "plugins": {"env": [SECRET]}}}
    cron = {"metadata": metadata, "spec": {"schedule": "* * * * *", "jobTemplate": template}}
    flow = {"metadata": metadata, "spec": {"flows": [{"name": "x"}]}}
    created = {"cronjobs": [cron], "jobflows": [flow], "jobtemplates": [template], "jobs": [template]}
    bare = stripped({"replay": {"horizon_seconds": 9, "events": [{"at": 1, "create": created}]}})
    assert SECRET not in json.dumps(bare)
    event = bare["replay"]["events"][0]["create"]
    kept = {"metadata": {"name": "x", "annotations": {"queuecast/run-seconds": "5"}}}
    containers = [{"name": "c"}]
    spec = {"tasks": [{"name": "w", "template": {"spec": {"containers": containers}}}]}
    assert event["jobtemplates"] == event["jobs"] == [{**kept, "spec": spec}]
    assert event["cronjobs"][0]["spec"] == {"schedule": "* * * * *", "jobTemplate": {**kept, "spec": spec}}
    assert event["jobflows"] == [{**kept, "spec": flow["spec"]}]


def test_annotations_can_be_kept_by_name_or_prefix() -> None:
    annotations = {"a.example/x": "1", "b.example/y": "2", "b.example/z": "3", "c.example/w": "4"}
    queue = {"metadata": {"name": "q", "annotations": annotations}}
    bare = stripped({"queues": [queue]}, keep=("a.example/x", "b.example/*"))
    assert list(bare["queues"][0]["metadata"]["annotations"]) == ["a.example/x", "b.example/y", "b.example/z"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
NAMES = st.sampled_from(["metadata", "spec", "status", "annotations", "tasks", "containers", "volumes"])
PARTS = st.dictionaries(NAMES, JSON, max_size=3)
OBJECTS = st.dictionaries(
    NAMES, st.dictionaries(NAMES, st.lists(PARTS, max_size=3) | JSON, max_size=3) | JSON, max_size=3
)


@given(
    st.dictionaries(
        st.sampled_from(["pods", "jobs", "queues", "nodes"]), st.lists(OBJECTS, max_size=3) | JSON
    )
)
def test_stripping_any_document_is_idempotent_and_copies_it(document: dict[str, Any]) -> None:
    before = copy.deepcopy(document)
    bare = stripped(document)
    assert document == before, "the argument is not modified"
    assert stripped(bare) is bare


@given(st.text(max_size=20))
def test_only_annotations_of_volcano_are_kept_by_default(name: str) -> None:
    domain, _, _ = name.partition("/")
    own = domain == "volcano.sh" or domain.endswith(".volcano.sh")
    assert is_kept_annotation(name) == own
    assert not is_kept_annotation(f"example.com/{name}")


def test_objects_created_by_replay_events_are_stripped() -> None:
    secret = {"name": "main", "env": [{"name": "TOKEN", "value": "planted"}]}
    pod = {
        "metadata": {
            "name": "p",
            "annotations": {"queuecast/run-seconds": "5", "a.example/token": "planted"},
        },
        "spec": {"containers": [secret], "terminationGracePeriodSeconds": 7},
    }
    event = {"at": 1, "create": {"pods": [pod]}}
    bare = stripped({"replay": {"horizon_seconds": 9, "events": [event]}})
    assert "planted" not in str(bare)
    assert bare["replay"]["events"][0]["create"]["pods"][0] == {
        "metadata": {"name": "p", "annotations": {"queuecast/run-seconds": "5"}},
        "spec": {"containers": [{"name": "main"}], "terminationGracePeriodSeconds": 7},
    }


def test_fields_that_a_forecast_reads_are_kept_without_messages() -> None:
    ended = {"exitCode": 0, "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:01:00Z"}
    state = {"terminated": {**ended, "message": "token=secret", "reason": "Completed"}}
    pod = {
        "metadata": {
            "name": "p",
            "annotations": {"queuecast/exit-code": "1,0", "queuecast/checkpoint-seconds": "60"},
        },
        "status": {"containerStatuses": [{"name": "main", "ready": False, "state": state, "image": "i"}]},
    }
    bare = stripped_object("pods", pod)
    assert bare["metadata"] == pod["metadata"]
    assert bare["status"]["containerStatuses"] == [
        {"name": "main", "ready": False, "state": {"terminated": ended}}
    ]
    policies = [{"event": "PodEvicted", "action": "RestartJob", "timeout": "10s"}]
    job = {
        "metadata": {"name": "j"},
        "spec": {"minSuccess": 1, "policies": policies, "tasks": [{"policies": policies}]},
    }
    assert stripped_object("jobs", job) == job
