"""The prices of a workspace's nodes."""

from django.db import models

from planner.accounts.models.workspace import Identified, Workspace


class NodePrices(Identified):
    """Prices per hour, by which the costs of a workspace's forecasts are calculated."""

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="node_prices")
    pools = models.JSONField(default=dict, help_text="Of one node, by the name of its pool.")
    resources = models.JSONField(
        default=dict, help_text="Of a core, a GiB or a device; for nodes of pools without a price."
    )
    currency = models.CharField(max_length=10, default="USD")

    def __str__(self) -> str:
        return f"prices in {self.currency}"
