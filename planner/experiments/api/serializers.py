"""The API bodies of experiments; amounts in the scheduler's units."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.api.bodies import Body
from planner.experiments.models import Experiment
from planner.experiments.selectors.cells import Cells
from planning.experiments.definition import figures_written
from planning.experiments.search import remark


class ExperimentCreate(Body):
    """An experiment on a scenario or snapshot, by name or id; the other fields follow its JSON schema."""

    name = serializers.CharField(max_length=253)
    scenario = serializers.CharField(required=False, help_text="Name or id; the newest with this name.")
    snapshot = serializers.CharField(
        required=False, help_text="Name or id: a scenario is created on it, named like the experiment."
    )
    settings = serializers.ListField(
        child=serializers.DictField(), help_text="The settings to vary; see docs/experiments.md."
    )
    figures = serializers.ListField(child=serializers.DictField(), required=False, help_text="For a sweep.")
    goals = serializers.ListField(child=serializers.DictField(), required=False, help_text="For a search.")
    sample = serializers.DictField(required=False)
    run = serializers.DictField(required=False, help_text="For cells that are runs.")
    forecast = serializers.DictField(
        required=False, help_text="For cells that are forecasts: trace or patterns, options, seeds, prices."
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=100_000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one of scenario and snapshot."""
        if len({"scenario", "snapshot"} & attrs.keys()) != 1:
            raise serializers.ValidationError("Name a scenario or a snapshot.", code="one_of")
        return attrs


class SeedIntervalSerializer(serializers.Serializer[Any]):
    """The ends of a 95 % confidence interval by Student's t; null: unlimited."""

    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class CellSerializer(serializers.Serializer[Any]):
    """A combination of settings, and its outcome."""

    number = serializers.IntegerField(help_text="Its place in the experiment, from 0.")
    settings = serializers.DictField(
        child=serializers.JSONField(allow_null=True), help_text="By name; null: not set."
    )
    price = serializers.FloatField(help_text="The price of the change.")
    figures = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        help_text="By name; null: unlimited. Empty without an outcome.",
    )
    front = serializers.BooleanField(
        help_text="No other cell is at least as good in price and figures, and better in one."
    )
    error = serializers.CharField(allow_blank=True, help_text="Why there is no outcome.")
    refused = serializers.CharField(
        allow_blank=True,
        help_text="Of a cell that reaches every goal: why it is not proposed. The webhook refuses the"
        " change, or jobs that had not started by the end of a forecast may yet miss a goal.",
    )
    intervals = serializers.DictField(
        child=SeedIntervalSerializer(),
        help_text="By name: the 95 % confidence interval of a mean over seeds; empty without seeds.",
    )


class CellForecastSerializer(serializers.Serializer[Any]):
    """The forecast of a cell, with the scenario and the trace that were created for it."""

    forecast = serializers.UUIDField(source="pk")
    scenario = serializers.UUIDField(source="scenario_id")
    trace = serializers.UUIDField(source="trace_id")


class FigureSerializer(serializers.Serializer[Any]):
    """A measured figure."""

    name = serializers.CharField()
    figure = serializers.CharField()
    queue = serializers.CharField(allow_blank=True)
    resource = serializers.CharField(allow_blank=True)
    better = serializers.CharField(allow_null=True)


class MissedSerializer(serializers.Serializer[Any]):
    """A goal that is missed, and by how much, in the figure's unit."""

    goal = serializers.CharField()
    by = serializers.FloatField()


