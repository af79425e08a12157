"""Figures and goals of experiments as texts with units, from their stored names and numbers."""

import re

from planning.experiments.figures import WAITS
from planning.forecasts.clock import spelled
from planning.units import amount_text, percent, written

_AMOUNTS = ("deserved", "allocated", "deficit")
_SHARES = ("share", "utilisation")
_END = re.compile(r"\b(at most|at least) (\S+)")


def figure_text(name: str, value: float | None) -> str:
    """Return a value of the figure that a name begins with.

    >>> figure_text("deserved nvidia.com/gpu of agents", 80_000), figure_text("share of agents", 0.568)
    ('80 GPUs', '56.8 %')
    >>> figure_text("wait_p95 of analytics", 134.241), figure_text("waiting_pods", 2.25)
    ('2 min 14 s', '2.25')
    """
    kind, _, rest = name.partition(" ")
    if value is None:
        return "unlimited"
    if kind in WAITS:
        return spelled(value)
    if kind in _SHARES:
        return percent(value)
    return amount_text(rest.partition(" ")[0], value) if kind in _AMOUNTS else written(value)


def goal_text(goal: str) -> str:
    """Return a goal with its limits in the units of `figure_text`.

    >>> goal_text("deserved cpu of a at least 20000")
    'deserved cpu of a at least 20 cores'
    """
    return _END.sub(lambda end: f"{end[1]} {figure_text(goal, float(end[2]))}", goal)
