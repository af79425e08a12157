"""Pagination of lists."""

import sys

from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

from planner.api.table_files import TableFile


class Pages(PageNumberPagination):
    """Pages of ``{"count", "next", "previous", "results"}``, numbered from 1."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_page_size(self, request: Request) -> int | None:
        """Return the page size: the requested number, or all rows for a table."""
        if isinstance(getattr(request, "accepted_renderer", None), TableFile):
            return sys.maxsize
        text = request.query_params.get(self.page_size_query_param)
        if text is not None and not (text.isascii() and text.isdecimal() and int(text[:9]) > 0):
            message = f"Write a whole number from 1 to {self.max_page_size}."
            raise ValidationError({self.page_size_query_param: [ErrorDetail(message, "invalid")]})
        return super().get_page_size(request)
