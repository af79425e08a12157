"""Replay of a claimed forecast by a worker."""

import base64
import json
import logging
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from django.conf import settings
from django.db import transaction

from planner.forecasts.models import Forecast, ForecastPart
from planner.work.execution import Watch, retry_on_db_error, skip_on_db_error
from planner.work.lifecycle import Claim, work_end
from planner.work.subprocess_runner import (
    Beat,
    Limits,
    OnReport,
    Task,
    ignore_found,
    run_child,
)
from planning.documents import encoded
from planning.version import ENGINE_VERSION

REPORTED = "estimate", "simulated_seconds", "jobs_done", "sessions_per_second"
"""Fields that a child reports while it runs, and that the forecast stores."""

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]


def forecast_replay(claim: Claim[Forecast], watch: Watch) -> None:
    """Replay a forecast in a child process, from the saved state of an earlier attempt, and store the result.

    Raises ChildFailed and ChildStopped as `run_child` does.
    """
    forecast = retry_on_db_error(
        lambda: Forecast.objects.select_related("input", "workload").get(pk=claim.id)
    )
    frozen = retry_on_db_error(lambda: frozen_state(forecast))
    if frozen is not None:
        retry_on_db_error(lambda: claim.mine().update(resumed_at=frozen["end"]))

    begun_at = _place(frozen)

    def on_report(found: Any) -> None:
        skip_on_db_error(lambda: forecast_state_store(claim=claim, found=found, begun_at=begun_at))

    with replayed(forecast, frozen=frozen, limits=watch.limits, beat=watch.beat, on_report=on_report) as (
        answer,
        result,
    ):
        rows = [
            ForecastPart(forecast=forecast, part=part, key=key, packed=result.read(length), size=size)
            for part, key, length, size in answer["parts"]
        ]
        with watch.beating("storing the result"):
            retry_on_db_error(lambda: forecast_finish(claim=claim, parts=rows, answer=answer))


@contextmanager
def replayed(
    forecast: Forecast,
    *,
    limits: Limits,
    beat: Beat,
    frozen: Json | None = None,
    on_report: OnReport = ignore_found,
    moment: float | None = None,
) -> Iterator[tuple[Any, IO[bytes]]]:
    """Run the child process of a forecast; yield its report and its result file."""
    task = Task(
        "The forecast",
        "planner.forecasts.replaying",
        [str(settings.FORECAST_FREEZE_SECONDS), "" if moment is None else str(moment)],
    )
    given = {
        "scenario": forecast.input.document(),
        "workload": forecast.workload.content().decode(),
        "options": forecast.options,
        "frozen": frozen,
    }
    with run_child(task, [encoded(given)], limits, beat, on_report) as (answer, result):
        yield answer, result


def frozen_state(forecast: Forecast) -> Json | None:
    """Return the state from which a forecast continues; None if this engine saved none."""
    part = forecast.parts.filter(part=ForecastPart.FROZEN, key=ENGINE_VERSION).first()
    if part is None:
        return None
    state: Json = json.loads(zlib.decompress(part.packed))
    return state


def _place(frozen: Json | None) -> list[float]:
    """Return how far a saved state is, as a child reports it: [rows of drawn workloads, second]."""
    return [] if frozen is None else [len(frozen.get("drawn") or ()), frozen["end"]]


@transaction.atomic
def forecast_state_store(
    *, claim: Claim[Forecast], found: Mapping[str, Any], begun_at: Sequence[float] = ()
) -> None:
    """Store the progress of a forecast, and its state if the child sent it.

    `begun_at` is the place from which this attempt continued. A worker or child lost after a later state was
    stored was working on a later part, so that earlier losses no longer count.
    """
    facts = {name: found[name] for name in REPORTED if name in found}
    if found.get("frozen_at", []) > list(begun_at):
        facts |= {"losses": 0, "kills": 0}
    kept = claim.mine().update(**facts)
    if kept and "frozen" in found:
        ForecastPart.objects.update_or_create(
            forecast_id=claim.id,
            part=ForecastPart.FROZEN,
            key=ENGINE_VERSION,
            defaults={"packed": base64.b85decode(found["frozen"]), "size": found["frozen_size"]},
        )


@transaction.atomic
def forecast_finish(*, claim: Claim[Forecast], parts: list[ForecastPart], answer: Json) -> bool:
    """Store the result and end the forecast, in one transaction; return False if the claim was lost."""
    if claim.mine().select_for_update().first() is None:
        return False
    ForecastPart.objects.filter(forecast_id=claim.id).delete()
    ForecastPart.objects.bulk_create(parts, batch_size=20)
    summary = answer["summary"]
    return work_end(
        claim=claim,
        state=Forecast.State.SUCCEEDED,
        simulated_seconds=summary["end_seconds"],
        jobs_done=summary["finished"],
        notes=answer["notes"],
        summary=summary,
        timings=answer["timings"],
        engine_version=answer["engine_version"],
    )
