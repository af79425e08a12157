"""Which column of an array is which resource?"""

from __future__ import annotations

from collections.abc import Iterable

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

    def row(self, resource: Resource) -> NDArray[np.float64]:
        """Return the amounts of a vector, (R,).

        A scalar that it lacks is 0, one that the axis lacks is left out.
        """
        row = np.zeros(len(self.names))
        row[0] = resource.cpu
        row[1] = resource.memory
        for name, amount in (resource.scalars or {}).items():
            if name in self.index:
                row[self.index[name]] = amount
        return row

    def named(self, resource: Resource) -> NDArray[np.bool_]:
        """Return which positions a vector names, (R,): cpu, memory and its scalars, whatever their amount."""
        scalars = resource.scalars or {}
        return np.array([name in (CPU, MEMORY) or name in scalars for name in self.names], dtype=np.bool_)

    def resource(self, row: NDArray[np.float64]) -> Resource:
        """Return a row as a vector that names every scalar of the axis."""
        amounts = row.tolist()
        return Resource(amounts[0], amounts[1], dict(zip(self.names[2:], amounts[2:], strict=True)))
