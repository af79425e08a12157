"""Arguments of the commands about runs."""

from queuecast import run_commands
from queuecast.parsing import Groups, add_command


def add_run_commands(groups: Groups) -> None:
    """Add the commands."""
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
    page = add_command(groups, "open", run_commands.open_page)
    page.add_argument("kind", choices=("scenarios", "runs"))
    page.add_argument("name", help="id, or the name of a scenario")
    page.add_argument("--print", action="store_true", help="print the address only")
