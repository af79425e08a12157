"""The packed decisions of a run and their reasons, in parts that pages read as they need them."""

from typing import Any

from django.db import models

from planner.accounts.models.workspace import Identified
from planner.runs.models.outcome import part_of_outcome
from planning.rows.stored import holds, payload_of


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
        """Return the unpacked content."""
        return payload_of(self.packed)

    def holds(self, words: str) -> bool:
        """Return whether the packed text contains this text, in lower case; much faster than parsing it."""
        return holds(self.packed, words)
