"""The API bodies of workspaces and their members."""

from rest_framework import serializers

from planner.accounts.models import Membership, Role
from planner.api.bodies import Body


class WorkspaceSerializer(serializers.ModelSerializer[Membership]):
    """A workspace of the caller."""

    id = serializers.UUIDField(source="workspace_id", read_only=True)
    name = serializers.CharField(source="workspace.name", read_only=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "role"]
        read_only_fields = ["role"]


class WorkspaceName(Body):
    """The name of a workspace."""

    name = serializers.CharField(max_length=100)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """An account's role in a workspace."""

    user = serializers.CharField(source="user.username", read_only=True)
    since = serializers.DateTimeField(source="created", read_only=True)

    class Meta:
        model = Membership
        fields = ["user", "role", "since"]
        read_only_fields = ["role"]


class RoleOnly(Body):
    """The role of an account."""

    role = serializers.ChoiceField(choices=Role.choices)
