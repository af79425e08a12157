"""Commands that show one list of a server's forecast."""

import argparse

from queuecast.backend import Backend, Json
from queuecast.client import on_server
from queuecast.forecast_tables import causes_table, fairness_table, service_table, waits_table
from queuecast.shown import Output


def forecast_queues(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the waits of each queue of a forecast."""
    found = _verdict(backend, args)["queues"]
    return Output(found, [waits_table(found)])


def forecast_causes(backend: Backend, args: argparse.Namespace) -> Output:
    """Show why the jobs of each queue waited."""
    found = _verdict(backend, args)["causes"]
    return Output(found, [causes_table(found)])


def forecast_service(backend: Backend, args: argparse.Namespace) -> Output:
    """Show turnaround, slowdown and starvation of each queue."""
    found = _verdict(backend, args)
    return Output(found["service"], [service_table(found["service"], found["begin"])])


def forecast_fairness(backend: Backend, args: argparse.Namespace) -> Output:
    """Show how evenly each resource was divided, and what evictions cost."""
    found = _verdict(backend, args)
    return Output(found["fairness"], [fairness_table(found["fairness"], found["churn"])])


def _verdict(backend: Backend, args: argparse.Namespace) -> Json:
    return on_server(backend, f"forecasts {args.forecasts_command}").forecast_verdict(args.forecast)