class VerificationSerializer(serializers.Serializer[Any]):
    """The outcome of a proposal under workloads that the search did not use."""

    holds = serializers.BooleanField(help_text="Whether the means of its figures reach every goal.")
    seeds = serializers.IntegerField(help_text="Number of drawn workloads.")
    reached = serializers.IntegerField(
        help_text="Number of workloads under each of which every goal is reached."
    )
    figures = serializers.DictField(child=serializers.FloatField(allow_null=True), help_text="The means.")
    intervals = serializers.DictField(child=SeedIntervalSerializer(), help_text="Their 95 % intervals.")
    missed = MissedSerializer(many=True)
    open = serializers.CharField(
        allow_blank=True,
        help_text="The goal that is undecided because of jobs that had not started by the end.",
    )
    error = serializers.CharField(allow_blank=True, help_text="Why there is no outcome.")


class VerdictSerializer(serializers.Serializer[Any]):
    """The result of a search."""

    status = serializers.ChoiceField(
        choices=["found", "impossible", "undecided"],
        help_text="found: `cell` is the smallest change of the grid; otherwise it comes closest.",
    )
    cell = CellSerializer(allow_null=True)
    tried = serializers.IntegerField(help_text="The cheapest combinations up to the proposed one.")
    grid_size = serializers.IntegerField()
    refused = serializers.IntegerField(
        default=0, help_text="How many of these reach every goal but cannot be proposed."
    )
    failed = serializers.IntegerField(default=0, help_text="How many of these have no outcome.")
    missed = MissedSerializer(many=True)
    at_the_end = serializers.ListField(
        child=serializers.CharField(), help_text="Settings at the largest or the smallest of their values."
    )
    remark = serializers.CharField(
        allow_blank=True, help_text="What misses the goals whatever the settings: one cycle is too short."
    )
    verification = VerificationSerializer(
        allow_null=True, default=None, help_text="For a proposal over seeds; null without seeds."
    )


class ProgressSerializer(serializers.Serializer[Any]):
    """The progress of an experiment."""

    measured = serializers.IntegerField()
    shared = serializers.IntegerField(help_text="Of these, measured by an earlier experiment.")
    planned = serializers.IntegerField(help_text="The most combinations that will be simulated.")
    share = serializers.FloatField(help_text="From 0 to 1.")
    seconds_left = serializers.FloatField(allow_null=True)
    workers = serializers.IntegerField(help_text="Groups of cells that are being measured.")
    verifies = serializers.BooleanField(help_text="Whether a proposal is verified under unseen workloads.")


class ExperimentSerializer(serializers.ModelSerializer[Experiment]):
    """An experiment."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    scenario_name = serializers.CharField(source="scenario.name")

    class Meta:
        model = Experiment
        fields = [
            "id", "name", "kind", "state", "scenario", "scenario_name", "scenario_revision", "owner",
            "created", "finished", "grid_size", "planned", "engine_version",
        ]  # fmt: skip


class ExperimentDetailSerializer(ExperimentSerializer):
    """An experiment with its document, its progress, and the result of a search."""

    written = serializers.DictField()
    figures = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField()
    verdict = serializers.SerializerMethodField()

    class Meta(ExperimentSerializer.Meta):
        fields = [*ExperimentSerializer.Meta.fields, "written", "figures", "progress", "verdict"]

    def to_representation(self, instance: Experiment) -> dict[str, Any]:
        """Read the groups once for all fields."""
        self._cells = Cells(instance)
        body: dict[str, Any] = super().to_representation(instance)
        return body

    @extend_schema_field(FigureSerializer(many=True))
    def get_figures(self, experiment: Experiment) -> Any:
        """Return the measured figures, in the order of the cells' figures."""
        return figures_written(self._cells.figures, self._cells.directions)

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, experiment: Experiment) -> Any:
        """Return the progress."""
        return ProgressSerializer(self._cells.progress).data

    @extend_schema_field(VerdictSerializer(allow_null=True))
    def get_verdict(self, experiment: Experiment) -> Any:
        """Return the result of a search; null until then and for a sweep."""
        if not experiment.verdict:
            return None
        cell, note = self._cells.verdict_row(), remark(experiment.verdict, experiment.written)
        return VerdictSerializer({**experiment.verdict, "cell": cell, "remark": note}).data
