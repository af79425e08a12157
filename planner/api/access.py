"""What may this caller see, and is the call meant in earnest?"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils.decorators import method_decorator
from django.views.decorators.gzip import gzip_page
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView, get_object_or_404
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.accounts.models import Membership, User, Workspace
from planner.accounts.selectors.workspaces import memberships
from planner.accounts.services.events import export_note
from planner.accounts.services.members import workspace_require
from planner.api.filters import is_requested, refuse_empty, refuse_unknown
from planner.api.sparse import only_requested
from planner.runs.models import Run
from planner.runs.selectors.runs import runs_and_baselines
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import scenarios

_OF_A_WRITE = {"dry_run", "workspace", "subtree", "base", "format"}
_OF_A_READ = {"fields", "format"}


@method_decorator(gzip_page, name="dispatch")
class WorkspaceView(APIView):
    """A call that sees the workspaces of its caller; what lies in another does not exist for it."""

    sparse = True
    """Is the answer JSON of which a caller may ask for some fields only?"""

    parameters: tuple[str, ...] | None = ()
    """What else may stand in the query string of a reading call; None: the call itself refuses the rest."""

    shown_once: str = ""
    """The field of a creating call's answer that is a secret: a repeated call is answered without it."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse query parameters that nothing here reads: a misspelt `dry_run` would save."""
        super().initial(request, *args, **kwargs)
        if request.method not in SAFE_METHODS:
            refuse_unknown(request.query_params, _OF_A_WRITE)
        elif self.parameters is not None and not isinstance(self, GenericAPIView):
            refuse_unknown(request.query_params, {*_OF_A_READ, *self.parameters})
        refuse_empty(request.query_params)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the response with the requested fields only."""
        if request.method == "GET" and isinstance(response, Response) and response.status_code == 200:
            try:
                response.data = only_requested(request, self, response.data)
            except ValidationError as error:
                response = self.handle_exception(error)
        return super().finalize_response(request, response, *args, **kwargs)

    @property
    def user(self) -> User:
        """Return who calls; strangers do not come this far."""
        assert isinstance(self.request.user, User), "every call here requires a login"
        return self.request.user

    def workspace_for_import(self) -> Workspace:
        """Return the workspace that ``?workspace=`` names, else the first one that the caller may edit."""
        chosen = serializers.UUIDField(required=False)
        named = self.request.query_params.get("workspace")
        try:
            return workspace_require(
                user=self.user, chosen=None if named is None else chosen.run_validation(named)
            )
        except serializers.ValidationError as error:
            raise serializers.ValidationError({"workspace": error.detail}) from None

    def note_export(self, workspace: Workspace | None, subject: str) -> None:
        """Note that the caller takes something out of a workspace, or of several."""
        address = self.request.META.get("REMOTE_ADDR", "")
        export_note(user=self.user, workspace=workspace, subject=subject, address=address)

    def scenario(self) -> Scenario:
        """Return the scenario that the address names, or answer 404."""
        return get_object_or_404(scenarios(self.user), pk=self.kwargs["scenario_id"])

    def run(self) -> Run:
        """Return the run that the address names, or answer 404."""
        return get_object_or_404(runs_and_baselines(self.user), pk=self.kwargs["run_id"])


class OneWorkspace(WorkspaceView):
    """A call about one workspace of the caller."""

    def membership(self) -> Membership:
        """Return the caller's membership of the workspace that the address names, or answer 404."""
        return get_object_or_404(memberships(self.user), workspace=self.kwargs["workspace_id"])

    def workspace(self) -> Workspace:
        """Return the workspace that the address names, or answer 404."""
        return self.membership().workspace


def is_dry(request: Request) -> bool:
    """Is this call only to check what it would do (``?dry_run=1``)?"""
    return is_requested(request, "dry_run") or False


@contextmanager
def saved_unless_dry(request: Request) -> Iterator[None]:
    """Do the writes inside, and undo them all when the call is a dry run."""
    if not is_dry(request):
        yield
        return
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def made(request: Request, body: dict[str, Any], status: int, **headers: str) -> Response:
    """Answer a creating call; a dry run made nothing that an id could name."""
    if is_dry(request):
        return Response({**body, "id": None})
    return Response(body, status, headers=headers)
