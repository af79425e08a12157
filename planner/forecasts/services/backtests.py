"""Backtests: the predicted starts of jobs compared with those in a later snapshot of the cluster."""

from base64 import b64encode
from collections.abc import Iterator

from django.db import transaction

from planner.accounts.models import User
from planner.accounts.services.members import role_require
from planner.clusters.models import Snapshot
from planner.errors import Invalid
from planner.forecasts.models import Backtest, Forecast
from planner.work.awaited import IN_PROCESS_BYTES, Cost, computed
from planning.forecasts.backtest_documents import backtest_of
from planning.forecasts.parts import RECORD
from planning.rows import Problem

_COST = Cost("backtest.too_costly", "snapshot", "Choose a smaller snapshot, or forecast a shorter time.")


def backtest_measure(*, forecast: Forecast, snapshot: Snapshot, user: User | None = None) -> Backtest:
    """Return the unsaved comparison of a succeeded forecast with a later snapshot.

    Slow, so call it outside transactions. Raises RoleTooLow, Busy, and Invalid if one of the two has no time,
    if the snapshot is not later or in another workspace, and if the comparison takes too much.
    """
    role_require(user=user, workspace=forecast.workspace)
    if snapshot.workspace_id != forecast.workspace_id:
        message, fix = "The snapshot is in another workspace.", "Import it into that of the forecast."
        raise Invalid([Problem("backtest.time", "error", message, path="snapshot", fix=fix)])
    content = _content(forecast, snapshot)
    is_large = snapshot.content.size + forecast.input.size > IN_PROCESS_BYTES
    with computed(backtest_of, content, {}, name="The backtest", cost=_COST, is_large=is_large) as (_, found):
        return Backtest(
            forecast=forecast, snapshot=snapshot, snapshot_name=snapshot.name, owner=user, **found
        )


@transaction.atomic
def backtest_store(*, backtest: Backtest) -> Backtest:
    """Store a comparison; an earlier one of the same two is replaced."""
    fields = ("snapshot_name", "owner", "until_seconds", "result")
    stored, _ = Backtest.objects.update_or_create(
        forecast=backtest.forecast,
        snapshot=backtest.snapshot,
        defaults={name: getattr(backtest, name) for name in fields},
    )
    return stored


def _content(forecast: Forecast, snapshot: Snapshot) -> Iterator[bytes]:
    """Yield the JSON that `backtest_of` reads."""
    yield b'{"record":"' + b64encode(forecast.parts.get(part=RECORD).packed) + b'","later":'
    yield from snapshot.content.pieces()
    yield b',"scenario":'
    yield from forecast.input.pieces()
    yield b"}"
