"""The API bodies of public links and bundles."""

from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.api.serializers import ImportSerializer
from planner.runs.api.serializers.runs import RunSerializer
from planner.runs.models import PublicLink
from planner.runs.services.links import DEFAULT_DAYS as DEFAULT_LINK_DAYS
from planner.runs.services.links import LONGEST_DAYS as LONGEST_LINK_DAYS


class LinkSerializer(serializers.ModelSerializer[PublicLink]):
    """A public link to one run, without its address."""

    made_by = serializers.CharField(source="made_by.username", allow_null=True, default=None)

    class Meta:
        model = PublicLink
        fields = ["id", "label", "created", "expires", "made_by", "reads", "last_read"]
        read_only_fields = ["label", "expires", "reads", "last_read"]


class LinkMade(LinkSerializer):
    """A new link with its address, which is shown only once."""

    address = serializers.CharField(
        read_only=True,
        allow_null=True,
        help_text="Null if the call is repeated with the same idempotency key.",
    )

    class Meta(LinkSerializer.Meta):
        fields = [*LinkSerializer.Meta.fields, "address"]


class LinkMake(Body):
    """The request body of a new link."""

    label = serializers.CharField(max_length=100, allow_blank=True, default="")  # type: ignore[assignment]
    days = serializers.IntegerField(min_value=1, max_value=LONGEST_LINK_DAYS, default=DEFAULT_LINK_DAYS)


class BundleFile(serializers.Serializer[Any]):
    """A bundle to import."""

    file = serializers.FileField()


class BundleImported(serializers.Serializer[Any]):
    """The run that repeats a bundle, and its expected result; for a large bundle, its import."""

    run = RunSerializer(allow_null=True)
    result_sha256 = serializers.CharField(allow_null=True)
    engine_version = serializers.CharField(allow_null=True)
    imported_by = ImportSerializer(
        allow_null=True, help_text="A worker reads a bundle of more than 20 MB: follow this import."
    )
