"""Commands about experiments on a server."""

import argparse

from queuecast.backend import Backend, Json
from queuecast.client import on_server
from queuecast.commands import scenarios
from queuecast.experiment_tables import cells_table, verdict_parts, write_cells
from queuecast.shown import Output, Table


def experiment_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the experiments, newest first."""
    return _experiments(on_server(backend, "experiments").experiments())


def experiment_show(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the progress of an experiment, and the result of a search."""
    found = on_server(backend, "experiments").experiment(args.experiment)
    done, verdict = found["progress"], found["verdict"]
    parts: list[Table | str] = [_table([found]), f"{done['measured']} of {done['planned']} combinations"]
    if verdict:
        parts += verdict_parts(verdict, is_of_forecasts="forecast" in found["written"])
    return Output(found, parts)


def experiment_cells(backend: Backend, args: argparse.Namespace) -> Output:
    """List the combinations that are measured so far: settings, price, figures."""
    client = on_server(backend, "experiments")
    found = client.experiment_cells(args.experiment)
    if args.to:
        write_cells(args.to, found, lambda: client.experiment_cells_parquet(args.experiment))
    return Output(found, [cells_table(found)])


def experiment_cancel(backend: Backend, args: argparse.Namespace) -> Output:
    """Stop an experiment and keep its measurements."""
    return _experiments(on_server(backend, "experiments").experiment_cancel(args.experiment))


def experiment_open(backend: Backend, args: argparse.Namespace) -> Output:
    """Create a scenario with the settings of a combination, by its number."""
    client = on_server(backend, "experiments")
    return scenarios(client.experiment_open(args.experiment, args.number, args.name))


def experiment_forecast(backend: Backend, args: argparse.Namespace) -> Output:
    """Start the forecast of a combination; creates its scenario and its trace."""
    made = on_server(backend, "experiments").experiment_forecast(args.experiment, args.number)
    names = ("forecast", "scenario", "trace")
    return Output(made, [Table(("FORECAST", "SCENARIO", "TRACE"), [tuple(made[name] for name in names)])])


def _experiments(found: Json | list[Json]) -> Output:
    return Output(found, [_table(found if isinstance(found, list) else [found])])


def _table(rows: list[Json]) -> Table:
    facts = ("id", "name", "kind", "state", "scenario_name", "planned", "created", "owner")
    columns = ("ID", "NAME", "KIND", "STATE", "SCENARIO", "COMBINATIONS", "CREATED", "BY")
    lines = [tuple(one[fact] for fact in facts) for one in rows]
    return Table(columns, lines, empty="No experiment yet: queuecast sweep FILE", wide=2)
