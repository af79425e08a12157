"""Parquet tables have the figures of the API and of the CSV, typed columns and reproducible bytes."""

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow.parquet
import pytest
from django.test import Client
from pyarrow import Table
from rest_framework.test import APIClient

from planner.accounts.models import Event
from planner.api.columns import Row
from planner.api.parquet_files import parquet
from planner.runs.models import Run
from tests import factories
from tests.planner.api.test_csv import rows, run_url
from tests.planner.pages import text_of

MEDIA_TYPE = "application/vnd.apache.parquet"


def content(api: APIClient, address: str) -> bytes:
    answer: Any = api.get(address, HTTP_ACCEPT="*/*")
    assert answer.status_code == 200, answer.content
    assert answer.headers["Content-Type"] == MEDIA_TYPE
    assert answer.headers["Content-Disposition"].endswith('.parquet"')
    return bytes(answer.getvalue())


def read_table(file: bytes) -> Table:
    return pyarrow.parquet.read_table(io.BytesIO(file))


def column_types(table: Table) -> dict[str, str]:
    return {field.name: str(field.type) for field in table.schema}


def as_csv(cell: Any) -> str:
    """Return a cell's value as the CSV writes it."""
    if cell is None or isinstance(cell, bool):
        return {None: "", True: "true", False: "false"}[cell]
    text = "unlimited" if cell == float("inf") else str(cell)
    return f"'{text}" if isinstance(cell, str) and text.startswith(tuple("=+-@\t\r\n")) else text


@pytest.mark.parametrize("part", ["queues", "jobs", "victims", "decisions", "nodes"])
def test_a_parquet_table_equals_the_csv_table(api: APIClient, finished_run: Run, part: str) -> None:
    table = read_table(content(api, run_url(finished_run, part, "format=parquet")))
    lines = rows(api, run_url(finished_run, part))
    assert lines
    assert table.column_names == list(lines[0])
    for cells, line in zip(table.to_pylist(), lines, strict=True):
        for name, cell in cells.items():
            is_number = isinstance(cell, float) and line[name] != "unlimited"
            assert (float(line[name]) == cell) if is_number else (line[name] == as_csv(cell)), name


def test_parquet_figures_equal_those_of_the_api_in_typed_columns(api: APIClient, finished_run: Run) -> None:
    data = api.get(run_url(finished_run, "queues", "")).json()["results"]
    table = read_table(content(api, run_url(finished_run, "queues", "format=parquet")))
    known = column_types(table)
    assert known["queue"] == "string"
    assert known["share (ratio)"] == "double"
    assert known["weight"] == "int64"
    assert table["weight"].to_pylist() == [row["weight"] for row in data]
    assert table["parent"].to_pylist() == [row["parent"] for row in data]
    for line, body in zip(table.to_pylist(), data, strict=True):
        for resource, amount in body["capability"].items():
            value = float("inf") if amount["unlimited"] else amount["value"]
            assert line[f"capability.{resource} ({amount['unit']})"] == value


def test_equal_rows_give_equal_bytes(api: APIClient, finished_run: Run) -> None:
    address = run_url(finished_run, "jobs", "format=parquet&ordering=-job")
    assert content(api, address) == content(api, address)


def test_a_parquet_table_honours_filters_and_fields(api: APIClient, finished_run: Run) -> None:
    table = read_table(
        content(api, run_url(finished_run, "jobs", "format=parquet&queue=waits&fields=job,queue"))
    )
    assert table.to_pylist() == [{"job": "default/wait", "queue": "waits"}]


def test_the_accept_header_requests_parquet(api: APIClient, finished_run: Run) -> None:
    answer: Any = api.get(run_url(finished_run, "jobs", ""), HTTP_ACCEPT=MEDIA_TYPE)
    assert bytes(answer.getvalue()) == content(api, run_url(finished_run, "jobs", "format=parquet"))


