"""Tokens, invitations, identities of single sign-on, and the audit."""

from django.conf import settings
from django.db import models
from knox.models import AuthToken

from planner.accounts.models.workspace import Identified, Role, Workspace


class TokenDetails(models.Model):
    """The fields of a token that knox does not have: its name, its scope, its last use."""

    token = models.OneToOneField(
        AuthToken, primary_key=True, on_delete=models.CASCADE, related_name="details"
    )
    name = models.CharField(max_length=100, blank=True, help_text="What the token is used for.")
    scope = models.CharField(
        max_length=10,
        choices=Role.choices,
        help_text="The most powerful role the token may use.",
    )
    last_used = models.DateTimeField(null=True)
    parent = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.CASCADE,
        related_name="children",
        help_text="The token that created this one; revoking it revokes this one, too.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(scope__in=Role.values), name="token_scope_is_a_role")
        ]

    def __str__(self) -> str:
        return self.name or self.token_id[:8]


class Invitation(Identified):
    """An offer of membership: to whoever opens its link first, or to one account by name."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role.choices)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the link's secret.")
    username = models.CharField(
        max_length=150, blank=True, db_default="", help_text="The invited account; empty: a link."
    )
    invitee = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="invitations_received",
        help_text="The account that had this name when it was invited; nobody else may accept.",
    )
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="invitations"
    )
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="accepted_invitations"
    )

    class Meta:
        ordering = ["-created"]
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="invitation_role_is_known")
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.workspace}"


class Identity(Identified):
    """An account's identity at a provider of single sign-on, whose e-mail may change."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once_an_issuer")]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"


class Event(Identified):
    """An audit event; its texts outlive the objects that they name."""

    class Kind(models.TextChoices):
        """The kind of its subject."""

        MEMBER = "member", "Member"
        TOKEN = "token", "Token"
        INVITATION = "invitation", "Invitation"
        LINK = "link", "Public link"
        SCENARIO = "scenario", "Scenario"
        WORKSPACE = "workspace", "Workspace"
        LOGIN = "login", "Log-in"
        EXPORT = "export", "Export"

    workspace = models.ForeignKey(Workspace, null=True, on_delete=models.SET_NULL, related_name="events")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="events"
    )
    actor = models.CharField(max_length=150, blank=True, help_text="The account; empty for the system.")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    action = models.CharField(max_length=20, help_text="made, changed, removed, accepted, read…")
    subject = models.CharField(max_length=253, help_text="The account, token, invitation or run.")
    before = models.CharField(max_length=253, blank=True)
    after = models.CharField(max_length=253, blank=True)
    address = models.CharField(
        max_length=45, blank=True, db_default="", help_text="The network address of the request."
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created"]
        indexes = [
            models.Index(fields=["workspace", "-created"], name="event_of_workspace"),
            models.Index(fields=["user", "-created"], name="event_of_user"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    kind__in=[
                        "member", "token", "invitation", "link", "scenario", "workspace", "login", "export",
                    ]
                ),
                name="event_kind_is_known",
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.kind} {self.subject}"
