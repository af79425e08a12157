"""File formats of tables: `?format=csv` or `?format=parquet`, or the header Accept."""

from collections.abc import Iterator
from typing import Any, ClassVar

from rest_framework.renderers import BaseRenderer

from planner.api.columns import Rows
from planner.api.csv_files import lines
from planner.api.parquet_files import parquet


class TableFile(BaseRenderer):
    """A file format; `parts` writes the file."""

    title: ClassVar[str]

    def parts(self, rows: Rows) -> Iterator[str | bytes]:
        """Yield the parts of the file."""
        raise NotImplementedError


class CsvFile(TableFile):
    """CSV, for spreadsheets and scripts."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"
    title = "CSV"

    def parts(self, rows: Rows) -> Iterator[str | bytes]:
        """Yield the lines."""
        yield from lines(rows)

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> str:
        """Return an error as one row."""
        return "".join(lines(lambda: [data]))


class ParquetFile(TableFile):
    """Parquet, for notebooks and databases; errors are JSON."""

    media_type = "application/vnd.apache.parquet"
    format = "parquet"
    charset = None
    title = "Parquet"

    def parts(self, rows: Rows) -> Iterator[str | bytes]:
        """Yield the file as a whole: its index is at its end."""
        yield parquet(rows)
