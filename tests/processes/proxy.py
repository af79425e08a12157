"""The deployment's proxy on this machine, in front of a web server of the tests."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.processes import services
from tests.processes.installation import ROOT

CONFIGURATION = ROOT / "deployment" / "nginx.conf"


def nginx_program() -> str | None:
    """Return the program's path, if it is installed."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@contextmanager
def nginx(program: str, folder: Path, web_port: int) -> Iterator[int]:
    """Run the shipped configuration with other addresses and folders; yield its port."""
    port = services.free_port()
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    text = CONFIGURATION.read_text()
    for shipped, ours in (
        ("web:8000", f"127.0.0.1:{web_port}"),
        ("listen 8080", f"listen 127.0.0.1:{port}"),
        ("/tmp/", f"{folder}/"),  # noqa: S108 - in the container, which has nothing else to write to
        ("/dev/stdout", f"{folder}/access.log"),
        ("/dev/stderr", f"{folder}/error.log"),
    ):
        assert shipped in text
        text = text.replace(shipped, ours)
    (folder / "nginx.conf").write_text(text)
    server = subprocess.Popen(
        [program, "-c", str(folder / "nginx.conf"), "-g", "daemon off;", "-e", str(folder / "error.log")],
        stderr=subprocess.DEVNULL,
    )
    try:
        services.wait_for_port(port)
        yield port
    finally:
        server.terminate()
        server.wait()
