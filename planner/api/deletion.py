"""Deletion by API calls, with a dry run that counts what is deleted."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.models import User
from planner.api.access import is_dry
from planner.clusters.selectors.usage import Deletable, dependent_counts
from planner.clusters.services.deletion import thing_delete


def deleted(request: Request, thing: Deletable, user: User) -> Response:
    """Delete an object; in a dry run return the number of dependent objects of each kind."""
    if is_dry(request):
        return Response(dependent_counts(thing))
    thing_delete(thing=thing, user=user)
    return Response(status=status.HTTP_204_NO_CONTENT)
