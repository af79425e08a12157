"""What may a service refuse, and with which facts?"""

from collections.abc import Sequence

from planner.rows import Problem


class Invalid(Exception):
    """The change would break the plan; nothing was saved."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = list(problems)


class StaleRevision(Exception):
    """The edit saw an older revision than the present one; nothing was saved."""

    def __init__(self, *, expected: int, current: int) -> None:
        super().__init__(f"The edit saw revision {expected}; the scenario is at revision {current}.")
        self.expected = expected
        self.current = current
