"""API calls about tokens, invitations, sessions, the account and the audit."""

from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.api.filters import (
    EventFilter,
    InvitationFilter,
    LoginFilter,
    OfferFilter,
    SessionFilter,
    TokenFilter,
)
from planner.accounts.api.serializers import (
    AccountDeletion,
    EventSerializer,
    InvitationMade,
    InvitationSerializer,
    LoginSerializer,
    OfferSerializer,
    SessionSerializer,
    TokenMade,
    TokenMake,
    TokenSerializer,
)
from planner.accounts.api.workspace_serializers import RoleOnly
from planner.accounts.models import Event, Invitation, Role, Session, TokenDetails
from planner.accounts.selectors.workspaces import events, offers, open_invitations, tokens
from planner.accounts.services.invitations import (
    invitation_create,
    invitation_decline,
    invitation_revoke,
    offer_accept,
)
from planner.accounts.services.sessions import login_events, session_end, sessions_of
from planner.accounts.services.tokens import token_make, token_revoke
from planner.api.access import OneWorkspace, OwnAccount, WorkspaceView, is_dry, made, saved_unless_dry
from planner.api.idempotency import once
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, answers, listed
from planner.api.tables import TableList
from planner.clusters.selectors.usage import account_dependent_counts
from planner.clusters.services.deletion import account_deletable_require, account_delete


