"""The charts of an outcome; each figure is a function of the rows of the table beside it."""

from planner.runs.charts.amounts import amounts_figure
from planner.runs.charts.bullets import bullets
from planner.runs.charts.compare import compared_amounts_figure, compared_share_figure
from planner.runs.charts.flow import flow_figure
from planner.runs.charts.share import share_figure

__all__ = [
    "amounts_figure",
    "bullets",
    "compared_amounts_figure",
    "compared_share_figure",
    "flow_figure",
    "share_figure",
]
