"""What do scripts read and write? Our own fields in snake_case, Kubernetes objects as in their CRD."""

import logging
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.accounts.models import Membership, Role
from planner.backups.models import Backup
from planner.clusters.models import Cluster, Import, Snapshot
from planner.runs.models import JobOutcome, QueueOutcome, Run, Victim
from planner.runs.models.outcome import DecisionState
from planner.scenarios.models import Queue, Scenario
from planning.preview import Preview
from planning.queues import queue_spec
from planning.rows import Amounts, Decision
from planning.unlimited import amounts

logger = logging.getLogger(__name__)

UNREADABLE = (TypeError, ValueError, KeyError, AttributeError)
_MEASURED = ("required", "available", "missing")
_UNITS = {"cpu": "millicores", "memory": "bytes", "pods": "pods"}


def amount_body(resource: str, value: float | None) -> dict[str, Any]:
    """Return one amount with its unit; None is an amount without a limit.

    >>> amount_body("cpu", 8000.0)
    {'value': 8000.0, 'unit': 'millicores', 'unlimited': False}
    >>> amount_body("nvidia.com/gpu", None)
    {'value': None, 'unit': 'milliunits', 'unlimited': True}
    """
    return {"value": value, "unit": _UNITS.get(resource, "milliunits"), "unlimited": value is None}


class AmountSerializer(serializers.Serializer[Any]):
    """One amount in the scheduler's unit."""

    value = serializers.FloatField(allow_null=True)
    unit = serializers.ChoiceField(choices=[*_UNITS.values(), "milliunits"])
    unlimited = serializers.BooleanField()


@extend_schema_field(serializers.DictField(child=AmountSerializer()))
class AmountsField(serializers.Field[Amounts, Any, dict[str, Any], Any]):
    """Amounts by resource."""

    def to_representation(self, value: Amounts) -> dict[str, Any]:
        """Return each amount with its unit, by resource name; databases keep no order of keys."""
        return {resource: amount_body(resource, amount) for resource, amount in sorted(value.items())}


class ReadableRow(serializers.BaseSerializer[Any]):
    """A row whose unreadable fields are null."""

    def to_representation(self, instance: Any) -> Any:
        """Return the row."""
        try:
            return super().to_representation(instance)
        except UNREADABLE:
            logger.warning("A field of %r cannot be read.", instance)
            fields: list[serializers.Field[Any, Any, Any, Any]] = self._readable_fields  # type: ignore[attr-defined]
            return {field.field_name: _read(field, instance) for field in fields}


def _read(field: serializers.Field[Any, Any, Any, Any], instance: Any) -> Any:
    try:
        value = field.get_attribute(instance)
        return None if value is None else field.to_representation(value)
    except UNREADABLE:
        return None


# Problems and errors


class ProblemSerializer(serializers.Serializer[Any]):
    """A finding about a plan or a text; unknown values are null."""

    rule = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning", "remark"])
    message = serializers.CharField(allow_null=True)
    path = serializers.CharField(allow_null=True)
    queue = serializers.CharField(allow_null=True)
    field = serializers.CharField(allow_null=True)
    actual = serializers.JSONField()
    limit = serializers.JSONField()
    fix = serializers.CharField(allow_null=True)
    document = serializers.CharField(allow_null=True)
    line = serializers.IntegerField(allow_null=True)


class ErrorSerializer(serializers.Serializer[Any]):
    """The body of every error."""

    code = serializers.CharField()
    message = serializers.CharField()
    problems = ProblemSerializer(many=True)


class VersionSerializer(serializers.Serializer[Any]):
    """An object at a revision."""

    revision = serializers.IntegerField()
    body = serializers.JSONField()


class StaleSerializer(ErrorSerializer):
    """A stale edit: the version it is based on, and the current one."""

    seen = VersionSerializer()
    current = VersionSerializer()


# Snapshots


class ClusterSerializer(serializers.ModelSerializer[Cluster]):
    """A cluster, of which there are snapshots over time."""

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


