"""Objects that an import leaves out, and what results lack without them."""

from collections.abc import Iterator, Mapping

from planning.rows import Problem

_VOLUMES = "Volume binding, zones and limits rule out no node."
_DEVICES = "Dynamically allocated devices rule out no node and count against no queue."
_READ_BY_THE_SCHEDULER = {
    ("topology.volcano.sh", "HyperNode"): "Nodes are not grouped by network topology.",
    ("nodeinfo.volcano.sh", "Numatopology"): "CPUs are not assigned to NUMA nodes.",
    ("shard.volcano.sh", "NodeShard"): "This scheduler may use every node.",
    ("", "PersistentVolumeClaim"): _VOLUMES,
    ("", "PersistentVolume"): _VOLUMES,
    ("storage.k8s.io", "StorageClass"): _VOLUMES,
    ("storage.k8s.io", "CSINode"): _VOLUMES,
    ("storage.k8s.io", "CSIStorageCapacity"): _VOLUMES,
    ("resource.k8s.io", "ResourceClaim"): _DEVICES,
    ("resource.k8s.io", "ResourceSlice"): _DEVICES,
    ("resource.k8s.io", "DeviceClass"): _DEVICES,
}
"""By group and kind, what a result does not take into account."""
_UNREAD = "the scheduler does not read this kind."
_SPREADS = "the scheduler reads this kind only to spread pods over nodes (nodeorder), which is left out."
_CREATES_JOBS = f"{_UNREAD} The jobs that it creates later are in a forecast only if its trace contains them."
_REMARKS = {
    ("batch.volcano.sh", "CronJob"): _CREATES_JOBS,
    ("batch", "CronJob"): _CREATES_JOBS,
    ("flow.volcano.sh", "JobFlow"): _CREATES_JOBS,
    ("", "LimitRange"): f"{_UNREAD} Pods that are created later lack the requests that it would set.",
    ("", "Service"): _SPREADS,
    ("", "ReplicationController"): _SPREADS,
    ("apps", "ReplicaSet"): _SPREADS,
    ("apps", "StatefulSet"): _SPREADS,
}


def left_out(kinds: Mapping[str, int]) -> Iterator[Problem]:
    """Report the objects that an import leaves out, given by apiVersion and kind."""
    for name, count in kinds.items():
        version, _, kind = name.rpartition(" ")
        key = version.rpartition("/")[0], kind
        if key in _READ_BY_THE_SCHEDULER:
            meaning = f"the scheduler reads this kind, but it is not modelled. {_READ_BY_THE_SCHEDULER[key]}"
            rule, severity = "kind.not_modelled", "warning"
        else:
            rule, meaning, severity = "kind.left_out", _REMARKS.get(key, _UNREAD), "remark"
        yield Problem(rule, severity, f"{name}: {count} ignored; {meaning}", actual=count)
