"""Everything that the core does not model is noted, object by object."""

from __future__ import annotations

from scheduler_core import simulate_document
from scheduler_core.lint import review
from scheduler_core.replay import replay_document
from tests.builders import Object, job, node, pod, podgroup, pods, queue, scenario


def notes(**fields: object) -> list[str]:
    result = simulate_document(scenario(nodes=[node("n1", cpu=4)], **fields))  # type: ignore[arg-type]
    actual: list[str] = result["notes"]
    return [note for note in actual if note.startswith("Not modelled: ")]


def remarks(**fields: object) -> list[tuple[str, str]]:
    """Return path and message of the lint's remarks about the same objects."""
    document = scenario(nodes=[node("n1", cpu=4)], **fields)  # type: ignore[arg-type]
    return [(found.path, found.message) for found in review(document) if found.rule == "plan.not_modelled"]


VOLUMES: Object = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
CLAIMS: Object = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}


def test_pods_with_volumes_and_resource_claims_are_noted() -> None:
    pods = [
        pod("stored", spec=VOLUMES),
        pod("plain", spec={"volumes": [{"name": "scratch", "emptyDir": {}}]}),
        pod("claimed", spec=CLAIMS),
        pod("claimed-too", spec=CLAIMS),
    ]
    assert notes(pods=pods) == [
        "Not modelled: volumes of pod default/stored. Volume binding, zones and limits rule out no node.",
        "Not modelled: resource claims of pods default/claimed, default/claimed-too. Dynamically allocated"
        " devices rule out no node and count against no queue.",
    ]
    assert remarks(pods=pods) == [
        (
            "pods[0].spec.volumes",
            "pod default/stored: volumes are not modelled. Volume binding, zones and limits rule out no"
            " node.",
        ),
        (
            "pods[2].spec.resourceClaims",
            "pods default/claimed, default/claimed-too: resource claims are not modelled. Dynamically"
            " allocated devices rule out no node and count against no queue.",
        ),
    ]


def test_unmodelled_fields_of_a_pod_template_are_noted_before_pods_exist() -> None:
    template = {"spec": {"containers": [{"name": "c", "image": "i"}], **CLAIMS}}
    job: Object = {
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {
            "minAvailable": 1,
            "queue": "default",
            "networkTopology": {"mode": "hard"},
            "tasks": [{"name": "w", "replicas": 1, "template": template}],
        },
    }
    assert [path for path, _ in remarks(jobs=[job])] == ["jobs[0].spec.tasks", "jobs[0].spec.networkTopology"]
    assert [note.partition(".")[0] for note in notes(jobs=[job])] == [
        "Not modelled: resource claims of pod ml/train-w-0",
        "Not modelled: networkTopology of PodGroup ml/train-ml-train",
    ]


def test_volumes_of_a_vcjob_are_noted() -> None:
    """Its controller mounts them into every pod."""
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    job: Object = {
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {
            "minAvailable": 1,
            "queue": "default",
            "volumes": [{"mountPath": "/data", "volumeClaimName": "data"}],
            "tasks": [{"name": "w", "replicas": 1, "template": template}],
        },
    }
    group = podgroup("train-train", namespace="ml", phase="Inqueue")
    meaning = "Volume binding, zones and limits rule out no node."
    assert notes(jobs=[job], podgroups=[group]) == [f"Not modelled: volumes of pod ml/train-w-0. {meaning}"]
    says = f"job ml/train: volumes are not modelled. {meaning}"
    assert remarks(jobs=[job], podgroups=[group]) == [("jobs[0].spec.volumes", says)]


def test_podgroups_with_network_topology_and_subgroups_are_noted() -> None:
    group = podgroup("train")
    group["spec"] |= {"networkTopology": {"mode": "hard"}, "subGroupPolicy": [{"name": "worker"}]}
    assert notes(podgroups=[group]) == [
        "Not modelled: networkTopology of PodGroup default/train. All nodes count as one topology domain.",
        "Not modelled: subGroupPolicy of PodGroup default/train. Only the gang as a whole is counted.",
    ]
    assert [path for path, _ in remarks(podgroups=[group])] == [
        "podgroups[0].spec.networkTopology",
        "podgroups[0].spec.subGroupPolicy",
    ]


def test_queues_with_device_class_quotas_are_noted() -> None:
    quoted = queue("gpus", capability={"deviceclass/gpu.example.com": "4"})
    other = queue("memory", guarantee={"memory.deviceclass/gpu.example.com": "80Gi"})
    queues = [other, quoted, queue("plain", capability={"cpu": 4})]
    assert notes(queues=queues) == [
        "Not modelled: device class quotas of queues gpus, memory. No resource claim counts against them."
    ]
    assert [path for path, _ in remarks(queues=queues)] == ["queues[0].spec"]


