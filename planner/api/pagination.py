"""How is a long list cut into pages?"""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """Pages of ``{"count", "next", "previous", "results"}``, numbered from 1."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000
