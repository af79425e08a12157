"""Changes of the prices of a workspace's nodes."""

from collections.abc import Mapping

from django.db import transaction

from planner.accounts.models import Event, User, Workspace
from planner.accounts.services.events import event_note
from planner.accounts.services.members import role_require
from planner.forecasts.models import NodePrices
from planning.units import exact


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
    before = NodePrices.objects.filter(workspace=workspace).first()
    values = {"pools": dict(pools), "resources": dict(resources), "currency": currency}
    prices, _ = NodePrices.objects.update_or_create(workspace=workspace, defaults=values)
    was, now = _text(before), _text(prices)
    if was != now:
        event_note(
            workspace=workspace,
            user=user,
            kind=Event.Kind.WORKSPACE,
            action="changed",
            subject="prices per hour",
            before=was,
            after=now,
        )
    return prices


def _text(prices: NodePrices | None) -> str:
    """Return prices as one phrase, empty without any."""
    if prices is None:
        return ""
    amounts = [*sorted(prices.pools.items()), *sorted(prices.resources.items())]
    return ", ".join(f"{name} {exact(price)} {prices.currency}" for name, price in amounts)
