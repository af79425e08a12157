"""Who does a thing belong to, and who may do what with it?"""

import uuid

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models


class Identified(models.Model):
    """A row with an id that says nothing and cannot be guessed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        abstract = True


class Workspace(Identified):
    """What a group of people sees and changes together. A migration makes the first one, `default`."""

    DEFAULT = "default"

    name = models.CharField(max_length=100)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse a name that would not be seen as it is."""
        if not self.name.isprintable():
            raise ValidationError({"name": "All characters of a name are printable."})


class Role(models.TextChoices):
    """What a member may do; each role may do what those before it may."""

    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    ADMIN = "admin", "Admin"

    def covers(self, needed: "Role") -> bool:
        """Does this role include what `needed` allows?"""
        order = list(Role)
        return order.index(self) >= order.index(needed)


class Membership(Identified):
    """An account's role in a workspace; without one the workspace does not exist for it."""

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
