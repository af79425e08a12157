"""Arguments of the commands about scenarios, their queues, configuration, jobs and nodes."""

from pathlib import Path

from planning.constraint_choices import LIKE_QUEUE, NODE_CONSTRAINTS
from queuecast import commands, history_commands, part_commands, queue_commands
from queuecast.parsing import Groups, add_command, add_group


def add_scenario_commands(groups: Groups) -> None:
    """Add the commands."""
    _add_scenario(groups)
    _add_queue(groups)
    _add_conf(groups)
    _add_job(groups)
    _add_node(groups)


def _add_scenario(groups: Groups) -> None:
    scenario = add_group(groups, "scenario", "list, create, branch, rename, rebase, diff, validate, …")
    add_command(scenario, "list", commands.scenario_list)
    create = add_command(scenario, "create", commands.scenario_create)
    create.add_argument("name")
    create.add_argument("--snapshot", required=True, help="id or name")
    branch = add_command(scenario, "branch", commands.scenario_branch)
    branch.add_argument("scenario")
    branch.add_argument("name")
    rebase = add_command(scenario, "rebase", commands.scenario_rebase)
    rebase.add_argument("scenario")
    rebase.add_argument("snapshot", help="id or name of the newer snapshot")
    rebase.add_argument("--take", choices=("ours", "theirs"), help="which side wins every conflict")
    rebase.add_argument("--dry-run", action="store_true", help="list the conflicts only")
    rename = add_command(scenario, "rename", history_commands.scenario_rename, edits=True)
    rename.add_argument("scenario")
    rename.add_argument("name", help="the new name")
    diff = add_command(scenario, "diff", commands.scenario_diff)
    diff.add_argument("scenario")
    diff.add_argument("--exit-code", action="store_true", help="exit with 1 when anything differs")
    add_command(scenario, "validate", commands.scenario_validate).add_argument("scenario")
    export = add_command(scenario, "export", commands.scenario_export)
    export.add_argument("scenario")
    forms = export.add_mutually_exclusive_group()
    for form, message in (
        ("changed", "manifests of what changed (default)"),
        ("whole", "manifests of everything"),
        ("script", "a shell script that also deletes, opens and closes queues"),
        ("plan", "a plan, with nodes and jobs, too"),
    ):
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=message)
    export.set_defaults(form="changed")
    add_command(scenario, "remove", commands.scenario_remove).add_argument("scenario")


def _add_queue(groups: Groups) -> None:
    queue = add_group(groups, "queue", "list, set, add, remove")
    add_command(queue, "list", queue_commands.queue_list).add_argument("scenario")
    for name, do, many in (("set", queue_commands.queue_set, "+"), ("add", queue_commands.queue_add, "*")):
        change = add_command(queue, name, do, edits=True)
        change.add_argument("scenario")
        change.add_argument("queue")
        change.add_argument(
            "fields", nargs=many, metavar="FIELD=VALUE", help="weight=4 capability.cpu=8 parent="
        )
    remove = add_command(queue, "remove", queue_commands.queue_remove, edits=True)
    remove.add_argument("scenario")
    remove.add_argument("queue")
    remove.add_argument("--subtree", action="store_true", help="the queues below it, too")


def _add_conf(groups: Groups) -> None:
    conf = add_group(groups, "conf", "lint, set, patch")
    add_command(conf, "lint", commands.conf_lint).add_argument("file", type=Path)
    for name, do in (("set", commands.conf_set), ("patch", commands.conf_patch)):
        change = add_command(conf, name, do, edits=True)
        change.add_argument("scenario")
        change.add_argument("file", type=Path)


def _add_job(groups: Groups) -> None:
    job = add_group(groups, "job", "list, add, set, copy, remove")
    add_command(job, "list", part_commands.job_list).add_argument("scenario")
    add = add_command(job, "add", commands.job_add, edits=True)
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
    add.add_argument(
        "--node-constraints",
        choices=tuple(NODE_CONSTRAINTS),
        default=LIKE_QUEUE,
        help="tolerations and node selectors (those of pods in its queue)",
    )
    change = add_command(job, "set", part_commands.job_set, edits=True)
    copy = add_command(job, "copy", part_commands.job_copy, edits=True)
    remove = add_command(job, "remove", part_commands.job_remove, edits=True)
    for command in (change, copy, remove):
        command.add_argument("scenario")
        command.add_argument("job", help="namespace/name, or kind/namespace/name")
    change.add_argument(
        "fields", nargs="+", metavar="FIELD=VALUE", help="queue=ml replicas=4 minMember=2 requests.cpu=500m"
    )
    copy.add_argument("--count", type=int, default=1, help="how many copies (1)")


def _add_node(groups: Groups) -> None:
    node = add_group(groups, "node", "list, add, set, remove")
    add_command(node, "list", part_commands.node_list).add_argument("scenario")
    add = add_command(node, "add", part_commands.node_add, edits=True)
    add.add_argument("scenario")
    add.add_argument("--count", type=int, default=1, help="how many (1)")
    add.add_argument("--like", default="", metavar="NODE", help="a node of the scenario")
    add.add_argument("--capacity", action="append", default=[], metavar="RESOURCE=QUANTITY")
    add.add_argument("--prefix", default="", help="first part of the names (default: that of --like)")
    change = add_command(node, "set", part_commands.node_set, edits=True)
    change.add_argument("scenario")
    change.add_argument("node")
    cordon = change.add_mutually_exclusive_group()
    cordon.add_argument("--cordon", action="store_true", default=None)
    cordon.add_argument("--uncordon", dest="cordon", action="store_false")
    change.add_argument("--patch", metavar="JSON", help="a merge patch of the node")
    remove = add_command(node, "remove", part_commands.node_remove, edits=True)
    remove.add_argument("scenario")
    remove.add_argument("nodes", nargs="+", metavar="NODE")
