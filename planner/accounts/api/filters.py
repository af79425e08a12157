"""Filters of the lists about accounts and workspaces."""

import django_filters

from planner.accounts.models import Event, Invitation, Membership, Session, TokenDetails
from planner.api.filters import words_filter
from planner.web.selectors.orders import order
from planner.web.selectors.words import EVENT_TEXTS


class WorkspaceFilter(django_filters.FilterSet):
    """Workspaces of the caller."""

    name = django_filters.CharFilter(field_name="workspace__name", lookup_expr="icontains")
    ordering = order(("workspace__name", "name"))

    class Meta:
        model = Membership
        fields = ["role"]


class MemberFilter(django_filters.FilterSet):
    """Members of a workspace."""

    ordering = order(("user__username", "user"), ("created", "since"))

    class Meta:
        model = Membership
        fields = ["role"]


class TokenFilter(django_filters.FilterSet):
    """Tokens of the caller."""

    name = django_filters.CharFilter(lookup_expr="icontains")
    ordering = order(("token__created", "created"), ("token__expiry", "expires"), "last_used", "name")

    class Meta:
        model = TokenDetails
        fields = ["scope"]


class InvitationFilter(django_filters.FilterSet):
    """Open invitations of a workspace."""

    ordering = order("created", "expires")

    class Meta:
        model = Invitation
        fields = ["role"]


class OfferFilter(InvitationFilter):
    """Invitations that name the caller."""


class SessionFilter(django_filters.FilterSet):
    """Sessions of the caller."""

    ordering = order("began", "expire_date")

    class Meta:
        model = Session
        fields: list[str] = []


class LoginFilter(django_filters.FilterSet):
    """Log-ins to the caller's account."""

    ordering = order("created")

    class Meta:
        model = Event
        fields = ["action"]


class EventFilter(django_filters.FilterSet):
    """Events about members, tokens, invitations and links."""

    subject = django_filters.CharFilter(lookup_expr="icontains")
    words = words_filter(EVENT_TEXTS, "Part of the account name or the subject.")
    since = django_filters.IsoDateTimeFilter(field_name="created", lookup_expr="gte")
    ordering = order("created", "actor", "subject")

    class Meta:
        model = Event
        fields = ["actor", "kind", "action"]
