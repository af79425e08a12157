"""Arguments of the commands about clusters and files: import, list, delete, lint."""

from pathlib import Path

from queuecast import commands
from queuecast.live import CONFIG_MAP
from queuecast.parsing import Groups, add_command, add_group


def add_cluster_commands(groups: Groups) -> None:
    """Add the commands."""
    _add_import(groups)
    add_command(add_group(groups, "snapshot", "list"), "list", commands.snapshot_list)
    _add_delete(groups)
    _add_lint(groups)


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
