"""The image locality score.

Source: kube-scheduler ``plugins/imagelocality/image_locality.go`` at 1.35.3; volcano
``pkg/scheduler/cache/event_handlers.go`` at v1.15.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.framework.class_scores import ClassAnswers
from scheduler_core.model.node import NodeTable
from scheduler_core.model.pod import PodShape
from scheduler_core.model.selector_classes import Counts
from scheduler_core.plugins.nodeorder.normalise import BEST

MIB = 2**20
SMALLEST = 23 * MIB
LARGEST_PER_CONTAINER = 1000 * MIB


class ImageTable:
    """The images on all nodes.

    An image scores its size (on the first node that names it) times the fraction of nodes known to have it
    when the node was read. Nodes are read by name, so the first node with an image counts only itself.
    """

    def __init__(self, nodes: NodeTable) -> None:
        self.nodes = nodes
        self._part: dict[str, dict[int, int]] = {}
        self._scores: dict[int, Counts] = {}
        sizes: dict[str, int] = {}
        for number, node in enumerate(nodes.objects):
            for image in (node.get("status") or {}).get("images") or ():
                for name in image.get("names") or ():
                    size = sizes.setdefault(name, int(image.get("sizeBytes") or 0))
                    parts = self._part.setdefault(name, {})
                    holders = len(parts) + (number not in parts)
                    parts[number] = int(size * (holders / len(nodes)))

    def is_empty(self) -> bool:
        """Return whether no node reports any image."""
        return not self._part

    def score(self, shape: PodShape) -> Counts:
        """Return the score of every node for a shape, (N,)."""
        score = self._scores.get(shape.number)
        if score is None:
            score = self._scores[shape.number] = self._score(shape.fact("images", images_of))
        return score

    def of_shapes(self, shapes: Sequence[PodShape], weight: float) -> ClassAnswers:
        """Return the weighted scores for several shapes."""
        scores = np.array([self.score(shape) for shape in shapes]) * weight
        fixed = [row.tobytes() for row in np.ascontiguousarray(scores.T)]
        return ClassAnswers(lambda nodes: scores[:, nodes].T, fixed=fixed)

    def _score(self, images: list[str]) -> Counts:
        total = np.zeros(len(self.nodes), dtype=np.int64)
        for image in images:
            for number, part in self._part.get(image, {}).items():
                total[number] += part
        largest = LARGEST_PER_CONTAINER * max(len(images), 1)
        return BEST * (np.clip(total, SMALLEST, largest) - SMALLEST) // (largest - SMALLEST)


def images_of(spec: Mapping[str, Any]) -> list[str]:
    """Return the images of a pod's containers, init containers first, each with its tag."""
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    return [tagged(str(container.get("image") or "")) for container in containers]


def tagged(image: str) -> str:
    """Return the name of an image with its tag.

    Examples
    --------
    >>> tagged("registry:5000/app"), tagged("app:1")
    ('registry:5000/app:latest', 'app:1')

    """
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
