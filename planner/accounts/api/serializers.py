"""The API bodies of tokens, invitations, sessions and events."""

from rest_framework import serializers

from planner.accounts.models import Event, Invitation, Role, Session, TokenDetails
from planner.accounts.services.tokens import DEFAULT_DAYS, LONGEST_DAYS
from planner.api.bodies import Body


class TokenSerializer(serializers.ModelSerializer[TokenDetails]):
    """An API token of the caller, without its text."""

    id = serializers.CharField(
        source="token.token_key", read_only=True, help_text="The first characters of the token."
    )
    created = serializers.DateTimeField(source="token.created", read_only=True)
    expires = serializers.DateTimeField(source="token.expiry", allow_null=True, read_only=True)

    class Meta:
        model = TokenDetails
        fields = ["id", "name", "scope", "created", "expires", "last_used"]
        read_only_fields = ["name", "scope", "last_used"]


class TokenMade(TokenSerializer):
    """A new token; its text is returned only once."""

    text = serializers.CharField(
        read_only=True,
        allow_null=True,
        help_text="Null if the call is repeated with the same idempotency key.",
    )

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "text"]


class TokenMake(Body):
    """A token to create."""

    name = serializers.CharField(max_length=100, allow_blank=True, default="")
    scope = serializers.ChoiceField(choices=Role.choices)
    days = serializers.IntegerField(
        min_value=1,
        max_value=LONGEST_DAYS,
        required=False,
        help_text=f"{DEFAULT_DAYS} without this, or as long as the token that makes it.",
    )


class AccountDeletion(Body):
    """The confirmation of an account's deletion."""

    confirmation = serializers.CharField(
        trim_whitespace=False, help_text="The password; the user name of an account without one."
    )


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An open invitation, without its link."""

    invited_by = serializers.CharField(source="invited_by.username", allow_null=True, default=None)
    username = serializers.CharField(read_only=True, help_text="The invited account; empty: a link.")

    class Meta:
        model = Invitation
        fields = ["id", "username", "role", "created", "expires", "invited_by"]
        read_only_fields = ["role", "created", "expires"]


class OfferSerializer(InvitationSerializer):
    """An open invitation that names the caller."""

    workspace = serializers.CharField(source="workspace.name", read_only=True)

    class Meta(InvitationSerializer.Meta):
        fields = ["id", "workspace", "role", "created", "expires", "invited_by"]


class InvitationMade(InvitationSerializer):
    """A new invitation; its link is returned only once."""

    address = serializers.CharField(
        read_only=True,
        allow_null=True,
        help_text="Null if the call is repeated with the same idempotency key.",
    )

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "address"]


class EventSerializer(serializers.ModelSerializer[Event]):
    """An event about members, tokens, invitations or public links."""

    class Meta:
        model = Event
        fields = ["id", "created", "actor", "kind", "action", "subject", "before", "after"]


class SessionSerializer(serializers.ModelSerializer[Session]):
    """A session of the caller's account."""

    id = serializers.CharField(source="name", read_only=True)
    expires = serializers.DateTimeField(source="expire_date", read_only=True)

    class Meta:
        model = Session
        fields = ["id", "agent", "address", "began", "expires"]
        read_only_fields = ["agent", "address", "began"]


class LoginSerializer(serializers.ModelSerializer[Event]):
    """A log-in to the caller's account, a failure, or a change of its security settings."""

    class Meta:
        model = Event
        fields = ["id", "created", "actor", "action", "subject", "address"]
