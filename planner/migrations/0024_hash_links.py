"""The addresses of public links that exist go on working."""

import hashlib
import uuid
from typing import Any

from django.db import migrations


def hash_links(apps: Any, schema_editor: Any) -> None:
    """Keep the hash of each address, whose secret was the link's id, and give the link another id."""
    links = apps.get_model("planner", "PublicLink").objects
    for secret in links.filter(digest=None).values_list("pk", flat=True):
        digest = hashlib.sha256(str(secret).encode()).hexdigest()
        links.filter(pk=secret).update(id=uuid.uuid4(), digest=digest)


class Migration(migrations.Migration):
    dependencies = [("planner", "0023_links_and_events")]
    operations = [migrations.RunPython(hash_links, migrations.RunPython.noop)]
