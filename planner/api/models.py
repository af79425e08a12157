"""The stored responses of create calls with an idempotency key."""

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from planner.accounts.models.workspace import Identified


class IdempotencyKey(Identified):
    """A create call that its caller may repeat without creating a second object."""

    caller = models.CharField(max_length=150, help_text="The token's digest, or the account of a session.")
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64, help_text="Hash of address and body.")
    status = models.PositiveSmallIntegerField(default=0, help_text="0: the call is being answered.")
    body = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    etag = models.CharField(max_length=80, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["caller", "key"], name="key_once_a_caller")]

    def __str__(self) -> str:
        return self.key