def test_unread_lists_are_noted() -> None:
    assert notes(hypernodes={"s0": {}}) == [
        "Not modelled: hypernodes. Nodes are not grouped by network topology."
    ]
    assert remarks(hypernodes={"s0": {}}) == [
        ("hypernodes", "hypernodes is not modelled. Nodes are not grouped by network topology.")
    ]


def test_notes_list_unmodelled_features_before_assumptions() -> None:
    document = scenario(
        nodes=[node("n1", cpu=4)], queues=[queue("a", weight=0)], pods=[pod("p", spec=CLAIMS)]
    )
    result = simulate_document(document)["notes"]
    kinds = [note.partition(":")[0] for note in result]
    assert kinds == sorted(kinds, key=["Not modelled", "Assumed"].index)
    assert {"Not modelled", "Assumed"} == set(kinds)


def test_node_sampling_of_volcano_is_noted() -> None:
    few = simulate_document(scenario(nodes=[node(f"n{place}", cpu=4) for place in range(100)]))
    many = simulate_document(scenario(nodes=[node(f"n{place}", cpu=4) for place in range(300)]))
    assert not [note for note in few["notes"] if "nodes" in note]
    (sampled,) = [note for note in many["notes"] if "nodes" in note]
    assert "any of the 300 nodes" in sampled
    assert "found 144 feasible ones" in sampled


def test_assumptions_between_cycles_are_noted() -> None:
    document = scenario(nodes=[node("n1", cpu=4)])
    between = [note for note in simulate_document({**document, "cycles": 2})["notes"] if "cycle" in note]
    assert between == [
        "Assumed: 1 s between cycles. Placed pods run from the next cycle on and do not finish; evicted pods"
        " are gone at the next cycle and come back as pending pods; no other pod is created."
    ]
    longer = {**document, "cycles": 3, "cycle_seconds": 30, "termination_cycles": 2, "evicted": "delete"}
    (result,) = [note for note in simulate_document(longer)["notes"] if "cycle" in note]
    assert "30 s between cycles" in result
    assert "terminate for 2 cycles and are not created again" in result


def test_fully_modelled_scenario_has_no_notes() -> None:
    sound: Object = {"podgroups": [podgroup("train")], "pods": [pod("train-0", group="train", cpu=1)]}
    assert (notes(**sound), remarks(**sound)) == ([], [])


def test_nodes_without_pods_of_daemonsets_are_noted_where_others_have_some() -> None:
    (agent,) = pods("agent", 1, node="old", phase="Running", cpu="100m")
    agent["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "agent", "uid": "u"}]
    other = node("other", labels={"pool": "other"})
    document = scenario(nodes=[node("old"), other], pods=[agent])
    [note] = [note for note in simulate_document(document)["notes"] if "DaemonSets" in note]
    assert note.endswith("more fits a new node here than in the cluster: node other has none.")
    assert not [note for note in simulate_document({**document, "pods": []})["notes"] if "DaemonSets" in note]
    joins = {"at": 5, "create": {"nodes": [node("later", labels={"pool": "later"})]}}
    replayed = replay_document({**document, "replay": {"horizon_seconds": 9, "events": [joins]}})
    assert any(note.endswith("than in the cluster: node later has none.") for note in replayed["notes"])


def test_quotas_of_namespaces_with_jobs_are_noted() -> None:
    task = {
        "name": "main",
        "replicas": 1,
        "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}},
    }
    jobs = [job("train", namespace="ml", tasks=[task])]
    quotas = [
        {"metadata": {"name": "q", "namespace": namespace}, "spec": {"hard": {"pods": "3"}}}
        for namespace in ("ml", "web")
    ]
    assert notes(jobs=jobs, resourcequotas=quotas) == [
        "Not modelled: ResourceQuotas when pods of Jobs are created. The API server refuses pods above those"
        " of namespace ml."
    ]
    assert notes(jobs=jobs) == notes(resourcequotas=quotas) == []


def test_waiting_pods_of_other_schedulers_are_noted() -> None:
    others = [pod(name, spec={"schedulerName": "default-scheduler"}) for name in ("a", "b")]
    running = pod("c", spec={"schedulerName": "default-scheduler"}, node="n1", phase="Running")
    assert notes(pods=[*others, running, pod("ours")]) == [
        "Not modelled: other schedulers. 2 waiting pods of default-scheduler get no node here."
    ]
    assert notes(pods=[running, pod("ours")]) == []
