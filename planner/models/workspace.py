"""Who does a thing belong to?"""

import uuid

from django.db import models


class Identified(models.Model):
    """A row with an id that says nothing and cannot be guessed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        abstract = True


class Workspace(Identified):
    """What a group of people sees and changes together. The first migration makes one, `default`."""

    DEFAULT = "default"

    name = models.CharField(max_length=100, unique=True)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name
