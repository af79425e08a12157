"""Which commands and options does the command line have?"""

import argparse
from pathlib import Path
from typing import TypeAlias

from queuecast import commands, plan_commands, run_commands
from queuecast.client import HERE
from queuecast.completion import SHELLS
from queuecast.live import CONFIG_MAP
from queuecast.reports import FORMS as REPORTS
from queuecast.shown import FORMS
from queuecast.store import FOLDER

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
        parents=[_shared()],
    )
    groups = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_import(groups)
    _command(_group(groups, "snapshot", "list"), "list", commands.snapshot_list)
    _add_scenario(groups)
    _add_delete(groups)
    _add_queue(groups)
    _add_conf(groups)
    _add_lint(groups)
    _add_job(groups)
    _add_runs(groups)
    _add_plans(groups)
    _add_check(groups)
    _add_upgrade(groups)
    completion = groups.add_parser("completion", help="print a completion script for a shell")
    completion.add_argument("shell", choices=SHELLS)
    return top


Groups: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _shared() -> argparse.ArgumentParser:
    """Return the options that may come before and after every command."""
    shared = _where()
    shared.add_argument("--output", "-o", choices=FORMS, help="output format (table)")
    return shared


def _where() -> argparse.ArgumentParser:
    """Return the options that say where scenarios are kept."""
    shared = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument("--server", metavar="URL", help=f"server address ($QUEUECAST_URL, default {HERE})")
    shared.add_argument("--token", help="API token ($QUEUECAST_TOKEN)")
    shared.add_argument("--local", action="store_true", help="work on files, without a server")
    shared.add_argument("--folder", type=Path, help=f"folder of --local ({FOLDER})")
    return shared


def _command(groups: Groups, name: str, do: commands.Command) -> argparse.ArgumentParser:
    says = (do.__doc__ or "").strip().partition("\n")[0]
    command = groups.add_parser(name, help=says, description=says, parents=[_shared()])
    command.set_defaults(do=do)
    return command


def _group(groups: Groups, name: str, says: str) -> Groups:
    group = groups.add_parser(name, help=says, description=says)
    return group.add_subparsers(dest=f"{name}_command", required=True, metavar="COMMAND")


def _add_import(groups: Groups) -> None:
    command = _command(groups, "import", commands.import_cluster)
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
    command.add_argument("--context", help="context of the kubeconfig")
    command.add_argument(
        "--config-map", default=CONFIG_MAP, metavar="NAMESPACE/NAME",
        help="where the live cluster has the scheduler's configuration (%(default)s)",
    )  # fmt: skip


def _add_scenario(groups: Groups) -> None:
    scenario = _group(groups, "scenario", "list, create, branch, rebase, diff, validate, export, remove")
    _command(scenario, "list", commands.scenario_list)
    create = _command(scenario, "create", commands.scenario_create)
    create.add_argument("name")
    create.add_argument("--snapshot", required=True, help="id or name")
    branch = _command(scenario, "branch", commands.scenario_branch)
    branch.add_argument("scenario")
    branch.add_argument("name")
    rebase = _command(scenario, "rebase", commands.scenario_rebase)
    rebase.add_argument("scenario")
    rebase.add_argument("snapshot", help="id or name of the newer snapshot")
    rebase.add_argument("--take", choices=("ours", "theirs"), help="which side wins every conflict")
    rebase.add_argument("--dry-run", action="store_true", help="list the conflicts only")
    _command(scenario, "diff", commands.scenario_diff).add_argument("scenario")
    _command(scenario, "validate", commands.scenario_validate).add_argument("scenario")
    export = _command(scenario, "export", commands.scenario_export)
    export.add_argument("scenario")
    forms = export.add_mutually_exclusive_group()
    for form, says in (
        ("changed", "manifests of what changed (default)"),
        ("whole", "manifests of everything"),
        ("script", "a shell script that also deletes, opens and closes queues"),
        ("plan", "a plan, with nodes and jobs, too"),
    ):
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=says)
    export.set_defaults(form="changed")
    _command(scenario, "remove", commands.scenario_remove).add_argument("scenario")