class ImportSerializer(serializers.ModelSerializer[Import]):
    """An import that a worker processes because the cluster is large."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    dry_run = serializers.BooleanField(
        source="is_dry", help_text="Only reports what it finds; saves nothing."
    )
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="Empty until the import has been read."
    )
    problems = ProblemSerializer(many=True)

    class Meta:
        model = Import
        fields = [
            "id", "state", "name", "provenance", "dry_run", "owner", "progress", "doing", "error", "counts",
            "problems", "snapshot", "run", "attempt", "cancel_requested", "created", "started", "finished",
        ]  # fmt: skip


class SnapshotUpload(serializers.Serializer[Any]):
    """A cluster to import: one scenario, or the text of any mix of documents."""

    name = serializers.CharField(max_length=253)
    scenario = serializers.DictField(required=False)
    documents = serializers.CharField(required=False, trim_whitespace=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for exactly one of the two."""
        if ("scenario" in attrs) == ("documents" in attrs):
            raise serializers.ValidationError("Send either scenario or documents.", code="one_of")
        return attrs


class SnapshotFiles(serializers.Serializer[Any]):
    """A cluster to import: files of kubectl output, plain or gzip, under any field name."""

    name = serializers.CharField(
        max_length=253, allow_blank=True, default="", help_text="Default: the first file's name."
    )
    files = serializers.ListField(child=serializers.FileField(), allow_empty=False)


# Scenarios


class ScenarioSerializer(serializers.ModelSerializer[Scenario]):
    """An editable scenario on a snapshot."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)

    class Meta:
        model = Scenario
        fields = [
            "id",
            "name",
            "snapshot",
            "parent",
            "parent_revision",
            "revision",
            "owner",
            "created",
            "updated",
        ]


class ScenarioCreate(serializers.Serializer[Any]):
    """A scenario to create."""

    name = serializers.CharField(max_length=253)
    snapshot = serializers.UUIDField()


class QuantitiesField(serializers.DictField):
    """Quantities by resource, as Kubernetes writes them: strings such as `8`, `500m`, `32Gi`."""

    child = serializers.CharField()


class GuaranteeSerializer(serializers.Serializer[Any]):
    """Resources reserved for a queue."""

    resource = QuantitiesField(required=False)


class QueueSerializer(serializers.Serializer[Any]):
    """A queue of a scenario, in the spelling of its CRD; unset fields are null or empty."""

    name = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # a field, not the base's link
    weight = serializers.IntegerField(allow_null=True)
    priority = serializers.IntegerField(allow_null=True)
    reclaimable = serializers.BooleanField(allow_null=True)
    state = serializers.CharField(allow_null=True)
    guarantee = GuaranteeSerializer()
    deserved = QuantitiesField()
    capability = QuantitiesField()
    dequeueStrategy = serializers.CharField(allow_null=True)  # noqa: N815  # the CRD's spelling
    affinity = serializers.DictField()
    annotations = serializers.DictField(child=serializers.CharField())
    labels = serializers.DictField(child=serializers.CharField())

    def to_representation(self, instance: Queue) -> dict[str, Any]:
        """Return the fields of a queue's row."""
        return queue_spec(instance)


class QueueAnswerSerializer(serializers.Serializer[Any]):
    """The figures of one queue at the start of a session, and its jobs and pods."""

    queue = serializers.CharField()
    in_session = serializers.BooleanField(help_text="Queues without jobs are not in the session.")
    share = serializers.FloatField(allow_null=True)
    deserved = AmountsField()
    real_capability = AmountsField()
    allocated = AmountsField()
    request = AmountsField()
    guarantee_of_children = AmountsField()
    deserved_of_children = AmountsField()
    jobs = serializers.IntegerField()
    running = serializers.IntegerField(help_text="Pods.")
    pending = serializers.IntegerField(help_text="Pods.")


