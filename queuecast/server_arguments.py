"""Arguments of the commands that need a server: log-ins, history, links, bundles, tokens."""

from pathlib import Path

from queuecast import context_commands, history_commands, share_commands
from queuecast.parsing import Groups, add_command, add_group


def add_server_commands(groups: Groups) -> None:
    """Add the commands."""
    _add_contexts(groups)
    _add_history(groups)
    _add_links(groups)
    _add_bundles(groups)
    _add_tokens(groups)


def _add_contexts(groups: Groups) -> None:
    login = add_command(groups, "login", context_commands.login)
    login.add_argument("address", metavar="URL", help="address of the server")
    login.add_argument("--name", default="", help="name of the context (default: the server's)")
    context = add_group(groups, "context", "list, use, remove")
    add_command(context, "list", context_commands.context_list)
    for name, do in (("use", context_commands.context_use), ("remove", context_commands.context_remove)):
        add_command(context, name, do).add_argument("name")


def _add_history(groups: Groups) -> None:
    for name, do in (("undo", history_commands.undo), ("redo", history_commands.redo)):
        add_command(groups, name, do, edits=True).add_argument("scenario")
    revert = add_command(groups, "revert", history_commands.revert, edits=True)
    revert.add_argument("scenario")
    revert.add_argument("kind", help="queues, nodes, jobs, …, as `scenario diff` lists them")
    revert.add_argument("name")
    revert.add_argument("field", nargs="?", default="", help="one field only")
    add_command(groups, "history", history_commands.history).add_argument("scenario")
    add_command(groups, "preview", history_commands.preview).add_argument("scenario")
    release = add_command(groups, "release", history_commands.release, edits=True)
    release.add_argument("scenario")
    release.add_argument("release", nargs="?", help=f"such as v1.14.4, or {history_commands.IMPORTED}")


def _add_links(groups: Groups) -> None:
    link = add_group(groups, "link", "list, create, revoke")
    add_command(link, "list", share_commands.link_list).add_argument("run")
    create = add_command(link, "create", share_commands.link_create, edits=True)
    create.add_argument("run")
    create.add_argument("--label", default="")
    create.add_argument("--days", type=int, default=30, help="days until it expires (30)")
    revoke = add_command(link, "revoke", share_commands.link_revoke, edits=True)
    revoke.add_argument("run")
    revoke.add_argument("link", help="id or label")


def _add_bundles(groups: Groups) -> None:
    bundle = add_group(groups, "bundle", "export, import")
    export = add_command(bundle, "export", share_commands.bundle_export)
    export.add_argument("run")
    export.add_argument("--to", type=Path, default=Path("run.zip"), metavar="FILE", help="%(default)s")
    add_command(bundle, "import", share_commands.bundle_import, edits=True).add_argument("file", type=Path)


def _add_tokens(groups: Groups) -> None:
    token = add_group(groups, "token", "list, create, revoke")
    add_command(token, "list", share_commands.token_list)
    create = add_command(token, "create", share_commands.token_create, edits=True)
    create.add_argument("--scope", choices=("viewer", "editor", "admin"), required=True)
    create.add_argument("--name", default="")
    create.add_argument("--days", type=int, help="days until it expires (90)")
    add_command(token, "revoke", share_commands.token_revoke, edits=True).add_argument(
        "name", help="id or name"
    )
