"""How does a script delete something, and learn before what goes with it?"""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.models import User
from planner.api.access import is_dry
from planner.clusters.selectors.usage import Deletable, dependent_counts
from planner.clusters.services.deletion import thing_delete


def deleted(request: Request, thing: Deletable, user: User) -> Response:
    """Delete a thing; of a dry run return how many things of each kind would go with it."""
    if is_dry(request):
        return Response(dependent_counts(thing))
    thing_delete(thing=thing, user=user)
    return Response(status=status.HTTP_204_NO_CONTENT)
