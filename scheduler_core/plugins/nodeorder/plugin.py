"""Registration of nodeorder's callbacks, and the batch scores of one session.

Source: volcano ``pkg/scheduler/plugins/nodeorder/nodeorder.go``,
``plugins/util/nodescore/score_helper.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.conf import Arguments
from scheduler_core.errors import ScoreError
from scheduler_core.framework.class_scores import ClassAnswers
from scheduler_core.framework.living_view import nothing_to_renew
from scheduler_core.framework.plugin_fn import shape_only
from scheduler_core.framework.session import Session
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.labels import SelectorError
from scheduler_core.model.node_affinity import preference, preferred_terms
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_affinity import has_pod_affinity, prefers_pods
from scheduler_core.model.selector_classes import Counts
from scheduler_core.model.taints import SOFT_EFFECT, tolerations_of
from scheduler_core.plugins.nodeorder.images import ImageTable
from scheduler_core.plugins.nodeorder.inter_pod import affinity_score
from scheduler_core.plugins.nodeorder.normalise import (
    BEST,
    min_max_normalized,
    normalized,
    normalized_reversed,
)
from scheduler_core.plugins.nodeorder.resources import ResourceScores, ResourceWeights
from scheduler_core.plugins.nodeorder.spread import spread_score, spreads
from scheduler_core.release import Rule

NAME = "nodeorder"

Nodes = NDArray[np.intp]


class Weights(NamedTuple):
    """The weight of each score; 0 turns it off."""

    least_requested: int
    most_requested: int
    balanced_resource: int
    node_affinity: int
    pod_affinity: int
    taint_toleration: int
    image_locality: int
    pod_topology_spread: int

    @classmethod
    def read(cls, arguments: Arguments) -> Weights:
        """Return the weights of the plugin's arguments."""
        return cls(
            least_requested=arguments.get_int("leastrequested.weight", 1),
            most_requested=arguments.get_int("mostrequested.weight", 0),
            balanced_resource=arguments.get_int("balancedresource.weight", 1),
            node_affinity=arguments.get_int("nodeaffinity.weight", 2),
            pod_affinity=arguments.get_int("podaffinity.weight", 2),
            taint_toleration=arguments.get_int("tainttoleration.weight", 3),
            image_locality=arguments.get_int("imagelocality.weight", 1),
            pod_topology_spread=arguments.get_int("podtopologyspread.weight", 2),
        )


def open_session(session: Session, arguments: Arguments) -> None:
    """Register the callbacks of nodeorder."""
    scores = NodeOrder(session, Weights.read(arguments))
    session.registry.add_batch_node_order(
        NAME,
        scores.batch_score,
        class_key=scores.is_local if scores.k8s_nodes.services else shape_only,
        cacheable_per_node=scores.is_local,
        static_for_class=scores.is_local,
        score_node=scores.score_node,
        score_classes=scores.score_classes,
    )
    session.renewals[NAME] = nothing_to_renew
    images = ImageTable(session.nodes)
    weight = scores.weights.image_locality
    if weight != 0 and not images.is_empty():
        session.registry.add_node_order(
            NAME,
            lambda task, nodes: images.score(task.shape)[nodes] * float(weight),
            class_key=shape_only,
            score_node=lambda task: (images.score(task.shape) * float(weight)).tolist().__getitem__,
            score_classes=lambda tasks: images.of_shapes([task.shape for task in tasks], float(weight)),
        )


