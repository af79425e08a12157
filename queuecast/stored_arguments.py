"""Arguments of the commands about clusters, answers, imports, labels and prices on a server."""

from pathlib import Path

from queuecast import answer_commands, stored_commands
from queuecast.parsing import Groups, add_command, add_group


def add_stored_commands(groups: Groups) -> None:
    """Add the commands."""
    add_command(add_group(groups, "cluster", "list"), "list", stored_commands.cluster_list)
    add_command(groups, "status", stored_commands.status)
    _add_answers(groups)
    _add_imports(groups)
    _add_labels(groups)
    _add_prices(groups)


def _add_answers(groups: Groups) -> None:
    add_command(groups, "verdict", answer_commands.verdict).add_argument("run")
    add_command(groups, "nodes", answer_commands.nodes_of_run).add_argument("run")
    unblock = add_command(groups, "unblock", answer_commands.unblock, edits=True)
    unblock.add_argument("run")
    unblock.add_argument("job", help="namespace/name")
    unblock.add_argument("--no-wait", action="store_true", help="start the search and do not wait")


def _add_imports(groups: Groups) -> None:
    imports = add_group(groups, "imports", "list, cancel: imports that a worker reads")
    add_command(imports, "list", stored_commands.import_list)
    add_command(imports, "cancel", stored_commands.import_cancel).add_argument("name", help="id or name")


def _add_labels(groups: Groups) -> None:
    label = add_command(groups, "label", stored_commands.label, edits=True)
    label.add_argument("kind", choices=("scenario", "run"))
    label.add_argument("name", help="id or name")
    label.add_argument("--note", help="a text for people; an empty one removes it")
    label.add_argument("--tag", action="append", help="replaces all tags; repeat it for several")
    archive = label.add_mutually_exclusive_group()
    archive.add_argument("--archive", dest="archived", action="store_true", default=None)
    archive.add_argument("--unarchive", dest="archived", action="store_false")


def _add_prices(groups: Groups) -> None:
    price = add_group(groups, "price", "list, set")
    listed = add_command(price, "list", stored_commands.price_list)
    change = add_command(price, "set", stored_commands.price_set, edits=True)
    change.add_argument("file", type=Path, help="prices per hour: pools and resources, as YAML")
    for command in (listed, change):
        command.add_argument("--workspace", default="", help="name or id, if you are a member of several")
