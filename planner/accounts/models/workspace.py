"""Workspaces, roles and memberships."""

import uuid

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models


class Identified(models.Model):
    """A row with a random id, which reveals nothing."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        abstract = True


class Workspace(Identified):
    """What a group of people sees and edits together. A migration creates the first one, `default`."""

    DEFAULT = "default"

    name = models.CharField(max_length=100)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Reject a name with unprintable characters."""
        if not self.name.isprintable():
            raise ValidationError({"name": "A name can contain only printable characters."})


class Role(models.TextChoices):
    """What a member may do; each role includes those before it."""

    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    ADMIN = "admin", "Admin"

    def covers(self, needed: "Role") -> bool:
        """Return whether this role includes `needed`."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


class Membership(Identified):
    """An account's role in a workspace; without one the workspace is invisible to it."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="member_once_a_workspace"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.workspace}"
