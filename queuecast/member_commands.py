"""Commands about the sample, workspaces, members and invitations."""

import argparse

from queuecast.backend import Backend
from queuecast.client import on_server
from queuecast.shown import Output, Table


def sample(backend: Backend, args: argparse.Namespace) -> Output:
    """Open the sample: store its cluster, if it is not stored yet, with a scenario."""
    opened = on_server(backend, "sample").sample_open()
    return Output(opened, [Table(("SCENARIO", "ID", "REVISION"), [_begun(opened)])])


def workspace_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List your workspaces, with your role in each."""
    found = on_server(backend, "workspace").workspaces()
    return Output(
        found, [Table(("ID", "NAME", "ROLE"), [(one["id"], one["name"], one["role"]) for one in found])]
    )


def workspace_create(backend: Backend, args: argparse.Namespace) -> Output:
    """Create a workspace with you as its admin."""
    made = on_server(backend, "workspace").workspace_create(args.name)
    return Output(made, [f"Workspace {made['name']}: {made['id']}"])


def workspace_rename(backend: Backend, args: argparse.Namespace) -> Output:
    """Give a workspace another name."""
    renamed = on_server(backend, "workspace").workspace_rename(args.workspace, args.name)
    return Output(renamed, [f"{args.workspace} is now {renamed['name']}."])


def member_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the members of a workspace."""
    found = on_server(backend, "member").members(args.workspace)
    return Output(found, [Table(("USER", "ROLE"), [(one["user"], one["role"]) for one in found])])


def member_set(backend: Backend, args: argparse.Namespace) -> Output:
    """Give a member another role, or invite an account that is not a member yet."""
    done = on_server(backend, "member").member_set(args.user, args.role, args.workspace)
    return Output(done, [f"{args.user}: {args.role}, or invited as that until the invitation is accepted."])


def member_remove(backend: Backend, args: argparse.Namespace) -> Output:
    """Remove a member from a workspace, with the invitations that it created."""
    on_server(backend, "member").member_remove(args.user, args.workspace)
    return Output({"removed": args.user}, [f"{args.user} was removed."])


def invite_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the open invitations of a workspace; links are shown only at their creation."""
    found = on_server(backend, "invite").invitations(args.workspace)
    rows = [(one["id"], one["username"], one["role"], one["expires"], one["invited_by"]) for one in found]
    columns = ("ID", "FOR", "ROLE", "EXPIRES", "INVITED BY")
    return Output(found, [Table(columns, rows, empty="No open invitation.")])


def invite_create(backend: Backend, args: argparse.Namespace) -> Output:
    """Create a link that adds one member; it is shown only once."""
    made = on_server(backend, "invite").invitation_create(args.role, args.workspace)
    return Output(
        made, [Table(("ADDRESS", "ROLE", "EXPIRES"), [(made["address"], made["role"], made["expires"])])]
    )


def invite_revoke(backend: Backend, args: argparse.Namespace) -> Output:
    """Revoke an open invitation, by its id."""
    on_server(backend, "invite").invitation_revoke(args.invitation, args.workspace)
    return Output({"revoked": args.invitation}, [f"{args.invitation} was revoked."])


def offer_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the invitations that name you."""
    found = on_server(backend, "offer").offers()
    rows = [(one["id"], one["workspace"], one["role"], one["expires"], one["invited_by"]) for one in found]
    columns = ("ID", "WORKSPACE", "ROLE", "EXPIRES", "INVITED BY")
    return Output(found, [Table(columns, rows, empty="No invitation.")])


def offer_accept(backend: Backend, args: argparse.Namespace) -> Output:
    """Accept an invitation that names you, by its id or its workspace."""
    on_server(backend, "offer").offer_accept(args.offer)
    return Output({"accepted": args.offer}, [f"You are a member: {args.offer}."])


def offer_decline(backend: Backend, args: argparse.Namespace) -> Output:
    """Decline an invitation that names you, by its id or its workspace."""
    on_server(backend, "offer").offer_decline(args.offer)
    return Output({"declined": args.offer}, [f"{args.offer} was declined."])


def _begun(scenario: dict[str, object]) -> tuple[object, ...]:
    return scenario["name"], scenario["id"], scenario["revision"]
