"""The order of resources in the columns of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from scheduler_core.resource import CPU, MEMORY, Resource


class ResourceAxis:
    """The fixed order of resources in every array of a snapshot: cpu, memory, then the scalars by name."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        scalars = {name for resource in resources for name in resource.scalars or ()}
        self.names: tuple[str, ...] = (CPU, MEMORY, *sorted(scalars))
        self.index = {name: position for position, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def amounts(self, resource: Resource) -> list[float]:
        """Return the amounts of a vector in the order of the axis.

        A scalar that the vector lacks is 0; one that the axis lacks is left out.
        """
        scalars = resource.scalars or {}
        return [resource.cpu, resource.memory, *[scalars.get(name, 0.0) for name in self.names[2:]]]

    def row(self, resource: Resource) -> NDArray[np.float64]:
        """Return the same as an array, (R,)."""
        return np.array(self.amounts(resource), dtype=np.float64)

    def rows(self, resources: Iterable[Resource]) -> NDArray[np.float64]:
        """Return the amounts of several vectors, (K, R)."""
        amounts = [self.amounts(resource) for resource in resources]
        return np.array(amounts, dtype=np.float64).reshape(len(amounts), len(self.names))

    def named(self, resource: Resource) -> list[int]:
        """Return the positions that a vector names: cpu, memory and its scalars, whatever their amount."""
        scalars = resource.scalars or {}
        return [0, 1, *[self.index[name] for name in self.names[2:] if name in scalars]]

    def resource(self, amounts: Sequence[float]) -> Resource:
        """Return a row's amounts as a vector that names every scalar of the axis."""
        return Resource(amounts[0], amounts[1], dict(zip(self.names[2:], amounts[2:], strict=True)))
