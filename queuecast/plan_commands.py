"""The commands `plan`, `diff` and `apply`."""

import argparse
from collections.abc import Mapping
from typing import Any

from queuecast import reports
from queuecast.backend import Backend, Json
from queuecast.effects import Effects, changes
from queuecast.plan_export import plan_of, unsaid
from queuecast.planned import Plan, Planned
from queuecast.plans import NAMED, key_of
from queuecast.problems import Refused
from queuecast.shown import Output, Table, brief
from queuecast.terminal import progress_line

NO = 1
"""The exit code if a rule is broken, the change is rejected, or, with --exit-code, anything differs."""


def plan(backend: Backend, args: argparse.Namespace) -> Json:
    """Return the report of a plan, without storing anything."""
    wanted = Plan.read(args.plan)
    base = wanted.base(backend.snapshot_document)
    planned = wanted.planned(base)
    return _report(planned, Effects.of(base, _run_document(planned)))


def diff(backend: Backend, args: argparse.Namespace) -> Output:
    """Show what `apply` would change in the scenario of this name, else in the snapshot."""
    wanted = Plan.read(args.plan)
    base = wanted.base(backend.snapshot_document)
    there = _scenario(backend, wanted.name)
    present = backend.scenario_document(there["id"]) if there else base
    found = changes(present, wanted.planned(base).document)
    columns = ("KIND", "NAME", "FIELD", "PRESENT", "PLANNED")
    rows = [(one["kind"], one["name"], one["field"], *brief(one["before"], one["after"])) for one in found]
    code = NO if found and args.exit_code else 0
    return Output(found, [Table(columns, rows, empty="No difference.")], code=code)


def apply(backend: Backend, args: argparse.Namespace) -> Output:
    """Apply the plan to the scenario, run it and check its rules; a second time changes nothing."""
    wanted = Plan.read(args.plan)
    snapshot = _kept_snapshot(backend, wanted)
    base = backend.snapshot_document(snapshot["id"])
    planned = wanted.planned(base)
    written = backend.scenario_write(wanted.name, snapshot["id"], planned.document)
    head = f"Scenario {wanted.name}: {written['status']}, revision {written['scenario']['revision']}"
    if args.no_run:
        return Output(written, [head])
    run = _run(backend, written, wanted)
    if run["state"] != "succeeded":
        return Output(
            {**written, "run": run}, [f"{head}\nRun {run['id']} {run['state']}: {run.get('error')}"], code=NO
        )
    _, result = backend.run_documents(run["id"])
    report = _report(planned, Effects.known(base, _run_document(planned), result))
    text = reports.text(report).rstrip("\n")
    return Output(
        {**written, "run": run, "report": report},
        [f"{head}, run {run['id']}", text],
        code=0 if report["passed"] else NO,
    )


def exported_plan(backend: Backend, name: str) -> tuple[Json, list[str]]:
    """Return a scenario as a plan, and what a plan cannot express of it."""
    scenario = _scenario(backend, name)
    assert scenario is not None, "whoever asks has found it"
    snapshot = next(one for one in backend.snapshots() if one["id"] == scenario["snapshot"])
    base, after = backend.snapshot_document(snapshot["id"]), backend.scenario_document(scenario["id"])
    plan = plan_of(scenario["name"], snapshot["name"], base, after)
    return plan, unsaid(plan, base, after)


def _report(planned: Planned, effects: Effects) -> Json:
    rules = planned.plan.rules
    return effects.report(rules.evaluate(effects.outcomes) if rules else [], planned.placed)


def _run_document(planned: Planned) -> Json:
    return {**planned.document, "cycles": planned.plan.cycles}


def _kept_snapshot(backend: Backend, wanted: Plan) -> Json:
    """Return the plan's snapshot; files are imported unless they equal the newest snapshot of the name."""
    files = wanted.snapshot_files()
    held = next(
        (one for one in backend.snapshots() if wanted.snapshot_name in (one["name"], one["id"])), None
    )
    if not files:
        if held is None:
            backend.snapshot_document(wanted.snapshot_name)
            raise Refused(f"No snapshot {wanted.snapshot_name!r}.", code="not_found")
        return held
    if held and _same(backend.snapshot_document(held["id"]), wanted.base(backend.snapshot_document)):
        return held
    with progress_line(f"import {wanted.snapshot_name}") as progress:
        return backend.import_files(files, name=wanted.snapshot_name, progress=progress)


def _same(kept: Json, read: Json) -> bool:
    """Return whether files equal a stored document, independent of format and import time."""
    return _essence(kept) == _essence(read)


def _essence(document: Json) -> Json:
    lists = {kind: {key_of(kind, one): _bare(one) for one in document.get(kind) or ()} for kind in NAMED}
    return {"conf": document.get("scheduler_conf") or "", **lists}


def _bare(value: Any) -> Any:
    """Return a value without empty parts, kind and version; its quantities and numbers as texts."""
    if isinstance(value, Mapping):
        bare = {key: _bare(inner) for key, inner in value.items() if key not in ("apiVersion", "kind")}
        return {key: inner for key, inner in bare.items() if inner not in ("", {}, [])}
    if isinstance(value, list):
        return [_bare(inner) for inner in value]
    return "" if value is None else str(value)


def _scenario(backend: Backend, name: str) -> Json | None:
    return next((one for one in backend.scenarios() if name in (one["name"], one["id"])), None)


def _run(backend: Backend, written: Json, wanted: Plan) -> Json:
    """Return a run of the scenario's current revision: the existing one, else a new one."""
    scenario: dict[str, Any] = written["scenario"]
    for run in backend.runs(scenario["id"])[:1]:
        of = (run["scenario_revision"], run["options"].get("cycles", 1), run["state"])
        if of == (scenario["revision"], wanted.cycles, "succeeded"):
            return run
    started = backend.run_start(scenario["id"], cycles=wanted.cycles)
    with progress_line(f"run {wanted.name}") as progress:
        return backend.run_wait(started["id"], progress)
