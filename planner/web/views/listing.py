"""Pagination of lists on pages."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import QueryDict

ROWS_A_PAGE = 25


class Listing:
    """One page of a list; its number is the address's parameter of the list's name."""

    def __init__(self, found: "QuerySet[Any] | Sequence[Any]", *, name: str, params: QueryDict) -> None:
        self._page = Paginator(found, ROWS_A_PAGE).get_page(params.get(name))
        self._name = name
        self._params = params
        self.rows: Sequence[Any] = list(self._page)
        self.total: int = self._page.paginator.count
        self.is_cut: bool = self._page.has_other_pages()
        self.first: int = self._page.start_index()
        self.last: int = self._page.end_index()

    @property
    def before(self) -> str:
        """Return the query string of the previous page, empty on the first one."""
        return self._query(self._page.number - 1) if self._page.has_previous() else ""

    @property
    def after(self) -> str:
        """Return the query string of the next page, empty on the last one."""
        return self._query(self._page.number + 1) if self._page.has_next() else ""

    def _query(self, number: int) -> str:
        params = self._params.copy()
        params[self._name] = str(number)
        return f"?{params.urlencode()}"
