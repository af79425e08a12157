"""What did a run decide, and why? In parts that are each read only by the pages that need them."""

import json
import zlib
from typing import Any

from django.db import models

from planner.accounts.models.workspace import Identified
from planner.runs.models.outcome import part_of_outcome


class Trace(Identified):
    """One part of an outcome, compressed."""

    DECISIONS = "decisions"
    PODS = "pods"
    NODES = "nodes"
    REQUESTS = "requests"
    SESSIONS = "sessions"
    DESERVED = "deserved"
    PENDING = "pending"
    VICTIMS = "victims"
    SPARED = "spared"
    LOOPS = "loops"

    outcome = part_of_outcome("traces")
    part = models.CharField(max_length=20, help_text="Which part of the explanation.")
    key = models.CharField(
        max_length=510,
        blank=True,
        help_text="The object that the part explains, where there is one part each.",
    )
    packed = models.BinaryField()
    size = models.PositiveBigIntegerField(help_text="Bytes when unpacked.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["outcome", "part", "key"], name="trace_once_an_outcome")
        ]

    def __str__(self) -> str:
        return f"{self.part} {self.key}".strip()

    @classmethod
    def of(cls, part: str, told: Any, key: str = "") -> "Trace":
        """Return the unsaved part that holds `told`."""
        content = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
        return cls(part=part, key=key, packed=zlib.compress(content, 6), size=len(content))

    @staticmethod
    def asker(pod: str, job: str) -> str:
        """Return the key of what was asked for a pod, or for a whole gang when there is no pod."""
        return pod or f"gang {job}"

    def told(self) -> Any:
        """Return what it holds."""
        return json.loads(zlib.decompress(self.packed))
