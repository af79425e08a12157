"""What do people type to bring a trace, and to begin a forecast?"""

from collections.abc import Mapping, Sequence
from typing import Any

from planning.forecasts.clock import duration
from planning.forecasts.options import DEFAULTS
from planning.forecasts.seeds import MOST_SEEDS
from planning.forecasts.typed_changes import TypedChange, change_of
from planning.rows import Problem

Texts = Mapping[str, str]

TIMES = (
    ("horizon_seconds", "Horizon", "1d"),
    ("period_seconds", "Time between sessions", "1s"),
    ("start_delay_seconds", "From bind to running", "0s"),
    ("window_begin_seconds", "Begin in the trace at", "0s"),
    ("default_run_seconds", "Run time where none is known", "1h"),
    ("checkpoint_seconds", "Work between checkpoints", "0s"),
    ("restore_seconds", "Reading a checkpoint", "0s"),
)
"""Fields that hold a length of time, with label and what stands in them at first."""
FACTORS = (("rate", "Jobs"), ("size", "Pods of a job"), ("run_time", "Run times"))
"""Fields that multiply what the trace says."""
MOST_PRICE = 1e9
MOST_CHANGES = 100
_FIX = "Write a time such as 90s, 10m, 8h or 2d."


def options_typed(typed: Texts, trace_queues: Sequence[str]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the options of a forecast as they were typed, and what cannot be read."""
    options: dict[str, Any] = {
        "evicted": typed.get("evicted") or DEFAULTS["evicted"],
        "rest": typed.get("rest", "").strip(),
    }
    problems = []
    for name, label, default in TIMES:
        seconds = duration(typed.get(name, "").strip() or default)
        if seconds is None:
            problems.append(_unreadable(name, label, typed[name], _FIX))
        else:
            options[name] = seconds
    for name, label in FACTORS:
        text = typed.get(name, "").strip() or "1"
        try:
            options[name] = float(text)
        except ValueError:
            problems.append(_unreadable(name, label, text, "Write a number such as 0.5 or 2."))
    text = typed.get("seeds", "").strip() or "0"
    if text.isdecimal():
        options["seeds"] = int(text)
    else:
        fix = f"Write 0, or a number from 2 to {MOST_SEEDS}."
        problems.append(_unreadable("seeds", "The number of drawn workloads", text, fix))
    chosen = {name: typed.get(f"queue.{name}", "") for name in trace_queues}
    options["queues"] = {name: queue for name, queue in chosen.items() if queue}
    return options, problems


def targets_typed(typed: Texts, queues: Sequence[str]) -> tuple[dict[str, float], list[Problem]]:
    """Return the wait targets as they were typed, an empty field for none, and what cannot be read."""
    targets, problems = {}, []
    for queue in queues:
        text = typed.get(f"target.{queue}", "").strip()
        seconds = duration(text) if text else None
        if text and not seconds:
            problems.append(_unreadable(f"target.{queue}", f"The wait target of {queue}", text, _FIX))
        elif seconds:
            targets[queue] = seconds
    return targets, problems


def changes_typed(typed: Texts) -> tuple[list[TypedChange], list[dict[str, Any]], list[Problem]]:
    """Return the rows of timed changes that hold anything, the changes they mean, and what cannot be read."""
    rows = []
    for number in range(MOST_CHANGES):
        if typed.get("remove") == str(number):
            continue
        texts = [typed.get(f"change-{number}-{part}", "").strip() for part in ("at", "subject", "value")]
        if any(texts):
            at, subject, value = texts
            rows.append(TypedChange(at, typed.get(f"change-{number}-happens", ""), subject, value))
    changes, problems = [], []
    for place, row in enumerate(rows):
        change, found = change_of(row, place)
        changes.append(change)
        problems += found
    return rows, changes, problems


def prices_typed(
    typed: Texts, pools: Sequence[str], resources: Sequence[str]
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the prices as they were typed, an empty field for none, and what cannot be read."""
    prices: dict[str, Any] = {"currency": typed.get("currency", "").strip()[:10] or "USD"}
    problems = []
    for part, names in (("pools", pools), ("resources", resources)):
        prices[part] = {}
        for name in names:
            text = typed.get(f"{part}.{name}", "").strip()
            price = _price(text) if text else None
            if text and price is None:
                fix = "Write a price per hour such as 0.03."
                problems.append(_unreadable(f"{part}.{name}", f"The price of {name}", text, fix))
            elif price is not None:
                prices[part][name] = price
    return prices, problems


def _price(text: str) -> float | None:
    try:
        price = float(text)
    except ValueError:
        return None
    return price if 0 <= price <= MOST_PRICE else None


def _unreadable(path: str, label: str, text: str, fix: str) -> Problem:
    return Problem("forecast.form", "error", f"{label}: {text!r} cannot be read.", path=path, fix=fix)
