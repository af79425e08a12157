"""The exceptions that services raise."""

import errno
from collections.abc import Sequence

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError

from planner.accounts.models import Role
from planning.rows import Problem


class Invalid(Exception):
    """The change would make the plan invalid; nothing was saved."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = list(problems)


class Busy(Exception):
    """The server is busy; the same request can be repeated in a few seconds."""


class Gone(Exception):
    """What a request is about was removed after it was read; nothing was saved."""


class QuotaExceeded(Exception):
    """The workspace has reached its quota; nothing was saved."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class StaleRevision(Exception):
    """The edit is based on an older revision than the current one; nothing was saved."""

    def __init__(self, *, expected: int, current: int) -> None:
        super().__init__(f"The edit is based on revision {expected}; the scenario is at revision {current}.")
        self.expected = expected
        self.current = current


class StaleTargets(Exception):
    """The wait targets have changed since the edit's caller read them; nothing was saved."""

    def __init__(self) -> None:
        super().__init__("The wait targets have changed since; read them again, or PATCH single ones.")


class RoleTooLow(PermissionDenied):
    """The account's role in the workspace, or its token, does not allow this; Django answers 403.

    `scope` is the scope of the token if that is what does not cover the role needed.
    """

    def __init__(self, *, needed: Role, role: Role | None = None, scope: Role | None = None) -> None:
        if scope:
            super().__init__(
                f"This requires a token with scope {needed}; this one has scope {scope}."
                " Create another one on the page Account."
            )
            return
        having = f"you are {role}" if role else "you have no role here"
        super().__init__(
            f"This requires the role {needed}; {having}. An admin of the workspace can change that."
        )


def gone_of(error: Exception) -> Gone | None:
    """Return what an error says was removed; the database says it of a row that another one refers to.

    Django says it of a row that is saved, but no longer there.
    """
    if isinstance(error, Gone):
        return error
    if isinstance(error, DatabaseError) and "did not affect any rows" in str(error):
        return Gone("What this changes was deleted in the meantime. Nothing was saved.")
    if isinstance(error, IntegrityError) and "foreign key constraint" in str(error).lower():
        return Gone("What this refers to was deleted in the meantime. Nothing was saved.")
    return None


_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def is_outage(error: Exception) -> bool:
    """Return whether a service is unavailable for a while: the database, or disk space."""
    is_full = isinstance(error, OSError) and error.errno in _NO_SPACE
    return is_full or isinstance(error, OperationalError | InterfaceError | QuotaExceeded)
