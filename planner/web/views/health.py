"""Liveness and readiness probes."""

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse


@login_not_required
def alive(request: HttpRequest) -> HttpResponse:
    """Answer that the process is alive."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
def ready(request: HttpRequest) -> HttpResponse:
    """Answer whether the database responds."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("the database does not answer\n", content_type="text/plain", status=503)
    return HttpResponse("ok\n", content_type="text/plain")