class NodeOrder:
    """The batch scores of one session."""

    def __init__(self, session: Session, weights: Weights) -> None:
        self.k8s_nodes = session.k8s_nodes
        self.weights = weights
        self.resources = ResourceScores(
            self.k8s_nodes,
            ResourceWeights(weights.least_requested, weights.most_requested, weights.balanced_resource),
            rates_improvement=session.release.follows(Rule.BALANCE_IMPROVEMENT),
        )
        self._taints_matter = weights.taint_toleration != 0 and self.k8s_nodes.taints.has(SOFT_EFFECT)
        self._intolerable: dict[int, Counts | None] = {}
        self._preference: dict[int, Counts] = {}
        self.in_batch = session.release.follows(Rule.NODE_SCORES_IN_BATCH)
        self._related = bool(self.k8s_nodes.pods.relating.any())
        self._local: dict[int, bool] = {}

    def is_local(self, task: TaskInfo) -> bool:
        """Return whether a node's score depends only on that node and the pod's shape."""
        if self.k8s_nodes.services:
            return self._has_local_score(task)
        local = self._local.get(task.shape.number)
        if local is None:
            local = self._local[task.shape.number] = self._has_local_score(task)
        return local

    def _has_local_score(self, task: TaskInfo) -> bool:
        return (
            self._intolerable_taints(task.shape) is None
            and not self._has_preferred_nodes(task)
            and not self._relates_to_pods(task)
            and not self._spreads(task)
        )

    def batch_score(self, task: TaskInfo, candidates: Nodes) -> NDArray[np.float64]:
        """Return the sum of the weighted scores, (K,) whole numbers.

        Raises
        ------
        ScoreError
            If the pod has a preference that cannot be parsed.

        """
        if self.is_local(task):
            local = self.resources.score(task.shape, candidates)
            return (local + self.weights.taint_toleration * BEST).astype(np.float64)
        try:
            relative = self._relative(task, candidates)
        except SelectorError as error:
            raise ScoreError(str(error)) from error
        return (self.resources.cached_score(task.shape, candidates) + relative).astype(np.float64)

    def score_node(self, task: TaskInfo) -> Callable[[int], float] | None:
        """Return a function that scores one node; None if nodes are compared with each other."""
        if not self.is_local(task):
            return None
        return self.resources.score_node(task.shape, self.weights.taint_toleration * BEST)

    def score_classes(self, tasks: Sequence[TaskInfo]) -> ClassAnswers:
        """Return the scores of several classes of tasks, none of which compares nodes with each other."""
        shapes = [task.shape for task in tasks]
        return self.resources.of_shapes(shapes, rest=self.weights.taint_toleration * BEST)

    def _relative(self, task: TaskInfo, nodes: Nodes) -> Counts:
        """Return the scores that compare the candidates with each other."""
        weights = self.weights
        intolerable = self._intolerable_taints(task.shape)
        total = np.full(len(nodes), weights.taint_toleration * BEST, dtype=np.int64)
        if intolerable is not None:
            total = weights.taint_toleration * normalized_reversed(intolerable[nodes])
        if self._has_preferred_nodes(task):
            preferred = self._preferred_nodes(task.shape)[nodes]
            total += weights.node_affinity * (normalized(preferred) if self.in_batch else preferred)
        if self._relates_to_pods(task):
            total += weights.pod_affinity * min_max_normalized(affinity_score(self.k8s_nodes, task, nodes))
        if self._spreads(task):
            total += weights.pod_topology_spread * spread_score(
                self.k8s_nodes, task, nodes, counts_hosts=self.in_batch
            )
        return total

    def _intolerable_taints(self, shape: PodShape) -> Counts | None:
        """Return how many PreferNoSchedule taints of each node a shape does not tolerate, (N,); None: 0."""
        if not self._taints_matter:
            return None
        if shape.number not in self._intolerable:
            intolerable = self.k8s_nodes.taints.intolerable(tolerations_of(shape.spec))
            self._intolerable[shape.number] = intolerable if intolerable.any() else None
        return self._intolerable[shape.number]

    def _has_preferred_nodes(self, task: TaskInfo) -> bool:
        return self.weights.node_affinity != 0 and bool(task.shape.fact("preferred_terms", preferred_terms))

    def _preferred_nodes(self, shape: PodShape) -> Counts:
        if shape.number not in self._preference:
            self._preference[shape.number] = preference(shape.spec, self.k8s_nodes.labels)
        return self._preference[shape.number]

    def _relates_to_pods(self, task: TaskInfo) -> bool:
        """Return whether preferred or malformed terms about pods affect a pod's scores."""
        if self.weights.pod_affinity == 0 or not self.k8s_nodes.pods.selecting:
            return False
        if self.k8s_nodes.pods.preferring and (self._related or prefers_pods(task.shape.spec)):
            return True
        return has_pod_affinity(task.shape.spec) and bool(self.k8s_nodes.pods.kind_of(task).affinity.problem)

    def _spreads(self, task: TaskInfo) -> bool:
        return self.weights.pod_topology_spread != 0 and spreads(self.k8s_nodes, task)
