"""What did a run decide, and why? In parts that are each read only by the pages that need them."""

from typing import Any

from django.db import models

from planner.accounts.models.workspace import Identified
from planner.runs.models.outcome import part_of_outcome
from planning.traces import holds, payload_of


class Trace(Identified):
    """One part of an outcome, compressed."""

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

    def payload(self) -> Any:
        """Return what it holds."""
        return payload_of(self.packed)

    def holds(self, words: str) -> bool:
        """Is this text, in lower case, anywhere in it? Much faster than reading what it holds."""
        return holds(self.packed, words)
