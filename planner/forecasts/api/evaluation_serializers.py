"""The API bodies of costs and backtests."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.forecasts.models import Backtest
from planning.forecasts.divergence import CAUSES


class PricesSerializer(Body):
    """Prices of nodes per hour: of a node of a pool, or of a core, a GiB or a device."""

    pools = serializers.DictField(child=serializers.FloatField(min_value=0, max_value=1e9), default=dict)
    resources = serializers.DictField(child=serializers.FloatField(min_value=0, max_value=1e9), default=dict)
    currency = serializers.CharField(max_length=10, default="USD")


class PricedComparison(Body):
    """A forecast to compare with, and the prices for the costs of both."""

    prices = PricesSerializer()

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; the name of one is a keyword of Python."""
        return {**super().get_fields(), "with": serializers.UUIDField(help_text="The later forecast.")}


class QueueCostSerializer(serializers.Serializer[Any]):
    """The cost of a queue over a forecast; an empty name is idle capacity that no queue deserves."""

    queue = serializers.CharField(allow_blank=True)
    charged = serializers.FloatField(help_text="allocated + idle")
    allocated = serializers.FloatField()
    borrowed = serializers.FloatField()
    lent = serializers.FloatField()
    idle = serializers.FloatField()
    lost = serializers.FloatField()
    resource_hours = serializers.DictField(child=serializers.FloatField())


class CostsSerializer(serializers.Serializer[Any]):
    """The cost of a forecast; all charges add up to the cost of the nodes."""

    currency = serializers.CharField()
    nodes = serializers.FloatField()
    pools = serializers.DictField(child=serializers.FloatField())
    queues = QueueCostSerializer(many=True)


class BacktestCreate(Body):
    """A later snapshot of the cluster, which shows what really happened."""

    snapshot = serializers.UUIDField()


class QueueErrorSerializer(serializers.Serializer[Any]):
    """The error of the predicted waits of a queue's jobs, in seconds; bias: predicted minus real."""

    queue = serializers.CharField()
    jobs = serializers.IntegerField()
    bias = serializers.FloatField()
    mean_error = serializers.FloatField()
    median_error = serializers.FloatField()
    p95_error = serializers.FloatField()
    real_p95 = serializers.FloatField()
    predicted_p95 = serializers.FloatField()


class WithinSerializer(serializers.Serializer[Any]):
    """The fraction of the compared jobs whose start was predicted within so many seconds."""

    seconds = serializers.FloatField()
    part = serializers.FloatField()


class PartingSerializer(serializers.Serializer[Any]):
    """The first job whose predicted start is off by more than ten minutes; seconds from the beginning."""

    job = serializers.CharField()
    queue = serializers.CharField()
    predicted = serializers.FloatField()
    real = serializers.FloatField()


class ReplayCauseSerializer(serializers.Serializer[Any]):
    """A possible cause for a queue's jobs to start at other times than predicted."""

    kind = serializers.ChoiceField(choices=list(CAUSES))
    says = serializers.CharField()
    count = serializers.IntegerField(help_text="Jobs that show it.")
    jobs = serializers.ListField(child=serializers.CharField(), help_text="The first of these jobs.")


class QueuePartingSerializer(serializers.Serializer[Any]):
    """The first job of a queue that starts more than a minute from its predicted time."""

    queue = serializers.CharField()
    off = serializers.IntegerField(help_text="The number of such jobs.")
    job = serializers.CharField()
    predicted = serializers.FloatField(allow_null=True, help_text="Seconds; null: it had not started.")
    real = serializers.FloatField(allow_null=True, help_text="Seconds; null: it had not started.")
    causes = ReplayCauseSerializer(many=True)


class SomeJobsSerializer(serializers.Serializer[Any]):
    """How many jobs, and the first of them by name."""

    count = serializers.IntegerField()
    first = serializers.ListField(child=serializers.CharField())


class BacktestResultSerializer(serializers.Serializer[Any]):
    """A forecast compared with reality."""

    says = serializers.CharField()
    jobs = serializers.IntegerField(help_text="Jobs that started in both.")
    within = WithinSerializer(many=True)
    queues = QueueErrorSerializer(many=True)
    parts_at = PartingSerializer(allow_null=True)
    partings = QueuePartingSerializer(many=True, default=list)
    only_predicted = SomeJobsSerializer()
    only_real = SomeJobsSerializer()
    unknown = SomeJobsSerializer(help_text="Jobs that exist in only one of both.")
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="What the forecast does not model."
    )


class BacktestSerializer(serializers.ModelSerializer[Backtest]):
    """The accuracy of a forecast."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    result = BacktestResultSerializer()

    class Meta:
        model = Backtest
        fields = [
            "id", "forecast", "snapshot", "snapshot_name", "owner", "created", "until_seconds", "result",
        ]  # fmt: skip
