"""The commands and options of the command line."""

import argparse
import re
from importlib import metadata
from pathlib import Path

from queuecast import commands, plan_commands, run_commands
from queuecast.completion import SHELLS
from queuecast.forecast_arguments import add_forecast_commands, add_workload
from queuecast.live import CONFIG_MAP
from queuecast.member_arguments import add_member_commands
from queuecast.parsing import Groups, add_command, add_group, place_options, shared_options
from queuecast.reports import FORMS as REPORTS
from queuecast.scenario_arguments import add_scenario_commands
from queuecast.server_arguments import add_server_commands
from queuecast.stored_arguments import add_stored_commands

EXIT_CODES = """\
exit codes:
  0  done
  1  the check failed: a failed run, a broken rule, a lint error or an undecided conflict
  2  invalid file, option or plan; the reasons are on standard error
  3  the server does not respond
  4  the token is missing or lacks permission
  5  the scenario has changed meanwhile; read it again and retry
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="queuecast",
        description="Simulate Volcano's decisions, on a Queuecast server or on files with --local.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[shared_options()],
    )
    top.add_argument("--version", action="version", version=f"queuecast {_version()}")
    groups = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_import(groups)
    add_command(add_group(groups, "snapshot", "list"), "list", commands.snapshot_list)
    add_scenario_commands(groups)
    add_server_commands(groups)
    add_member_commands(groups)
    add_stored_commands(groups)
    _add_delete(groups)
    _add_lint(groups)
    _add_runs(groups)
    _add_plans(groups)
    _add_check(groups)
    _add_upgrade(groups)
    add_forecast_commands(groups)
    completion = groups.add_parser("completion", help="Print a completion script for a shell.")
    completion.add_argument("shell", choices=SHELLS)
    return top


def _version() -> str:
    """Return the installed version, or that of the source folder."""
    try:
        return metadata.version("queuecast")
    except metadata.PackageNotFoundError:
        return _version_of_sources() or "of unknown version"


def _version_of_sources() -> str:
    kept = Path(__file__).parents[1] / "config" / "version.py"
    found = re.search(r'^VERSION = "(.+)"$', kept.read_text("utf-8") if kept.is_file() else "", re.MULTILINE)
    return found[1] if found else ""


def _add_import(groups: Groups) -> None:
    command = add_command(groups, "import", commands.import_cluster)
    command.add_argument(
        "files",
        nargs="*",
        type=Path,
        help="output of kubectl get -o yaml, plain or gzip; - is standard input",
    )
    command.add_argument("--dry-run", action="store_true", help="read and check everything, save nothing")
    command.add_argument("--name", default="", help="the snapshot's name")
    command.add_argument("--cluster", action="store_true", help="read the live cluster of the kubeconfig")
    command.add_argument("--kubeconfig", help="another kubeconfig")
    command.add_argument("--kube-context", help="context of the kubeconfig")
    command.add_argument(
        "--config-map", default=CONFIG_MAP, metavar="NAMESPACE/NAME",
        help="ConfigMap of the live cluster's scheduler configuration (%(default)s)",
    )  # fmt: skip


def _add_delete(groups: Groups) -> None:
    command = add_command(groups, "delete", commands.delete)
    command.add_argument(
        "kind", choices=("cluster", "snapshot", "run", "forecast", "experiment", "workspace")
    )
    command.add_argument("name", help="id, or name")
    command.add_argument("--dry-run", action="store_true", help="only list what would be deleted with it")


def _add_lint(groups: Groups) -> None:
    command = add_command(groups, "lint", commands.lint)
    command.add_argument("files", nargs="+", type=Path, help="queues, jobs, nodes, the scheduler's ConfigMap")


def _add_runs(groups: Groups) -> None:
    run = add_command(groups, "run", run_commands.run)
    run.add_argument("scenarios", nargs="+", metavar="SCENARIO")
    run.add_argument("--cycles", type=int, default=1, help="number of scheduling cycles (1)")
    waiting = run.add_mutually_exclusive_group()
    waiting.add_argument("--no-wait", action="store_true", help="start the runs and do not wait")
    waiting.add_argument(
        "--watch", action="store_true", help="show the progress of a run on standard error; list its victims"
    )
    add_command(groups, "runs", run_commands.run_list).add_argument("scenario", nargs="?", default="")
    wait = add_command(groups, "wait", run_commands.wait)
    wait.add_argument("runs", nargs="+", metavar="RUN")
    wait.add_argument("--for", dest="state", choices=run_commands.STATES, default=run_commands.FINISHED)
    wait.add_argument(
        "--timeout", type=float, default=3600.0, metavar="SECONDS", help="the longest wait (3600)"
    )
    add_command(groups, "cancel", run_commands.cancel).add_argument("run")
    add_command(groups, "queues", run_commands.queues_of_run).add_argument("run")
    jobs = add_command(groups, "jobs", run_commands.jobs_of_run)
    jobs.add_argument("run")
    jobs.add_argument("--pending", action="store_true", help="only those with waiting pods")
    add_command(groups, "victims", run_commands.victims).add_argument("run")
    decisions = add_command(groups, "decisions", run_commands.decisions)
    decisions.add_argument("run")
    for name in run_commands.DECISION_FILTERS:
        decisions.add_argument(f"--{name}", default="", help=f"only of this {name}")
    add_command(groups, "compare", run_commands.compare).add_argument("runs", nargs="+", metavar="RUN")
    explain = add_command(groups, "explain", run_commands.explain)
    explain.add_argument("run")
    explain.add_argument("what", choices=tuple(run_commands.STORIES))
    explain.add_argument("name", help="namespace/name of a job or pod, or name of a queue or node")
    explain.add_argument(
        "--unblock", action="store_true", help="search for changes that would let the job run"
    )
    explain.add_argument("--seconds", type=float, default=5.0, help="how long to search (%(default)s)")
    page = add_command(groups, "open", run_commands.open_page)
    page.add_argument("kind", choices=("scenarios", "runs"))
    page.add_argument("name", help="id, or the name of a scenario")
    page.add_argument("--print", action="store_true", help="print the address only")


def _add_upgrade(groups: Groups) -> None:
    upgrade = groups.add_parser(
        "upgrade", help="Compare two releases of Volcano on a cluster, with the cause of every difference."
    )
    upgrade.add_argument("files", nargs="+", type=Path, help="the cluster: manifests, a scenario or a replay")
    upgrade.add_argument(
        "--from",
        dest="old",
        metavar="RELEASE",
        help="the release that runs now (the scenario's, else v1.15.1)",
    )
    upgrade.add_argument(
        "--to", dest="new", required=True, metavar="RELEASE", help="the release to upgrade to"
    )
    upgrade.add_argument("-o", "--output", choices=("markdown", "json"), default="markdown")
    upgrade.add_argument("--exit-code", action="store_true", help="exit with 1 when anything differs")
    upgrade.set_defaults(command="upgrade")


def _add_plans(groups: Groups) -> None:
    for name, do in (("diff", plan_commands.diff), ("apply", plan_commands.apply)):
        command = add_command(groups, name, do)
        _add_plan_file(command)
        if name == "diff":
            command.add_argument("--exit-code", action="store_true", help="exit with 1 when anything differs")
        else:
            command.add_argument("--no-run", action="store_true", help="only write the scenario")
    plan = groups.add_parser(
        "plan", help="Show what a plan changes, and its effects.", parents=[place_options()],
        description="Show what a plan in a file changes, and its effects. Nothing is stored.",
    )  # fmt: skip
    _add_plan_file(plan)
    _add_report(plan)


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
    check = groups.add_parser(
        "check",
        help="Simulate a change and check the result against rules, for CI.",
        parents=[place_options()],
    )
    check.add_argument(
        "changes",
        nargs="+",
        type=Path,
        help="changed objects in any mix: queues, scheduler ConfigMap, vcjobs …",
    )
    check.add_argument(
        "--against", nargs="+", required=True, metavar="SNAPSHOT",
        help="files, or the name of a snapshot of the server or of --local",
    )  # fmt: skip
    check.add_argument("--assert", dest="rules", type=Path, required=True, metavar="RULES")
    check.add_argument("--trace", type=Path, help="the workload of rules about a forecast, plain or gzip")
    add_workload(check)
    _add_report(check)
