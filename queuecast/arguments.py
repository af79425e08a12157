"""The commands and options of the command line."""

import argparse
import re
from collections.abc import Mapping, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import NamedTuple

from queuecast.completion import SHELLS
from queuecast.parsing import Groups, shared_options

EXIT_CODES = """\
exit codes:
  0  done
  1  the check failed: a failed run, a broken rule, a lint error or an undecided conflict
  2  invalid file, option or plan; the reasons are on standard error
  3  the server does not respond, or is busy
  4  the token is missing or lacks permission
  5  the scenario has changed meanwhile; read it again and retry
"""


class Family(NamedTuple):
    """Commands that one function of a module adds, with their summaries."""

    module: str
    add: str
    summaries: Mapping[str, str]

    def add_to(self, groups: Groups) -> None:
        """Add the commands with their options."""
        getattr(import_module(self.module), self.add)(groups)

    def add_summaries_to(self, groups: Groups) -> None:
        """Add the names only, for the list of commands."""
        for name, summary in self.summaries.items():
            groups.add_parser(name, help=summary)


FAMILIES = (
    Family(
        "queuecast.cluster_arguments",
        "add_cluster_commands",
        {
            "import": "Read a cluster from files, or through the user's kubeconfig.",
            "snapshot": "list",
            "delete": (
                "Delete a cluster, snapshot, run, forecast, experiment or "
                "workspace with all that depends on it."
            ),
            "lint": (
                "Check a plan in files: what Volcano refuses, and what it accepts although it is harmful."
            ),
        },
    ),
    Family(
        "queuecast.scenario_arguments",
        "add_scenario_commands",
        {
            "scenario": "list, create, branch, rename, rebase, diff, validate, …",
            "queue": "list, set, add, remove",
            "conf": "lint, set, patch",
            "job": "list, add, set, copy, remove",
            "node": "list, add, set, remove",
        },
    ),
    Family(
        "queuecast.server_arguments",
        "add_server_commands",
        {
            "login": "Check a token with a server and store both as a context, readable by you only.",
            "context": "list, use, remove",
            "undo": "Undo the last revision of a scenario.",
            "redo": "Redo the last undone revision of a scenario.",
            "revert": "Revert a queue, an object or one of its fields to its state in the snapshot.",
            "history": "Show who changed what in a scenario, newest first.",
            "preview": (
                "Show what each queue deserves, can reach and holds when a session opens, without a run."
            ),
            "release": "Show the simulated release of Volcano, or select one.",
            "link": "list, create, revoke",
            "bundle": "export, import",
            "token": "list, create, revoke",
        },
    ),
    Family(
        "queuecast.reach_commands",
        "add_reach_command",
        {
            "reach": (
                "Show the smallest change of each kind with which a figure "
                "reaches an amount, or apply one of them."
            ),
        },
    ),
    Family(
        "queuecast.member_arguments",
        "add_member_commands",
        {
            "sample": "Open the sample: store its cluster, if it is not stored yet, with a scenario.",
            "workspace": "list, create, rename, history, changes",
            "member": "list, set, remove",
            "invite": "list, create, revoke",
            "offer": "list, accept, decline: invitations that name you",
        },
    ),
    Family(
        "queuecast.stored_arguments",
        "add_stored_commands",
        {
            "cluster": "list",
            "status": "Show how busy the installation is: queued and running work, and live workers.",
            "verdict": "Show the verdict on a run in sentences, worst first.",
            "nodes": (
                "Show each node at the end of a run: used and free resources, and the number of its pods."
            ),
            "unblock": (
                "Let the server search for the smallest changes with which "
                "a waiting job runs, cheapest first."
            ),
            "imports": "list, cancel: imports that a worker reads",
            "label": "Change note and tags of a scenario or a run, or archive it; creates no revision.",
            "price": "list, set",
        },
    ),
    Family(
        "queuecast.run_arguments",
        "add_run_commands",
        {
            "run": "Run scenarios in parallel and wait for all of them.",
            "runs": "List runs, newest first, of all scenarios or of one.",
            "wait": (
                "Wait until runs are finished, or until they reach a state; exits with 1 if one does not."
            ),
            "cancel": "Cancel a queued run at once, signal a running one to stop.",
            "queues": "Show the result of a run for each queue.",
            "jobs": (
                "Show the result of a run for each job: pods, which of them wait, and what stopped the job."
            ),
            "victims": "Show which pods a run evicts, for which pod, by which action.",
            "decisions": "Show the steps of a run in the order taken.",
            "compare": "Show runs side by side, differences first.",
            "open": "Open the page of a scenario or a run in the browser.",
        },
    ),
    Family(
        "queuecast.explain_commands",
        "add_explain_command",
        {
            "explain": "Explain why a job waits, a queue has its amounts, a pod is evicted, a node is full.",
        },
    ),
    Family(
        "queuecast.plan_arguments",
        "add_plan_commands",
        {
            "diff": "Show what `apply` would change in the scenario of this name, else in the snapshot.",
            "apply": (
                "Apply the plan to the scenario, run it and check its rules; a second time changes nothing."
            ),
            "plan": "Show what a plan changes, and its effects.",
            "check": "Simulate a change and check the result against rules, for CI.",
            "upgrade": "Compare two releases of Volcano on a cluster, with the cause of every difference.",
        },
    ),
    Family(
        "queuecast.forecast_arguments",
        "add_forecast_commands",
        {
            "trace": "show, generate, own, upload, list, preview, delete",
            "target": "list, set",
            "forecast": (
                "Forecast scenarios under a workload trace: waits, starvation, lost run time and costs."
            ),
            "forecasts": (
                "list, show, wait, cancel, queues, causes, service, fairness, jobs, evictions, compare, cost,"
                " moment"
            ),
        },
    ),
    Family(
        "queuecast.experiment_arguments",
        "add_experiment_commands",
        {
            "experiments": "list, show, cells, cancel, open, forecast",
            "sweep": (
                "Simulate every combination of an experiment's settings, or "
                "a sample, and print a table of figures."
            ),
            "search": "Find the smallest change of an experiment's settings that reaches its goals.",
        },
    ),
)


def parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the whole command line, or of the commands that occur among `words`.

    The modules of other commands, many of which import the core, are not imported.
    """
    top = argparse.ArgumentParser(
        prog="queuecast",
        description="Simulate Volcano's decisions, on a Queuecast server or on files with --local.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[shared_options()],
    )
    top.add_argument("--version", action="version", version=f"queuecast {_version()}")
    groups = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for family in FAMILIES:
        if words is None or family.summaries.keys() & {*words}:
            family.add_to(groups)
        else:
            family.add_summaries_to(groups)
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
