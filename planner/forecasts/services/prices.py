"""Changes of the prices of a workspace's nodes."""

from collections.abc import Mapping

from django.db import transaction

from planner.accounts.models import User, Workspace
from planner.accounts.services.members import role_require
from planner.forecasts.models import NodePrices


@transaction.atomic
def prices_set(
    *,
    workspace: Workspace,
    pools: Mapping[str, float],
    resources: Mapping[str, float],
    currency: str,
    user: User | None = None,
) -> NodePrices:
    """Replace the prices of a workspace: per hour of a node of a pool, or of a core, a GiB and a device."""
    role_require(user=user, workspace=workspace)
    values = {"pools": dict(pools), "resources": dict(resources), "currency": currency}
    prices, _ = NodePrices.objects.update_or_create(workspace=workspace, defaults=values)
    return prices
