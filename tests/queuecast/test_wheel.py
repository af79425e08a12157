"""The client's package is complete, small, and has the product's version."""

import ast
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from config.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
OURS = {
    "config", "extender_client", "manifests", "planner", "planning", "queuecast", "scheduler_core", "traces",
}  # fmt: skip
UV = str(Path(sys.executable).parent / "uv")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built from a copy of the sources, since a build leaves files among them."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for package in OURS:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE", "docs/client.md"):
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    offline = ["--offline", "--no-build-isolation", "--no-cache", "--quiet"]
    subprocess.run([UV, "build", "--wheel", *offline, "--out-dir", built, source], check=True)
    (made,) = built.glob("*.whl")
    return made


def test_the_wheel_contains_the_packages_that_the_client_imports_and_no_others(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    carried = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert carried == _reached_from("queuecast")
    assert {Path(name).suffix for name in names if ".dist-info/" not in name} == {".py", ".json", ".typed"}


def test_the_wheel_names_version_and_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as parts:
        (about,) = (name for name in parts.namelist() if name.endswith(".dist-info/METADATA"))
        head = parts.read(about).decode()
        licences = [name for name in parts.namelist() if name.endswith("licenses/LICENSE")]
    assert f"Version: {VERSION}\n" in head
    assert "License-Expression: Apache-2.0\n" in head
    assert len(licences) == 1


@pytest.mark.long
def test_the_wheel_works_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    subprocess.run([UV, "venv", "--quiet", "--offline", "--python", sys.executable, there], check=True)
    python = ["--python", there / "bin" / "python"]
    subprocess.run(
        [UV, "pip", "install", "--quiet", "--offline", "--no-deps", "--no-cache", *python, wheel], check=True
    )
    libraries = sysconfig.get_path("purelib")
    helped = subprocess.run(
        [there / "bin" / "queuecast", "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": libraries},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "exit codes" in helped.stdout


def _reached_from(package: str) -> set[str]:
    """Return our packages that one imports, directly or through others."""
    reached, waiting = set(), [package]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += _imported_by(ROOT / name) & OURS
    return reached


def _imported_by(package: Path) -> set[str]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in package.rglob("*.py"))
    nodes = [node for tree in trees for node in ast.walk(tree)]
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    named += [
        str(node.args[0].value)
        for node in nodes
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "import_module"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ]
    return {name.split(".")[0] for name in named}
