"""Arguments of the commands about experiments."""

import argparse
from pathlib import Path

from queuecast import experiment_commands, stored_experiments
from queuecast.parsing import Groups, add_command, add_group


def add_experiment_commands(groups: Groups) -> None:
    """Add the commands."""
    _add_stored(groups)
    _add_experiments(groups)


def _add_stored(groups: Groups) -> None:
    kept = add_group(groups, "experiments", "list, show, cells, cancel, open, forecast")
    add_command(kept, "list", stored_experiments.experiment_list)
    for name, do, edits in (
        ("show", stored_experiments.experiment_show, False),
        ("cells", stored_experiments.experiment_cells, False),
        ("cancel", stored_experiments.experiment_cancel, False),
        ("open", stored_experiments.experiment_open, True),
        ("forecast", stored_experiments.experiment_forecast, True),
    ):
        command = add_command(kept, name, do, edits=edits)
        command.add_argument("experiment", help="id or name")
        if name in ("open", "forecast"):
            command.add_argument("number", type=int, help="number of the combination in `cells -o json`")
        if name == "open":
            command.add_argument("--name", default="", help="name of the new scenario")
        if name == "cells":
            _add_cells_file(command)


def _add_experiments(groups: Groups) -> None:
    for name, do in (("sweep", experiment_commands.sweep), ("search", experiment_commands.search)):
        command = add_command(groups, name, do)
        command.add_argument("experiment", type=Path, help="the experiment, as YAML or JSON")
        command.add_argument("--processes", type=int, metavar="N", help="simulate here, by N processes")
        if name == "sweep":
            _add_cells_file(command)


def _add_cells_file(command: argparse.ArgumentParser) -> None:
    """Add the option for the file of a command's cells."""
    written = "write the cells, too: as CSV, or as Parquet where the name ends in .parquet"
    command.add_argument("--to", type=Path, metavar="FILE", help=written)
