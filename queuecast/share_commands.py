"""Commands about links, bundles and tokens."""

import argparse
from pathlib import Path

from queuecast.backend import Backend
from queuecast.client import on_server
from queuecast.plans import contents
from queuecast.shown import Output, Table


def link_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the public links of a run; addresses are shown only at their creation."""
    found = on_server(backend, "link").links(args.run)
    rows = [(one["id"], one["label"], one["expires"], one["reads"], one["made_by"]) for one in found]
    columns = ("ID", "LABEL", "EXPIRES", "READS", "MADE BY")
    return Output(found, [Table(columns, rows, empty="No public link.", wide=1)])


def link_create(backend: Backend, args: argparse.Namespace) -> Output:
    """Create an address at which anybody may read a run; it is shown only once."""
    made = on_server(backend, "link").link_create(args.run, label=args.label, days=args.days)
    return Output(made, [Table(("ADDRESS", "EXPIRES"), [(made["address"], made["expires"])])])


def link_revoke(backend: Backend, args: argparse.Namespace) -> Output:
    """Revoke a public link of a run, by its id or its label."""
    on_server(backend, "link").link_revoke(args.run, args.link)
    return _revoked(args.link)


def bundle_export(backend: Backend, args: argparse.Namespace) -> Output:
    """Write a run as one file, for another installation."""
    content = on_server(backend, "bundle").bundle(args.run)
    args.to.write_bytes(content)
    return Output({"file": str(args.to), "bytes": len(content)}, [f"{args.to}: {len(content)} bytes"])


def bundle_import(backend: Backend, args: argparse.Namespace) -> Output:
    """Store the cluster of a bundle and repeat its run."""
    ((name, content),) = contents([args.file])
    made = on_server(backend, "bundle").bundle_import(Path(name).name, content)
    run = made["run"] or {}
    held = (run.get("id"), run.get("state"), made["result_sha256"], (made["imported_by"] or {}).get("id"))
    return Output(made, [Table(("RUN", "STATE", "EXPECTED SHA-256", "READ BY IMPORT"), [held])])


def token_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List your tokens; their texts are shown only at their creation."""
    found = on_server(backend, "token").tokens()
    rows = [(one["id"], one["name"], one["scope"], one["expires"], one["last_used"]) for one in found]
    return Output(found, [Table(("ID", "NAME", "SCOPE", "EXPIRES", "LAST USED"), rows)])


def token_create(backend: Backend, args: argparse.Namespace) -> Output:
    """Create a token; its text is shown only once."""
    made = on_server(backend, "token").token_create(scope=args.scope, name=args.name, days=args.days)
    return Output(
        made, [Table(("TOKEN", "SCOPE", "EXPIRES"), [(made["text"], made["scope"], made["expires"])])]
    )


def token_revoke(backend: Backend, args: argparse.Namespace) -> Output:
    """Revoke a token, and those created with it, by its id or its name."""
    on_server(backend, "token").token_revoke(args.name)
    return _revoked(args.name)


def _revoked(name: str) -> Output:
    return Output({"revoked": name}, [f"{name} was revoked."])
