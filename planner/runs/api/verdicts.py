"""API call for the verdict on a run."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.schema import answers
from planner.runs.api.serializers.verdicts import RunVerdictSerializer
from planner.runs.selectors.verdicts import baseline_of, run_verdict


class RunVerdict(WorkspaceView):
    """The verdict on a run."""

    @extend_schema(responses=answers({200: RunVerdictSerializer}, 404))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return starved queues, evictions, jobs that can never run, and how full the nodes are."""
        run = self.run()
        found = run_verdict(run, baseline_of(run))
        if found is None:
            raise NotFound(
                "The run has no verdict: it has no result, or an older release computed it.", "no_verdict"
            )
        return Response(RunVerdictSerializer(found).data)