@extend_schema_view(get=extend_schema(responses=listed(TokenSerializer)))
class TokenList(OwnAccount, TableList):
    """The caller's own tokens, newest first."""

    queryset = TokenDetails.objects.none()
    serializer_class = TokenSerializer
    filterset_class = TokenFilter
    shown_once = "text"

    def get_queryset(self) -> QuerySet[TokenDetails]:
        """Return the caller's tokens."""
        return tokens(self.user)

    @extend_schema(
        request=TokenMake,
        responses=answers({201: TokenMade}, 400, 403, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
        filters=False,
    )
    @once
    def post(self, request: Request) -> Response:
        """Create a token; its text is shown only once.

        Requires a session, or a token of scope admin, which the new token does not outlive.
        """
        serializer = TokenMake(data=request.data)
        serializer.is_valid(raise_exception=True)
        wanted = serializer.validated_data | {"scope": Role(serializer.validated_data["scope"])}
        with saved_unless_dry(request):
            details, text = token_make(user=self.user, parent=request.auth, **wanted)
        body = {**TokenSerializer(details).data, "text": None if is_dry(request) else text}
        return made(request, body, status.HTTP_201_CREATED)


class TokenDetail(OwnAccount):
    """One token of the caller."""

    @extend_schema(responses=answers({204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, token_key: str) -> Response:
        """Revoke a token, and those created with it, immediately. Requires a session or an admin token."""
        details = get_object_or_404(tokens(self.user), token__token_key=token_key)
        with saved_unless_dry(request):
            token_revoke(user=self.user, details=details)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema_view(get=extend_schema(responses=listed(InvitationSerializer)))
class InvitationList(OneWorkspace, TableList):
    """The open invitations of a workspace, newest first."""

    queryset = Invitation.objects.none()
    serializer_class = InvitationSerializer
    filterset_class = InvitationFilter
    shown_once = "address"
    needed = Role.ADMIN

    def get_queryset(self) -> QuerySet[Invitation]:
        """Return the open invitations."""
        return open_invitations(self.workspace())

    @extend_schema(
        request=RoleOnly,
        responses=answers({201: InvitationMade}, 400, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
        filters=False,
    )
    @once
    def post(self, request: Request, workspace_id: UUID) -> Response:
        """Create an invitation link for one person; it is returned only once. Admins only."""
        workspace = self.workspace()
        serializer = RoleOnly(data=request.data)
        serializer.is_valid(raise_exception=True)
        with saved_unless_dry(request):
            invitation, secret = invitation_create(
                workspace=workspace, role=Role(serializer.validated_data["role"]), user=self.user
            )
        address = request.build_absolute_uri(reverse("planner:invitation", args=[secret]))
        body = InvitationSerializer(invitation).data
        return made(
            request, {**body, "address": None if is_dry(request) else address}, status.HTTP_201_CREATED
        )


class InvitationDetail(OneWorkspace):
    """One open invitation."""

    needed = Role.ADMIN

    @extend_schema(responses=answers({204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, workspace_id: UUID, invitation_id: UUID) -> Response:
        """Revoke an invitation. Admins only."""
        invitation = get_object_or_404(open_invitations(self.workspace()), pk=invitation_id)
        with saved_unless_dry(request):
            invitation_revoke(invitation=invitation, user=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema_view(get=extend_schema(responses=listed(OfferSerializer)))
class OfferList(TableList):
    """The invitations that name the caller, newest first."""

    queryset = Invitation.objects.none()
    serializer_class = OfferSerializer
    filterset_class = OfferFilter

    def get_queryset(self) -> QuerySet[Invitation]:
        """Return the open invitations of the caller."""
        return offers(self.user)


class OfferDetail(OwnAccount):
    """One invitation that names the caller."""

    @extend_schema(responses=answers({204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, invitation_id: UUID) -> Response:
        """Decline an invitation."""
        with saved_unless_dry(request):
            invitation_decline(invitation=_offer(self, invitation_id), user=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class OfferAccept(OwnAccount):
    """Acceptance of an invitation that names the caller."""

    @extend_schema(request=None, responses=answers({204: None}, 403, 404, 422), parameters=[DRY_RUN])
    def post(self, request: Request, invitation_id: UUID) -> Response:
        """Accept an invitation and become a member of its workspace."""
        with saved_unless_dry(request):
            offer_accept(invitation=_offer(self, invitation_id), user=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _offer(view: WorkspaceView, invitation_id: UUID) -> Invitation:
    return get_object_or_404(offers(view.user), pk=invitation_id)


@extend_schema_view(get=extend_schema(responses=listed(SessionSerializer)))
class SessionList(TableList):
    """The sessions of the caller's account, newest first."""

    queryset = Session.objects.none()
    serializer_class = SessionSerializer
    filterset_class = SessionFilter

    def get_queryset(self) -> QuerySet[Session]:
        """Return the caller's open sessions."""
        return sessions_of(self.user)


class SessionDetail(OwnAccount):
    """One session of the caller."""

    @extend_schema(responses=answers({204: None}, 403, 404), parameters=[DRY_RUN])
    def delete(self, request: Request, session: str) -> Response:
        """End a session immediately. Requires a session, or a token of scope admin."""
        with saved_unless_dry(request):
            if not session_end(user=self.user, name=session):
                raise NotFound
        return Response(status=status.HTTP_204_NO_CONTENT)


class Account(OwnAccount):
    """The caller's own account."""

    @extend_schema(
        responses=answers({200: OpenApiTypes.OBJECT, 204: None}, 400, 403, 422, 429), parameters=[DRY_RUN]
    )
    def delete(self, request: Request) -> Response:
        """Delete the caller's account; what it created stays in its workspaces.

        The body is `{"confirmation"}`: the password, or the user name of an account without one. A dry run
        takes no body and returns what is deleted with the account. Requires a session, or a token of scope
        admin.
        """
        if is_dry(request):
            account_deletable_require(user=self.user)
            return Response(account_dependent_counts(self.user))
        serializer = AccountDeletion(data=request.data)
        serializer.is_valid(raise_exception=True)
        address = request.META.get("REMOTE_ADDR", "")
        account_delete(user=self.user, address=address, **serializer.validated_data)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema_view(get=extend_schema(responses=listed(LoginSerializer)))
class LoginList(TableList):
    """The log-ins to the caller's account, including failures, newest first."""

    queryset = Event.objects.none()
    serializer_class = LoginSerializer
    filterset_class = LoginFilter

    def get_queryset(self) -> QuerySet[Event]:
        """Return the caller's log-ins."""
        return login_events(self.user)


@extend_schema_view(get=extend_schema(responses=listed(EventSerializer)))
class History(OneWorkspace, TableList):
    """The audit of members, tokens, invitations, links, prices and scenarios, newest first."""

    queryset = Event.objects.none()
    serializer_class = EventSerializer
    filterset_class = EventFilter

    def get_queryset(self) -> QuerySet[Event]:
        """Return the workspace's events."""
        return events(self.workspace())
