"""Arguments of the commands about plans, checks and upgrades."""

import argparse
from pathlib import Path

from queuecast import plan_commands
from queuecast.check import check, reported
from queuecast.forecast_arguments import add_workload
from queuecast.parsing import Groups, add_command, backend_of, place_options
from queuecast.reports import FORMS as REPORTS
from queuecast.upgrade import upgrade


def add_plan_commands(groups: Groups) -> None:
    """Add the commands; `report_of` returns the report of one with its exit code."""
    _add_plans(groups)
    _add_check(groups)
    _add_upgrade(groups)


def _add_plans(groups: Groups) -> None:
    for name, do in (("diff", plan_commands.diff), ("apply", plan_commands.apply)):
        command = add_command(groups, name, do)
        _add_plan_file(command)
        if name == "diff":
            command.add_argument("--exit-code", action="store_true", help="exit with 1 when anything differs")
        else:
            command.add_argument("--no-run", action="store_true", help="only write the scenario")
    command = groups.add_parser(
        "plan", help="Show what a plan changes, and its effects.", parents=[place_options()],
        description="Show what a plan in a file changes, and its effects. Nothing is stored.",
    )  # fmt: skip
    _add_plan_file(command)
    _add_report(command)
    command.set_defaults(report_of=_planned)


def _add_plan_file(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-f",
        "--file",
        dest="plan",
        type=Path,
        required=True,
        metavar="PLAN",
        help="the plan, as YAML or JSON",
    )


def _add_report(command: argparse.ArgumentParser) -> None:
    command.add_argument("--report", choices=tuple(REPORTS), default="text", help="report format (text)")
    command.add_argument(
        "--to", type=Path, metavar="FILE", help="file for the report (default: standard output)"
    )


def _add_check(groups: Groups) -> None:
    command = groups.add_parser(
        "check",
        help="Simulate a change and check the result against rules, for CI.",
        parents=[place_options()],
    )
    command.add_argument(
        "changes",
        nargs="+",
        type=Path,
        help="changed objects in any mix: queues, scheduler ConfigMap, vcjobs …",
    )
    command.add_argument(
        "--against", nargs="+", required=True, metavar="SNAPSHOT",
        help="files, or the name of a snapshot of the server or of --local",
    )  # fmt: skip
    command.add_argument("--assert", dest="rules", type=Path, required=True, metavar="RULES")
    command.add_argument("--trace", type=Path, help="the workload of rules about a forecast, plain or gzip")
    add_workload(command)
    _add_report(command)
    command.set_defaults(report_of=_checked)


def _add_upgrade(groups: Groups) -> None:
    command = groups.add_parser(
        "upgrade", help="Compare two releases of Volcano on a cluster, with the cause of every difference."
    )
    command.add_argument("files", nargs="+", type=Path, help="the cluster: manifests, a scenario or a replay")
    command.add_argument(
        "--from",
        dest="old",
        metavar="RELEASE",
        help="the release that runs now (the scenario's, else v1.15.1)",
    )
    command.add_argument(
        "--to", dest="new", required=True, metavar="RELEASE", help="the release to upgrade to"
    )
    command.add_argument("-o", "--output", choices=("markdown", "json"), default="markdown")
    command.add_argument("--exit-code", action="store_true", help="exit with 1 when anything differs")
    command.set_defaults(report_of=upgrade)


def _planned(args: argparse.Namespace) -> tuple[str, int]:
    return reported(args.report, lambda: plan_commands.plan(backend_of(args), args))


def _checked(args: argparse.Namespace) -> tuple[str, int]:
    return check(backend_of(args), args)
