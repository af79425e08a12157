"""API call for the smallest change of each kind with which a figure reaches an amount."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView
from planner.api.schema import ETAG, answers
from planner.scenarios.api.preconditions import etag
from planner.scenarios.api.serializers.reach import ReachSerializer
from planner.scenarios.selectors.reach import AFTER, continuation, scenario_reach
from planning.reach.answers import answer_of
from planning.reach.questions import FIGURES, NAMES

_SAYS = {
    "queue": "For `deserved` and `share`: the queue.",
    "resource": "For `deserved` and `share`: the resource to change.",
    "job": "For `placed`: namespace/name of a PodGroup or vcjob.",
    "at_least": "The smallest accepted value: a quantity, a share such as 80%, a number of pods.",
    "at_most": "The largest accepted value; for `deserved` and `share`.",
    AFTER: "The `next` of a response, with the same question: continues the search.",
}
QUERY = [
    OpenApiParameter("figure", enum=FIGURES, required=True),
    *(OpenApiParameter(name, description=says) for name, says in _SAYS.items()),
]


class ScenarioReach(WorkspaceView):
    """The smallest changes that make a figure reach an amount."""

    parameters = (*NAMES, AFTER)

    @extend_schema(responses=answers({200: ReachSerializer}, 404, 422), parameters=[*QUERY, ETAG])
    def get(self, request: Request, scenario_id: UUID) -> Response:
        """Return the smallest change of each kind with which the figure reaches the amount; saves nothing."""
        scenario = self.scenario()
        answer = scenario_reach(scenario, request.query_params.dict())
        body = {**answer_of(answer), "next": continuation(scenario, answer)}
        return Response(ReachSerializer(body).data, headers={"ETag": etag(scenario.revision)})
