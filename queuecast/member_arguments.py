"""Arguments of the commands about the sample, workspaces, members and invitations."""

import argparse

from queuecast import member_commands, stored_commands
from queuecast.parsing import Groups, add_command, add_group

ROLES = ("viewer", "editor", "admin")


def add_member_commands(groups: Groups) -> None:
    """Add the commands."""
    add_command(groups, "sample", member_commands.sample, edits=True)
    _add_workspaces(groups)
    _add_members(groups)
    _add_invitations(groups)


def _add_workspaces(groups: Groups) -> None:
    workspace = add_group(groups, "workspace", "list, create, rename, history, changes")
    add_command(workspace, "list", member_commands.workspace_list)
    add_command(workspace, "create", member_commands.workspace_create, edits=True).add_argument("name")
    rename = add_command(workspace, "rename", member_commands.workspace_rename, edits=True)
    rename.add_argument("workspace", help="name or id")
    rename.add_argument("name", help="its new name")
    for name, do in (
        ("history", stored_commands.workspace_history),
        ("changes", stored_commands.workspace_changes),
    ):
        shown = add_command(workspace, name, do)
        shown.add_argument("workspace", nargs="?", default="", help="name or id, if you have several")


def _add_members(groups: Groups) -> None:
    member = add_group(groups, "member", "list, set, remove")
    _in_workspace(add_command(member, "list", member_commands.member_list))
    change = _in_workspace(add_command(member, "set", member_commands.member_set, edits=True))
    change.add_argument("user", help="user name")
    change.add_argument("role", choices=ROLES)
    remove = _in_workspace(add_command(member, "remove", member_commands.member_remove, edits=True))
    remove.add_argument("user", help="user name")


def _add_invitations(groups: Groups) -> None:
    invite = add_group(groups, "invite", "list, create, revoke")
    _in_workspace(add_command(invite, "list", member_commands.invite_list))
    create = _in_workspace(add_command(invite, "create", member_commands.invite_create, edits=True))
    create.add_argument("role", choices=ROLES)
    revoke = _in_workspace(add_command(invite, "revoke", member_commands.invite_revoke, edits=True))
    revoke.add_argument("invitation", help="its id")
    offer = add_group(groups, "offer", "list, accept, decline: invitations that name you")
    add_command(offer, "list", member_commands.offer_list)
    for name, do in (("accept", member_commands.offer_accept), ("decline", member_commands.offer_decline)):
        add_command(offer, name, do, edits=True).add_argument("offer", help="its id or its workspace")


def _in_workspace(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    command.add_argument("--workspace", default="", help="name or id, if you are a member of several")
    return command
