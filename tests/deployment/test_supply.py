"""Dependencies in production are listed and pinned, and an incomplete audit fails."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = ("Dockerfile", "docker-compose.yml")
LOCKED = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
IMAGE = re.compile(r"^(?: *image: |ARG BASE=)([\w./-]+:\S+)$", re.MULTILINE)
DIGEST = f"sha256:{'5f' * 32}"


def test_the_bill_of_materials_is_reproducible_and_lists_every_locked_package() -> None:
    command = [ROOT / "scripts" / "sbom"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    assert printed == subprocess.run(command, capture_output=True, check=True).stdout
    bill = json.loads(printed)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    listed = {part["purl"]: part for part in bill["components"]}
    assert bill["dependencies"] == [{"ref": "queuecast", "dependsOn": sorted(listed)}]
    lock = (ROOT / "requirements" / "base.txt").read_text()
    locked = {f"pkg:pypi/{name}@{version}" for name, version in LOCKED.findall(lock)}
    assert locked == {purl for purl in listed if purl.startswith("pkg:pypi/")}
    assert len(locked) > 50
    hashes = sum(len(part.get("properties", ())) for part in listed.values())
    assert hashes == lock.count("--hash=sha256:")
    vendored = {file.name for file in (ROOT / "static" / "vendor").rglob("*.min.*")} | {"plotly.css"}
    assert vendored == {purl.rpartition("/")[2] for purl in listed if purl.startswith("pkg:npm/")}
    assert sum(purl.startswith("pkg:oci/") for purl in listed) == 4
    assert "://" not in printed.decode(), "the bill contains no URL"


def copy_of_images(folder: Path) -> Path:
    """Return a copy of the files and the script, with a fake registry that has every digest."""
    for name in (*FILES, "scripts/pin-images"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    docker = folder / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(f"#!/bin/sh\necho {DIGEST}\n")
    docker.chmod(0o755)
    return folder


def pinned(folder: Path) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    command = [folder / "scripts" / "pin-images"]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


def test_every_image_has_a_full_version_and_can_be_pinned_by_its_digest(tmp_path: Path) -> None:
    folder = copy_of_images(tmp_path)
    images = {name for file in FILES for name in IMAGE.findall((ROOT / file).read_text())}
    assert len(images) == 4
    for image in images:
        assert re.search(r":\d+\.\d+(\.\d+)?-[a-z]", image), image
    for _ in range(2):
        assert pinned(folder).returncode == 0
    text = "".join((folder / file).read_text() for file in FILES)
    for image in images:
        bare = image.partition("@")[0]
        assert f"{bare}@{DIGEST}\n" in text
    assert text.count(DIGEST) == len(images)


def test_pinning_fails_for_an_image_without_a_digest(tmp_path: Path) -> None:
    folder = copy_of_images(tmp_path)
    (folder / "bin" / "docker").write_text("#!/bin/sh\necho unknown\n")
    done = pinned(folder)
    assert done.returncode == 1
    assert "no digest for" in done.stderr


def test_an_audit_that_could_not_check_everything_fails(tmp_path: Path) -> None:
    uv = tmp_path / ".venv" / "bin" / "uv"
    uv.parent.mkdir(parents=True)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "audit", tmp_path / "scripts")
    for shown, code, ends, tells in (
        ("ERROR: Dependency not found and could not be audited: amqp", 1, 2, "NOT CHECKED"),
        ("Traceback: ConnectionError", 1, 2, "NOT CHECKED"),
        ("Found 1 known vulnerability in 1 package", 1, 1, "Found 1 known"),
        ("No known vulnerabilities found", 0, 0, "requirements/dev.txt: no known weakness"),
    ):
        uv.write_text(f"#!/bin/sh\necho '{shown}'\nexit {code}\n")
        uv.chmod(0o755)
        done = subprocess.run([tmp_path / "scripts" / "audit"], capture_output=True, text=True, check=False)
        assert done.returncode == ends, shown
        assert tells in done.stdout + done.stderr