class PreviewSerializer(serializers.Serializer[Any]):
    """The figures of all queues at the start of a session; nothing is scheduled."""

    plugin = serializers.CharField(help_text="The plugin that calculates deserved; empty if there is none.")
    obstacle = serializers.CharField(
        help_text="Why the capacity plugin would place nothing; empty otherwise."
    )
    error = serializers.CharField(help_text="Why there are no figures; empty otherwise.")
    total = AmountsField()
    without_effect = serializers.DictField(
        child=serializers.CharField(), help_text="Fields that are ignored, and why."
    )
    queues = serializers.SerializerMethodField()

    @extend_schema_field(QueueAnswerSerializer(many=True))
    def get_queues(self, preview: Preview) -> list[dict[str, Any]]:
        """Return the queues in the order of the import."""
        return [QueueAnswerSerializer(answer).data for answer in preview.queues.values()]


class ConfFindingSerializer(ProblemSerializer):
    """A finding about a configuration."""

    remedy = serializers.ListField(
        child=serializers.DictField(child=serializers.JSONField()),
        help_text="The JSON patch that fixes it; empty if no single edit does.",
    )


class ConfOperation(serializers.Serializer[Any]):
    """One operation of a JSON patch (RFC 6902); `from` belongs to a move, `value` to add and replace."""

    op = serializers.ChoiceField(choices=["add", "remove", "replace", "move"])
    path = serializers.CharField(help_text="JSON pointer, such as /tiers/0/plugins/-")
    value = serializers.JSONField(required=False)

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, among them one whose name is a word of Python."""
        return {**super().get_fields(), "from": serializers.CharField(required=False)}


class ConfSerializer(serializers.Serializer[Any]):
    """The scheduler configuration as text; empty means Volcano's default."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    problems = ConfFindingSerializer(many=True, read_only=True)


class ReleaseSerializer(serializers.Serializer[Any]):
    """The release of Volcano that decides in a scenario."""

    release = serializers.CharField(
        allow_blank=True, max_length=40, help_text="As chosen, such as v1.14.4; empty: the imported one."
    )
    imported = serializers.CharField(
        read_only=True, help_text="The release that the imported scheduler runs; empty when unknown."
    )
    rules_of = serializers.CharField(read_only=True, help_text="The known release whose rules decide.")


# Runs


class RunOptions(serializers.Serializer[Any]):
    """How to run a scenario."""

    cycles = serializers.IntegerField(min_value=1, max_value=1000, default=1)


class KeptRunOptions(RunOptions):
    """The options of a run."""

    cycles = serializers.IntegerField(allow_null=True)


class RunSerializer(ReadableRow, serializers.ModelSerializer[Run]):
    """One execution of a scenario's revision."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    input_sha256 = serializers.CharField(source="input_id")
    result_sha256 = serializers.CharField(source="result_id", allow_null=True)
    timings = serializers.DictField(child=serializers.FloatField(), help_text="Milliseconds.")
    options = KeptRunOptions()
    notes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What the run leaves out (`Not modelled: …`) and what it assumes.",
    )

    class Meta:
        model = Run
        fields = [
            "id", "state", "scenario", "scenario_revision", "owner", "options", "progress", "doing", "error",
            "notes", "engine_version", "attempt", "cancel_requested", "created", "started", "finished",
            "timings", "input_sha256", "result_sha256",
        ]  # fmt: skip


class QueueOutcomeSerializer(serializers.ModelSerializer[QueueOutcome]):
    """The result of a run for one queue, at the end of the last cycle unless the name says otherwise."""

    deserved = AmountsField()
    allocated = AmountsField()
    allocated_at_open = AmountsField()
    request = AmountsField()
    capability = AmountsField()
    real_capability = AmountsField()
    guarantee = AmountsField()
    elastic = AmountsField()
    inqueue = AmountsField()

    class Meta:
        model = QueueOutcome
        fields = [
            "queue", "parent", "depth", "weight", "in_session", "overused", "share", "share_at_open",
            "deserved", "allocated", "allocated_at_open", "request", "capability", "real_capability",
            "guarantee", "elastic", "inqueue",
        ]  # fmt: skip


class PendingSerializer(serializers.Serializer[Any]):
    """Why a job waits, and by how much; fields that do not apply to the gate are null."""

    gate = serializers.CharField()
    plugin = serializers.CharField(allow_null=True)
    queue = serializers.CharField(allow_null=True)
    pod = serializers.CharField(allow_null=True)
    resource = serializers.CharField(allow_null=True)
    required = AmountSerializer(allow_null=True)  # type: ignore[assignment]  # a field, not the base's flag
    available = AmountSerializer(allow_null=True)
    missing = AmountSerializer(allow_null=True)
    message = serializers.CharField(allow_null=True)
    nodes = serializers.DictField(child=serializers.IntegerField(), help_text="Nodes by reason.")

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        """Return the core's explanation with a unit at each amount."""
        resource = instance.get("resource")
        measured = amounts({key: instance[key] for key in _MEASURED if key in instance})
        return {
            **{key: instance.get(key) for key in self.get_fields()},
            **{key: amount_body(resource, value) for key, value in measured.items() if resource},
            "nodes": instance.get("nodes") or {},
        }


