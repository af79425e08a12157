"""How busy is the installation, for scripts?"""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.services.members import status_require
from planner.api.access import WorkspaceView
from planner.api.schema import answers
from planner.api.serializers import StatusSerializer
from planner.work.status import status


class StatusDetail(WorkspaceView):
    """Queued and running work, and the workers."""

    @extend_schema(responses=answers({200: StatusSerializer}, 403))
    def get(self, request: Request) -> Response:
        """Return the figures of this moment."""
        status_require(user=self.user)
        return Response(StatusSerializer(status()).data)
