"""A copy of a node is a healthy node of its shape."""

from manifests.pools import node_like
from tests.builders import node

KEPT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
OF_ITS_STATE = [
    {"key": f"node.kubernetes.io/{what}", "effect": "NoExecute"}
    for what in ("not-ready", "unreachable", "unschedulable", "disk-pressure")
]


def test_a_copy_of_a_lost_or_cordoned_node_is_ready() -> None:
    lost = node("gpu-7", cpu=8, labels={"zone": "a"}, taints=[KEPT, *OF_ITS_STATE], unschedulable=True)
    lost["status"]["conditions"] = [
        {"type": "DiskPressure", "status": "True"},
        {"type": "Ready", "status": "Unknown"},
    ]
    copy = node_like(lost, "gpu-8")
    assert copy["spec"] == {"taints": [KEPT]}
    assert copy["status"]["conditions"] == [{"type": "Ready", "status": "True"}]
    assert copy["status"]["allocatable"] == lost["status"]["allocatable"]
    assert copy["metadata"]["labels"] == {"kubernetes.io/hostname": "gpu-8", "zone": "a"}
    assert lost["spec"]["unschedulable"], "the node itself is unchanged"
