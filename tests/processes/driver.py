"""One step of a journey in a process of its own: what a page would do to the installation around it.

``python -m tests.processes.driver <step> [argument…]`` prints one JSON value.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import django

django.setup()

from django.test import Client  # noqa: E402

from planner.models import Run  # noqa: E402
from planner.services.runs import run_cancel  # noqa: E402
from planner.tasks import submit_run  # noqa: E402
from tests import factories  # noqa: E402

PATIENCE = 90.0
FRESH = re.compile(r'csrf[^>]*value="[^"]+"|"X-CSRFToken": "[^"]+"|[^<>]* ago|just now')


def submit(cycles: str, count: str) -> list[str]:
    """Submit `count` runs of `cycles` cycles each on fifty nodes; return their ids."""
    scenario = factories.scenario(document=factories.cluster(nodes=50, waiting=200))
    return [str(submit_run(scenario=scenario, options={"cycles": int(cycles)}).pk) for _ in range(int(count))]


def computing(run_id: str) -> str:
    """Wait until the core has told of progress; return the worker's name."""
    run = _wait(lambda: Run.objects.filter(pk=run_id, state="running", progress__gt=0).first())
    return str(run.worker)


def over(*run_ids: str) -> dict[str, dict[str, Any]]:
    """Wait until the runs are over; return how each one ended."""
    runs = Run.objects.filter(pk__in=run_ids)
    _wait(lambda: all(run.is_over for run in runs.all()))
    return {str(run.pk): _ending(run) for run in runs.all()}


def queued(run_id: str) -> int:
    """Wait until the run has been put back; return how many workers were lost over it."""
    return int(_wait(lambda: Run.objects.filter(pk=run_id, state="queued").first()).losses)


def cancel(run_id: str) -> float:
    """Cancel a run; return how many seconds its end took."""
    asked = time.monotonic()
    run_cancel(run=Run.objects.get(pk=run_id))
    _wait(lambda: Run.objects.get(pk=run_id).is_over)
    return time.monotonic() - asked


def frozen(run_id: str) -> str:
    return Run.objects.get(pk=run_id).input.content().decode()


def result(run_id: str) -> str:
    run = Run.objects.get(pk=run_id)
    assert run.result is not None
    return run.result.content().decode()


def pages(run_id: str) -> dict[str, str]:
    """Return what the pages about a run show, without what is new with every answer."""
    run = Run.objects.get(pk=run_id)
    browser = Client(headers={"host": "localhost"})
    browser.force_login(factories.user())
    addresses = [
        f"/scenarios/{run.scenario_id}/", f"/runs/{run_id}/", f"/runs/{run_id}/queues/waits/",
        f"/runs/{run_id}/jobs/default/wait/",
        f"/api/v1/runs/{run_id}/queues/", f"/api/v1/runs/{run_id}/victims/",
    ]  # fmt: skip
    answers = {address: browser.get(address) for address in addresses}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {address: FRESH.sub("", answer.content.decode()) for address, answer in answers.items()}


def _ending(run: Run) -> dict[str, Any]:
    return {
        "state": run.state,
        "error": run.error,
        "attempt": run.attempt,
        "losses": run.losses,
        "queues": run.queue_outcomes.count(),
        "jobs": run.job_outcomes.count(),
    }


def _wait(look: Callable[[], Any]) -> Any:
    until = time.monotonic() + PATIENCE
    while not (seen := look()):
        if time.monotonic() > until:
            raise TimeoutError(list(Run.objects.values("pk", "state", "error", "progress", "attempt")))
        time.sleep(0.05)
    return seen


if __name__ == "__main__":
    steps = {step.__name__: step for step in (submit, computing, over, queued, cancel, frozen, result, pages)}
    sys.stdout.write(json.dumps(steps[sys.argv[1]](*sys.argv[2:])))
