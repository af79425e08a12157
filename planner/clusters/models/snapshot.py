"""Clusters and their snapshots, and the compressed bytes that rows share."""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.db import models

from planner.accounts.models.workspace import Identified, Workspace

_PIECE = 2**16
"""Packed bytes that are unpacked at a time; manifests compress to a tenth or less."""


class Blob(models.Model):
    """Immutable bytes, compressed and stored once under the hash of the uncompressed bytes."""

    sha256 = models.CharField(primary_key=True, max_length=64, editable=False)
    packed = models.BinaryField()
    size = models.PositiveBigIntegerField(help_text="Bytes when unpacked.")
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.sha256[:12]} ({self.size} bytes)"

    @classmethod
    def of(cls, content: bytes) -> "Blob":
        """Return the unsaved blob of `content`; slow for megabytes, so call it outside transactions."""
        return cls.of_pieces([content])

    @classmethod
    def of_pieces(cls, pieces: Iterable[bytes]) -> "Blob":
        """Return the unsaved blob of concatenated pieces; only the packed bytes are in memory at once."""
        digest, packer, packed, size = hashlib.sha256(), zlib.compressobj(6), [], 0
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
            packed.append(packer.compress(piece))
        packed.append(packer.flush())
        return cls(sha256=digest.hexdigest(), packed=b"".join(packed), size=size)

    def keep(self) -> "Blob":
        """Save the blob, or refresh its time so that no one deletes it until this transaction ends."""
        Blob.objects.bulk_create(
            [self], update_conflicts=True, update_fields=["created"], unique_fields=["sha256"]
        )
        return self

    def content(self) -> bytes:
        """Return the bytes."""
        return zlib.decompress(self.packed)

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes, a few megabytes at a time."""
        unpacker = zlib.decompressobj()
        packed = memoryview(self.packed)
        for start in range(0, len(packed), _PIECE):
            yield unpacker.decompress(packed[start : start + _PIECE])

    def document(self) -> dict[str, Any]:
        """Return the JSON object in the bytes."""
        document: dict[str, Any] = json.loads(self.content())
        return document


class Cluster(Identified):
    """A real or imagined cluster, with snapshots over time."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="clusters")
    name = models.CharField(max_length=253)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="cluster_name_once_a_workspace")
        ]

    def __str__(self) -> str:
        return self.name


class Snapshot(Identified):
    """An imported state of a cluster, immutable."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="snapshots")
    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.SET_NULL, related_name="snapshots")
    name = models.CharField(max_length=253)
    created = models.DateTimeField(auto_now_add=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="snapshots"
    )
    provenance = models.CharField(
        max_length=500, blank=True, help_text="Where it came from: file names, the API, the sample."
    )
    counts = models.JSONField(default=dict, help_text="Objects by kind.")
    problems = models.JSONField(default=list, help_text="Warnings and remarks of the import.")
    scheduler_conf = models.TextField(
        blank=True, help_text="volcano-scheduler.conf as the user wrote it; empty: Volcano's default."
    )
    queues = models.JSONField(
        null=True,
        help_text="Its Queue objects, so that a scenario begins at once; null: they are only in the content.",
    )
    content = models.ForeignKey(
        Blob,
        on_delete=models.PROTECT,
        related_name="snapshots",
        help_text="The objects as one scenario document, without scheduler_conf.",
    )

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.name
