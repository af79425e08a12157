"""What may a service refuse, and with which facts?"""

import errno
from collections.abc import Sequence

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError

from planner.accounts.models import Role
from planning.rows import Problem


class Invalid(Exception):
    """The change would break the plan; nothing was saved."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = list(problems)


class Busy(Exception):
    """Others are being served; in a few seconds the same request would be, too."""


class QuotaExceeded(Exception):
    """The workspace keeps as much as it may; nothing was saved."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class StaleRevision(Exception):
    """The edit saw an older revision than the present one; nothing was saved."""

    def __init__(self, *, expected: int, current: int) -> None:
        super().__init__(f"The edit is based on revision {expected}; the scenario is at revision {current}.")
        self.expected = expected
        self.current = current


class RoleTooLow(PermissionDenied):
    """The account may not do this in this workspace; Django answers 403."""

    def __init__(self, *, needed: Role, role: Role | None) -> None:
        having = f"you are {role}" if role else "you have no role here"
        super().__init__(
            f"This requires the role {needed}; {having}. An admin of the workspace can change that."
        )


_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def is_outage(error: Exception) -> bool:
    """Is something away that comes back without a change of the program?"""
    is_full = isinstance(error, OSError) and error.errno in _NO_SPACE
    return is_full or isinstance(error, OperationalError | InterfaceError | QuotaExceeded)