class JobOutcomeSerializer(serializers.ModelSerializer[JobOutcome]):
    """The result of a run for one job, at the end of the last cycle."""

    task_status = serializers.DictField(child=serializers.IntegerField())
    pending_reasons = serializers.DictField()
    pending_explain = serializers.SerializerMethodField()

    class Meta:
        model = JobOutcome
        fields = [
            "job", "queue", "phase_before", "phase_after", "priority", "min_available", "pods", "task_status",
            "pending", "ready", "pipelined", "starving", "gate", "message", "fit_error", "pending_reasons",
            "pending_explain",
        ]  # fmt: skip

    @extend_schema_field(PendingSerializer(allow_null=True))
    def get_pending_explain(self, job: JobOutcome) -> dict[str, Any] | None:
        """Return why the job waits, or None when it does not."""
        return PendingSerializer(job.pending_explain).data if job.pending_explain else None


class VictimSerializer(serializers.ModelSerializer[Victim]):
    """A running pod that a run chose to evict, and the pod it was evicted for."""

    class Meta:
        model = Victim
        fields = [
            "order", "cycle", "pod", "job", "queue", "node", "for_pod", "for_job", "for_queue", "action",
            "reason", "state", "ran_seconds",
        ]  # fmt: skip


class DecisionSerializer(serializers.Serializer[Decision]):
    """One decision of a run."""

    seq = serializers.IntegerField()
    cycle = serializers.IntegerField()
    action = serializers.CharField()
    op = serializers.CharField()
    job = serializers.CharField()
    pod = serializers.CharField()
    node = serializers.CharField()
    reason = serializers.CharField()
    for_pod = serializers.CharField()
    state = serializers.ChoiceField(choices=DecisionState.choices, allow_blank=True)


class WorkspaceSerializer(serializers.ModelSerializer[Membership]):
    """A workspace of the caller."""

    id = serializers.UUIDField(source="workspace_id", read_only=True)
    name = serializers.CharField(source="workspace.name", read_only=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "role"]
        read_only_fields = ["role"]


class WorkspaceName(serializers.Serializer[Any]):
    """What a workspace is called."""

    name = serializers.CharField(max_length=100)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """An account's role in a workspace."""

    user = serializers.CharField(source="user.username", read_only=True)
    since = serializers.DateTimeField(source="created", read_only=True)

    class Meta:
        model = Membership
        fields = ["user", "role", "since"]
        read_only_fields = ["role"]


class RoleOnly(serializers.Serializer[Any]):
    """The role to give to an account."""

    role = serializers.ChoiceField(choices=Role.choices)


# The installation


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
    oldest_queued_seconds = serializers.FloatField(help_text="Of runs and imports.")
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
    keep_runs_days = serializers.FloatField(help_text="For how many days an ended run is kept.")
    places = serializers.IntegerField(help_text="Runs and imports that can be processed at once.")
    backup_hours = serializers.FloatField(
        allow_null=True, help_text="How often a verified backup is made; null: none are scheduled."
    )
    backup = BackupSerializer(allow_null=True, help_text="The last verified backup.")
    backup_error = serializers.CharField(help_text="Why the last try failed; empty if it did not.")
    workers = WorkerSerializer(many=True)