def test_parquet_errors_are_returned_as_json(api: APIClient, stranger: APIClient, finished_run: Run) -> None:
    unknown = api.get(run_url(finished_run, "jobs", "format=parquet&fields=jbo"))
    assert unknown.status_code == 422
    assert unknown.headers["Content-Type"] == "application/json"
    assert unknown.json()["problems"]
    refused = stranger.get(run_url(finished_run, "queues", "format=parquet"))
    assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
    assert not Event.objects.filter(kind="export").exists()


def test_a_parquet_export_is_recorded_in_the_history(api: APIClient, finished_run: Run) -> None:
    content(api, run_url(finished_run, "victims", "format=parquet"))
    noted = Event.objects.get(kind="export")
    assert noted.subject == f"run {finished_run.pk}: run-victims as Parquet"


def test_every_csv_link_has_a_parquet_link_beside_it(browser: Client, finished_run: Run) -> None:
    other = factories.run(finished_run.scenario)
    run, at = f"/runs/{finished_run.pk}/", f"/scenarios/{finished_run.scenario_id}/"
    for page in (
        run, f"{run}jobs/?by=queue", f"{run}nodes/", f"/compare/?runs={finished_run.pk},{other.pk}",
        at, f"{at}changes/", "/account/",
    ):  # fmt: skip
        seen = text_of(browser.get(page))
        links = re.findall(r'href="([^"]*format=parquet[^"]*)"', seen)
        assert links, page
        assert re.findall(r'href="([^"]*format=csv[^"]*)"', seen) == [
            link.replace("format=parquet", "format=csv") for link in links
        ]
        for link in links:
            assert browser.get(link.replace("&amp;", "&")).headers["Content-Type"] == MEDIA_TYPE, link


def column_of(*values: Any) -> tuple[str, list[Any]]:
    """Return the type and the cells of a column with these values."""
    table = read_table(parquet(lambda: [{"a": value} for value in values]))
    return str(table.schema.field("a").type), table["a"].to_pylist()


@pytest.mark.parametrize(
    ("values", "kind", "held"),
    [
        ((1, None, -(2**63)), "int64", [1, None, -(2**63)]),
        ((1, 2.5), "double", [1.0, 2.5]),
        ((2**53 + 1, 0.5), "double", [2.0**53, 0.5]),
        ((True, None), "bool", [True, None]),
        (("=1", None, ""), "string", ["=1", None, ""]),
        ((True, 1, 0.5, "x"), "string", ["true", "1", "0.5", "x"]),
        ((2**63,), "string", ["9223372036854775808"]),
        (([1, "é"],), "string", ['[1, "é"]']),
        ((None,), "null", [None]),
    ],
)  # fmt: skip
def test_a_column_has_the_narrowest_type_that_holds_it(values: Any, kind: str, held: list[Any]) -> None:
    assert column_of(*values) == (kind, held)


def test_an_unlimited_amount_is_infinity() -> None:
    amounts = [{"value": value, "unit": "bytes", "unlimited": value is None} for value in (None, 5)]
    table = read_table(parquet(lambda: [{"memory": amount} for amount in amounts]))
    assert table.to_pydict() == {"memory (bytes)": [float("inf"), 5.0]}


def test_a_long_table_is_written_in_groups_of_rows() -> None:
    table = read_table(parquet(lambda: ({"number": number} for number in range(25_000))))
    assert table["number"].to_pylist() == list(range(25_000))


def test_an_empty_table_has_no_columns() -> None:
    assert read_table(parquet(list)).shape == (0, 0)


def test_values_that_change_while_a_file_is_written_do_not_break_it() -> None:
    readings: Iterator[list[Row]] = iter([[{"a": 1, "b": None}], [{"a": "x", "b": 2, "c": 3}, {"a": 4}]])
    assert read_table(parquet(lambda: next(readings))).to_pylist() == [
        {"a": None, "b": None},
        {"a": 4, "b": None},
    ]


def test_pyarrow_is_imported_only_when_a_file_is_requested() -> None:
    code = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings_test';"
        "django.setup(); import config.urls, planner.work.tasks; sys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