def _add_delete(groups: Groups) -> None:
    command = _command(groups, "delete", commands.delete)
    command.add_argument("kind", choices=("cluster", "snapshot", "run", "workspace"))
    command.add_argument("name", help="id, or name")
    command.add_argument("--dry-run", action="store_true", help="only say what would be deleted with it")


def _add_queue(groups: Groups) -> None:
    queue = _group(groups, "queue", "list, set, add, remove")
    _command(queue, "list", commands.queue_list).add_argument("scenario")
    for name, do, many in (("set", commands.queue_set, "+"), ("add", commands.queue_add, "*")):
        change = _command(queue, name, do)
        change.add_argument("scenario")
        change.add_argument("queue")
        change.add_argument(
            "fields", nargs=many, metavar="FIELD=VALUE", help="weight=4 capability.cpu=8 parent="
        )
    remove = _command(queue, "remove", commands.queue_remove)
    remove.add_argument("scenario")
    remove.add_argument("queue")
    remove.add_argument("--subtree", action="store_true", help="the queues below it, too")


def _add_conf(groups: Groups) -> None:
    conf = _group(groups, "conf", "lint, set, patch")
    _command(conf, "lint", commands.conf_lint).add_argument("file", type=Path)
    for name, do in (("set", commands.conf_set), ("patch", commands.conf_patch)):
        change = _command(conf, name, do)
        change.add_argument("scenario")
        change.add_argument("file", type=Path)


def _add_lint(groups: Groups) -> None:
    command = _command(groups, "lint", commands.lint)
    command.add_argument("files", nargs="+", type=Path, help="queues, jobs, nodes, the scheduler's ConfigMap")


def _add_job(groups: Groups) -> None:
    job = _group(groups, "job", "add")
    add = _command(job, "add", commands.job_add)
    add.add_argument("scenario")
    add.add_argument("name", nargs="?", default="", help="namespace/name of the job (what-if)")
    add.add_argument("--file", type=Path, help="a vcjob, or a PodGroup with its pods")
    add.add_argument("--queue", default="default")
    add.add_argument("--replicas", type=int, default=1)
    add.add_argument("--min-member", type=int, help="how many must run together (default: all)")
    add.add_argument("--cpu", default="1")
    add.add_argument("--memory", default="")
    add.add_argument("--request", action="append", default=[], metavar="RESOURCE=QUANTITY")
    add.add_argument("--priority-class", default="")


def _add_runs(groups: Groups) -> None:
    run = _command(groups, "run", run_commands.run)
    run.add_argument("scenarios", nargs="+", metavar="SCENARIO")
    run.add_argument("--cycles", type=int, default=1, help="number of scheduling cycles (1)")
    run.add_argument("--no-wait", action="store_true", help="start the runs and do not wait")
    _command(groups, "queues", run_commands.queues_of_run).add_argument("run")
    _command(groups, "compare", run_commands.compare).add_argument("runs", nargs="+", metavar="RUN")
    explain = _command(groups, "explain", run_commands.explain)
    explain.add_argument("run")
    explain.add_argument("what", choices=tuple(run_commands.STORIES))
    explain.add_argument("name", help="namespace/name of a job or pod, or name of a queue or node")
    explain.add_argument(
        "--unblock", action="store_true", help="search for changes that would let the job run"
    )
    explain.add_argument("--seconds", type=float, default=5.0, help="how long to search (%(default)s)")
    page = _command(groups, "open", run_commands.open_page)
    page.add_argument("kind", choices=("scenarios", "runs"))
    page.add_argument("name", help="id, or the name of a scenario")
    page.add_argument("--print", action="store_true", help="print the address only")


def _add_upgrade(groups: Groups) -> None:
    upgrade = groups.add_parser(
        "upgrade", help="compare two releases of Volcano on a cluster, with the cause of every difference"
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
        command = _command(groups, name, do)
        _add_plan_file(command)
        if name == "diff":
            command.add_argument("--exit-code", action="store_true", help="exit with 1 when anything differs")
        else:
            command.add_argument("--no-run", action="store_true", help="only write the scenario")
    plan = groups.add_parser(
        "plan", help="show what a plan changes, and what that does", parents=[_where()],
        description="Show what a plan in a file changes, and what that does. Nothing is kept.",
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
        "check", help="simulate a change and check the result against rules, for CI", parents=[_where()]
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
    _add_report(check)
