"""What do scripts read and write of experiments? Amounts in the scheduler's units."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.api.bodies import Body
from planner.experiments.models import Experiment
from planner.experiments.selectors.cells import Cells
from planning.experiments.written import figures_written


class ExperimentCreate(Body):
    """An experiment of a scenario or a snapshot, each by its name or id; the rest as its JSON schema says."""

    name = serializers.CharField(max_length=253)
    scenario = serializers.CharField(required=False, help_text="Name or id; of a name the newest.")
    snapshot = serializers.CharField(
        required=False, help_text="Name or id: a scenario of it is begun, called as the experiment."
    )
    settings = serializers.ListField(
        child=serializers.DictField(), help_text="What moves; see docs/experiments.md."
    )
    figures = serializers.ListField(child=serializers.DictField(), required=False, help_text="Of a sweep.")
    goals = serializers.ListField(child=serializers.DictField(), required=False, help_text="Of a search.")
    sample = serializers.DictField(required=False)
    run = serializers.DictField(required=False, help_text="Of cells that are runs.")
    forecast = serializers.DictField(
        required=False, help_text="Of cells that are forecasts: trace or patterns, options, seeds, prices."
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=100_000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for exactly one of scenario and snapshot."""
        if len({"scenario", "snapshot"} & attrs.keys()) != 1:
            raise serializers.ValidationError("Name a scenario or a snapshot.", code="one_of")
        return attrs


class SeedIntervalSerializer(serializers.Serializer[Any]):
    """The ends of a 95 % confidence interval by Student's t; null: without limit."""

    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class CellSerializer(serializers.Serializer[Any]):
    """A combination of settings, and what it came to."""

    number = serializers.IntegerField(help_text="Its place in the experiment, from 0.")
    settings = serializers.DictField(
        child=serializers.JSONField(allow_null=True), help_text="By name; null: not set."
    )
    price = serializers.FloatField(help_text="What the move there costs.")
    figures = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        help_text="By name; null: without limit. Empty where there is no outcome.",
    )
    front = serializers.BooleanField(help_text="No other cell is better in price and figures.")
    error = serializers.CharField(allow_blank=True, help_text="Why there is no outcome.")
    refused = serializers.CharField(
        allow_blank=True,
        help_text="Of a cell that reaches every goal: why it is not proposed. The webhook refuses the"
        " change, or jobs that had not started by the end of a forecast may yet miss a goal.",
    )
    intervals = serializers.DictField(
        child=SeedIntervalSerializer(),
        help_text="By name: the 95 % interval of a mean over seeds; empty without seeds.",
    )


class CellForecastSerializer(serializers.Serializer[Any]):
    """The forecast that a cell is, with the scenario and the trace that it was begun with."""

    forecast = serializers.UUIDField(source="pk")
    scenario = serializers.UUIDField(source="scenario_id")
    trace = serializers.UUIDField(source="trace_id")


class FigureSerializer(serializers.Serializer[Any]):
    """What is measured."""

    name = serializers.CharField()
    figure = serializers.CharField()
    queue = serializers.CharField(allow_blank=True)
    resource = serializers.CharField(allow_blank=True)
    better = serializers.CharField(allow_null=True)


class MissedSerializer(serializers.Serializer[Any]):
    """A goal that is not reached, and by how much, in the figure's unit."""

    goal = serializers.CharField()
    by = serializers.FloatField()


class VerificationSerializer(serializers.Serializer[Any]):
    """What a proposal came to under workloads that the search did not see."""

    holds = serializers.BooleanField(help_text="The means of its figures reach every goal.")
    seeds = serializers.IntegerField(help_text="How many workloads were drawn.")
    reached = serializers.IntegerField(help_text="Under how many of them alone every goal is reached.")
    figures = serializers.DictField(child=serializers.FloatField(allow_null=True), help_text="The means.")
    intervals = serializers.DictField(child=SeedIntervalSerializer(), help_text="Their 95 % intervals.")
    missed = MissedSerializer(many=True)
    open = serializers.CharField(
        allow_blank=True, help_text="The goal that jobs that had not started by the end leave open."
    )
    error = serializers.CharField(allow_blank=True, help_text="Why there is no outcome.")


class VerdictSerializer(serializers.Serializer[Any]):
    """What a search came to."""

    status = serializers.ChoiceField(
        choices=["found", "impossible", "undecided"],
        help_text="found: `cell` is the smallest change of the grid; otherwise it comes closest.",
    )
    cell = CellSerializer(allow_null=True)
    tried = serializers.IntegerField(help_text="The cheapest combinations up to the answer.")
    grid_size = serializers.IntegerField()
    missed = MissedSerializer(many=True)
    at_the_end = serializers.ListField(
        child=serializers.CharField(), help_text="Settings that are at their last listed value."
    )
    verification = VerificationSerializer(
        allow_null=True, default=None, help_text="Of a proposal over seeds; null without seeds."
    )


class ProgressSerializer(serializers.Serializer[Any]):
    """How far an experiment is."""

    measured = serializers.IntegerField()
    shared = serializers.IntegerField(help_text="Of these, measured by an earlier experiment.")
    planned = serializers.IntegerField(help_text="Combinations that are simulated at most.")
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
    """An experiment with what it requests, how far it is, and what a search found."""

    written = serializers.DictField()
    figures = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField()
    verdict = serializers.SerializerMethodField()

    class Meta(ExperimentSerializer.Meta):
        fields = [*ExperimentSerializer.Meta.fields, "written", "figures", "progress", "verdict"]

    def to_representation(self, instance: Experiment) -> dict[str, Any]:
        """Read the groups once for all parts."""
        self._cells = Cells(instance)
        body: dict[str, Any] = super().to_representation(instance)
        return body

    @extend_schema_field(FigureSerializer(many=True))
    def get_figures(self, experiment: Experiment) -> Any:
        """Return what is measured, in the order of the cells' figures."""
        return figures_written(self._cells.figures, self._cells.directions)

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, experiment: Experiment) -> Any:
        """Return how far it is."""
        return ProgressSerializer(self._cells.progress).data

    @extend_schema_field(VerdictSerializer(allow_null=True))
    def get_verdict(self, experiment: Experiment) -> Any:
        """Return what a search came to, null until then and for a sweep."""
        if not experiment.verdict:
            return None
        return VerdictSerializer({**experiment.verdict, "cell": self._cells.verdict_row()}).data
