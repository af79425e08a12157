"""How is an edit of a scenario answered: made, only tried, or too late?"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import is_dry
from planner.api.errors import StaleEdit
from planner.errors import StaleRevision
from planner.scenarios.api.preconditions import etag, seen_revision
from planner.scenarios.api.serializers.history import ChangeSerializer
from planner.scenarios.models import Change, Scenario
from planner.scenarios.selectors.history import changes_since

Versions = Callable[[list[Change]], tuple[Any, Any]]
"""From the changes since the caller looked to what it saw, and what is there now."""


def edited(request: Request, scenario: Scenario, body: Any, code: int = status.HTTP_200_OK) -> Response:
    """Return what an edit made; a dry run made nothing and left the revision where the edit saw it."""
    if not is_dry(request):
        return Response(body, code, headers={"ETag": etag(scenario.revision)})
    tried = status.HTTP_200_OK if code == status.HTTP_201_CREATED else code
    return Response(body, tried, headers={"ETag": etag(seen_revision(request))})


@contextmanager
def told_when_stale(scenario: Scenario, versions: Versions | None = None) -> Iterator[None]:
    """Answer a stale edit with both versions of what it edits, or with all that was changed meanwhile."""
    try:
        yield
    except StaleRevision as stale:
        later = changes_since(scenario, stale.expected)
        if versions is None:
            seen, current = None, {"changes": ChangeSerializer(later, many=True).data}
        else:
            seen, current = versions(later)
        raise StaleEdit(stale, seen=seen, current=current) from stale
