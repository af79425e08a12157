"""Base classes of API calls: access to workspaces, and dry runs."""

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

from planner.accounts.models import Membership, Role, User, Workspace
from planner.accounts.selectors.workspaces import memberships
from planner.accounts.services.events import export_note
from planner.accounts.services.members import full_access_require, workspace_require
from planner.api.filters import is_requested, refuse_empty, refuse_unknown
from planner.api.roles import writer_require
from planner.api.sparse import only_requested
from planner.runs.models import Run
from planner.runs.selectors.runs import runs_and_baselines
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import scenarios

_OF_A_WRITE = {"dry_run", "workspace", "subtree", "base", "format"}
_OF_A_READ = {"fields", "format"}


@method_decorator(gzip_page, name="dispatch")
class WorkspaceView(APIView):
    """A call within the workspaces of its caller; objects of other workspaces answer 404."""

    sparse = True
    """Whether the response is JSON that supports the parameter `fields`."""

    parameters: tuple[str, ...] | None = ()
    """Further query parameters of a read call; None: the call itself rejects unknown ones."""

    shown_once: str = ""
    """The secret field of a create call's response, which is left out when the call is repeated."""

    needed: Role | None = Role.EDITOR
    """The role that calls that write need; None: none, or the call itself decides."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Reject callers whose role does not allow the call, then unknown query parameters.

        A misspelt `dry_run` would save.
        """
        super().initial(request, *args, **kwargs)
        if request.method not in SAFE_METHODS:
            self.require_role()
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

    def require_role(self) -> None:
        """Raise RoleTooLow if the caller may not make this call, whatever else is wrong with the call."""
        if self.needed is not None:
            writer_require(user=self.user, address=self.kwargs, needed=self.needed)

    @property
    def user(self) -> User:
        """Return the caller; anonymous requests are rejected before."""
        assert isinstance(self.request.user, User), "every call here requires a login"
        return self.request.user

    def workspace_for_import(self) -> Workspace:
        """Return the workspace in ``?workspace=``, otherwise the first that the caller may edit."""
        chosen = serializers.UUIDField(required=False)
        named = self.request.query_params.get("workspace")
        try:
            return workspace_require(
                user=self.user, chosen=None if named is None else chosen.run_validation(named)
            )
        except serializers.ValidationError as error:
            raise serializers.ValidationError({"workspace": error.detail}) from None

    def note_export(self, workspace: Workspace | None, subject: str) -> None:
        """Record an export by the caller from one or several workspaces."""
        address = self.request.META.get("REMOTE_ADDR", "")
        export_note(user=self.user, workspace=workspace, subject=subject, address=address)

    def scenario(self) -> Scenario:
        """Return the requested scenario, or answer 404."""
        return get_object_or_404(scenarios(self.user), pk=self.kwargs["scenario_id"])

    def run(self) -> Run:
        """Return the requested run, or answer 404."""
        return get_object_or_404(runs_and_baselines(self.user), pk=self.kwargs["run_id"])


class OwnAccount(WorkspaceView):
    """A call about the caller's own account, which a token may change only with the scope admin."""

    def require_role(self) -> None:
        """Raise RoleTooLow for a token below admin."""
        full_access_require(user=self.user)


class OneWorkspace(WorkspaceView):
    """A call about one workspace of the caller."""

    def membership(self) -> Membership:
        """Return the caller's membership of the requested workspace, or answer 404."""
        return get_object_or_404(memberships(self.user), workspace=self.kwargs["workspace_id"])

    def workspace(self) -> Workspace:
        """Return the requested workspace, or answer 404."""
        return self.membership().workspace


def is_dry(request: Request) -> bool:
    """Return whether the call is a dry run (``?dry_run=1``)."""
    return is_requested(request, "dry_run") or False


@contextmanager
def saved_unless_dry(request: Request) -> Iterator[None]:
    """Save the writes in the block, or roll them back in a dry run."""
    if not is_dry(request):
        yield
        return
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def made(request: Request, body: dict[str, Any], status: int, **headers: str) -> Response:
    """Return the response of a create call; in a dry run without an id."""
    if is_dry(request):
        return Response({**body, "id": None})
    return Response(body, status, headers=headers)
