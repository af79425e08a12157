"""One-line messages for installations that cannot start, with place and fix."""

import errno
import re

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, OperationalError

_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)
_DAMAGED = ("file is not a database", "malformed")
_OTHER_TABLES = re.compile(r"no such (table|column)|(relation|column) .* does not exist")
"""What SQLite and PostgreSQL say of a table or column that the database does not have."""
_UNUSABLE = ("unable to open database file", "readonly database", "disk I/O error")


def obstacle(error: Exception) -> str | None:
    """Return what prevents the start; None for an error of the program."""
    if isinstance(error, ImproperlyConfigured):
        return str(error)
    if isinstance(error, DatabaseError):
        return _of_database(error)
    if isinstance(error, OSError) and error.filename and error.errno in _CLOSED:
        why = f"{error.filename} cannot be written: {error.strerror}."
        return f"{why} Let this user write there, or set QUEUECAST_VAR to another folder."
    return None


def _of_database(error: DatabaseError) -> str | None:
    database, reason = settings.DATABASES["default"], str(error).strip().partition("\n")[0]
    if _OTHER_TABLES.search(reason):
        return f"The database does not have the tables of this release ({reason}). Run manage.py migrate."
    if "sqlite" in database["ENGINE"]:
        file = f"The database {database['NAME']}"
        if any(text in reason for text in _DAMAGED):
            return (
                f"{file} is damaged ({reason}). Move it away, then restore a backup: manage.py restore FILE."
            )
        if any(text in reason for text in _UNUSABLE):
            return f"{file} cannot be used ({reason}). Let this user write it and its folder."
        return None
    if isinstance(error, OperationalError):
        where = f"{database['HOST'] or 'local socket'}:{database['PORT'] or 5432}/{database['NAME']}"
        return f"The database at {where} does not answer ({reason}). Start it, or correct DATABASE_URL."
    return None
