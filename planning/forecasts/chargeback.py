"""Costs of a forecast as JSON data and as the CSV of a chargeback."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from io import StringIO
from typing import Any

from planning.forecasts.costs import Costs


def costs_body(found: Costs) -> dict[str, Any]:
    """Return costs as JSON data, each queue with its charge."""
    rows = [{**asdict(row), "charged": row.charged} for row in found.queues]
    return {"currency": found.currency, "nodes": found.nodes, "pools": dict(found.pools), "queues": rows}


COLUMNS = ("queue", "charged", "allocated", "borrowed", "lent", "idle", "lost")


def chargeback(found: Costs) -> list[dict[str, Any]]:
    """Return one row per queue with its charge and the parts of it, with hours by resource."""
    resources = sorted({name for row in found.queues for name in row.resource_hours})
    return [
        {
            **{column: getattr(row, column) for column in COLUMNS},
            "currency": found.currency,
            **{_hours(name): row.resource_hours.get(name, 0.0) for name in resources},
        }
        for row in found.queues
    ]


def chargeback_csv(found: Costs) -> str:
    """Return the rows of `chargeback` as CSV, with a header."""
    rows: Sequence[Mapping[str, Any]] = chargeback(found)
    file = StringIO()
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, "queue": row["queue"] or "(no queue)"} for row in rows)
    return file.getvalue()


def _hours(resource: str) -> str:
    return {"cpu": "core_hours", "memory": "gib_hours"}.get(resource, f"{resource} hours")
