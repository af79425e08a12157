"""The jobs of a forecast, in the order of its page."""

from collections.abc import Sequence
from typing import overload

from planning.forecasts.figures import JobRow, job_rows, longest_first
from planning.forecasts.record import Record


class JobsInOrder(Sequence[JobRow]):
    """The jobs of a record, longest waits first; rows are built for the shown jobs only."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._places = longest_first(record)

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> JobRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[JobRow]: ...

    def __getitem__(self, place: int | slice) -> JobRow | list[JobRow]:
        """Return one row, or a page of rows."""
        if isinstance(place, slice):
            return job_rows(self._record, self._places[place])
        return job_rows(self._record, self._places[place : place + 1])[0]
