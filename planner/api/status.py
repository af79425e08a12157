"""API call for the status of the installation."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.services.members import status_require
from planner.api.access import WorkspaceView
from planner.api.schema import answers
from planner.backups.models import Backup
from planner.web.selectors.status import status


class WorkerSerializer(serializers.Serializer[Any]):
    """A worker seen recently."""

    name = serializers.CharField()
    engine_version = serializers.CharField()
    places = serializers.IntegerField(help_text="Runs and imports that it processes at once.")
    started = serializers.DateTimeField()
    seen = serializers.DateTimeField()


class BackupSerializer(serializers.ModelSerializer[Backup]):
    """A verified backup."""

    class Meta:
        model = Backup
        fields = ["began", "ended", "bytes", "rows"]


class StatusSerializer(serializers.Serializer[Any]):
    """Queued and running work, and the workers; times in seconds."""

    runs = serializers.DictField(child=serializers.IntegerField(), help_text="Stored runs by state.")
    imports = serializers.DictField(
        child=serializers.IntegerField(), help_text="Stored large imports by state."
    )
    forecasts = serializers.DictField(child=serializers.IntegerField(), help_text="Forecasts by state.")
    oldest_queued_seconds = serializers.FloatField(help_text="Of runs, forecasts and imports.")
    finished_per_minute = serializers.FloatField(help_text="Over the last five minutes.")
    mean_wait_seconds = serializers.FloatField(allow_null=True, help_text="From queued to started.")
    mean_run_seconds = serializers.FloatField(allow_null=True, help_text="From started to the end.")
    lost_leases = serializers.IntegerField(
        help_text="Runs and imports reclaimed from a worker that died, since installation."
    )
    retries = serializers.IntegerField(
        help_text="Runs and imports queued again after their worker or child process had died."
    )
    removed_runs = serializers.IntegerField(help_text="Old runs removed, since the installation began.")
    keep_runs_days = serializers.FloatField(help_text="For how many days an ended run is stored.")
    places = serializers.IntegerField(help_text="Runs and imports that can be processed at once.")
    backup_hours = serializers.FloatField(
        allow_null=True, help_text="How often a verified backup is made; null: none are scheduled."
    )
    backup = BackupSerializer(allow_null=True, help_text="The last verified backup.")
    backup_error = serializers.CharField(help_text="Why the last try failed; empty if it did not.")
    workers = WorkerSerializer(many=True)


class StatusDetail(WorkspaceView):
    """Queued and running work, and the workers."""

    @extend_schema(responses=answers({200: StatusSerializer}, 403))
    def get(self, request: Request) -> Response:
        """Return the current figures."""
        status_require(user=self.user)
        return Response(StatusSerializer(status()).data)
