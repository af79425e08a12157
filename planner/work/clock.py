"""What time is it for all machines alike? The database's: no lease hangs on a worker's own clock."""

from datetime import timedelta

from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.expressions import Combinable
from django.db.models.functions import Now


def seconds_from_now(seconds: float) -> Combinable:
    """Return the moment so many seconds after the database's present, for an update."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())
