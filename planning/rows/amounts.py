"""Types of amounts and quantities."""

from collections.abc import Mapping

Quantities = Mapping[str, str]
"""Resource name to quantity as people write it: ``{"cpu": "8", "memory": "32Gi"}``."""
Amounts = Mapping[str, float | None]
"""Resource name to amount in the scheduler's units; None: unlimited, a missing name: not set."""
