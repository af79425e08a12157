"""The API bodies of clusters."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.api.serializers import ProblemSerializer
from planner.clusters.models import Cluster, Snapshot


class ClusterSerializer(serializers.ModelSerializer[Cluster]):
    """A cluster, with snapshots over time."""

    class Meta:
        model = Cluster
        fields = ["id", "name", "created", "workspace"]


class SnapshotSerializer(serializers.ModelSerializer[Snapshot]):
    """A snapshot of a cluster."""

    counts = serializers.DictField(child=serializers.IntegerField())
    problems = ProblemSerializer(many=True)

    class Meta:
        model = Snapshot
        fields = ["id", "name", "cluster", "created", "provenance", "counts", "problems"]


class SnapshotUpload(Body):
    """A cluster to import: one scenario, or the text of any mix of documents."""

    name = serializers.CharField(max_length=253)
    scenario = serializers.DictField(required=False)
    documents = serializers.CharField(required=False, trim_whitespace=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one of the two."""
        if ("scenario" in attrs) == ("documents" in attrs):
            raise serializers.ValidationError("Send either scenario or documents.", code="one_of")
        return attrs


class SnapshotFiles(serializers.Serializer[Any]):
    """A cluster to import: files of kubectl output, plain or gzip, under any field name."""

    name = serializers.CharField(
        max_length=253, allow_blank=True, default="", help_text="Default: the first file's name."
    )
    files = serializers.ListField(child=serializers.FileField(), allow_empty=False)
