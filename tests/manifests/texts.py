"""Texts shared by the tests of the reader."""

QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: training
spec:
  weight: 4
  capability:
    cpu: "8"
    nvidia.com/gpu: 2
"""

CLUSTER = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: n1
  status:
    allocatable: {cpu: "8", memory: 32Gi}
- apiVersion: scheduling.volcano.sh/v1beta1
  kind: Queue
  metadata:
    name: default
  spec:
    weight: 1
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: volcano-scheduler-configmap
  namespace: volcano-system
data:
  volcano-scheduler.conf: |
    # the order matters
    actions: "enqueue, allocate"
    tiers:
    - plugins:
      - name: gang
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: train
  namespace: team
spec:
  minMember: 2
  queue: default
"""
