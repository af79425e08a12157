"""API calls about workspaces and their members."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.api.filters import MemberFilter, WorkspaceFilter
from planner.accounts.api.serializers import InvitationSerializer
from planner.accounts.api.workspace_serializers import (
    MemberSerializer,
    RoleOnly,
    WorkspaceName,
    WorkspaceSerializer,
)
from planner.accounts.models import Membership, Role
from planner.accounts.selectors.workspaces import members, memberships
from planner.accounts.services.invitations import invitation_offer
from planner.accounts.services.members import member_change, member_remove
from planner.accounts.services.workspaces import workspace_create, workspace_rename
from planner.api.access import OneWorkspace, OwnAccount, made, saved_unless_dry
from planner.api.deletion import deleted
from planner.api.idempotency import once
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, answers, listed
from planner.api.tables import TableList


@extend_schema_view(get=extend_schema(responses=listed(WorkspaceSerializer)))
class WorkspaceList(OwnAccount, TableList):
    """The caller's workspaces, and its role in each."""

    queryset = Membership.objects.none()
    serializer_class = WorkspaceSerializer
    filterset_class = WorkspaceFilter

    def get_queryset(self) -> QuerySet[Membership]:
        """Return the caller's workspaces."""
        return memberships(self.user)

    @extend_schema(
        request=WorkspaceName,
        responses=answers({201: WorkspaceSerializer}, 400, 403, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
        filters=False,
    )
    @once
    def post(self, request: Request) -> Response:
        """Create a workspace with the caller as its admin."""
        with saved_unless_dry(request):
            member = workspace_create(name=_name(request), user=self.user)
        return made(request, WorkspaceSerializer(member).data, status.HTTP_201_CREATED)


def _name(request: Request) -> str:
    serializer = WorkspaceName(data=request.data)
    serializer.is_valid(raise_exception=True)
    name: str = serializer.validated_data["name"]
    return name


class WorkspaceDetail(OneWorkspace):
    """One workspace of the caller."""

    needed = Role.ADMIN

    @extend_schema(responses=answers({200: WorkspaceSerializer}, 404))
    def get(self, request: Request, workspace_id: UUID) -> Response:
        """Return a workspace, and the caller's role in it."""
        return Response(WorkspaceSerializer(self.membership()).data)

    @extend_schema(
        request=WorkspaceName,
        responses=answers({200: WorkspaceSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN],
    )
    def patch(self, request: Request, workspace_id: UUID) -> Response:
        """Rename a workspace. Admins only."""
        member = self.membership()
        with saved_unless_dry(request):
            workspace_rename(workspace=member.workspace, name=_name(request), user=self.user)
        return Response(WorkspaceSerializer(member).data)

    @extend_schema(responses=answers({200: OpenApiTypes.OBJECT, 204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, workspace_id: UUID) -> Response:
        """Delete a workspace with all its objects; a dry run returns how many of each. Admins only."""
        return deleted(request, self.membership().workspace, self.user)


@extend_schema_view(get=extend_schema(responses=listed(MemberSerializer)))
class MemberList(OneWorkspace, TableList):
    """The members of a workspace, by name."""

    queryset = Membership.objects.none()
    serializer_class = MemberSerializer
    filterset_class = MemberFilter

    def get_queryset(self) -> QuerySet[Membership]:
        """Return the members."""
        return members(self.workspace())


class MemberDetail(OneWorkspace):
    """One account in a workspace."""

    needed = Role.ADMIN

    def require_role(self) -> None:
        """Raise RoleTooLow, unless the caller leaves: that every member may, and its service checks it."""
        is_own = self.kwargs["username"] == self.user.get_username()
        if self.request.method != "DELETE" or not is_own:
            super().require_role()

    @extend_schema(
        request=RoleOnly,
        responses=answers({200: MemberSerializer, 202: InvitationSerializer}, 400, 403, 404, 422),
        parameters=[DRY_RUN],
    )
    def put(self, request: Request, workspace_id: UUID, username: str) -> Response:
        """Change the role of a member, or invite another account. Admins only."""
        workspace = self.workspace()
        serializer = RoleOnly(data=request.data)
        serializer.is_valid(raise_exception=True)
        role = Role(serializer.validated_data["role"])
        membership = members(workspace).filter(user__username=username).first()
        with saved_unless_dry(request):
            if membership is not None:
                changed = member_change(membership=membership, role=role, user=self.user)
                return Response(MemberSerializer(changed).data)
            offer = invitation_offer(workspace=workspace, username=username, role=role, user=self.user)
        return made(request, InvitationSerializer(offer).data, status.HTTP_202_ACCEPTED)

    @extend_schema(responses=answers({204: None}, 403, 404, 422), parameters=[DRY_RUN])
    def delete(self, request: Request, workspace_id: UUID, username: str) -> Response:
        """Remove a member. Admins remove anybody, other members only themselves; one admin must remain."""
        membership = get_object_or_404(members(self.workspace()), user__username=username)
        with saved_unless_dry(request):
            member_remove(membership=membership, user=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
