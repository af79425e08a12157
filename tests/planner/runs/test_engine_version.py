"""Every change of the engine gets its own version, and versions share no results or cached previews."""

import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import scheduler_core
from planner.runs.models import Run
from planner.runs.services.bundles import bundle_export
from planner.runs.services.simulations import find_twin
from planning.version import ENGINE_VERSION, RELEASE, engine_version
from tests import factories
from tests.processes.installation import ROOT
from tests.worker import do_work

CORE = Path(scheduler_core.__file__).parent


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """A copy of the core to modify."""
    copied = tmp_path / "scheduler_core"
    shutil.copytree(CORE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    return copied


def test_the_engine_version_is_the_release_and_a_hash_of_the_sources(core: Path) -> None:
    assert ENGINE_VERSION.startswith(f"{RELEASE}+")
    assert len(ENGINE_VERSION) <= Run._meta.get_field("engine_version").max_length
    assert engine_version(core) == ENGINE_VERSION == engine_version(CORE)


@pytest.mark.parametrize("source", ["plugins/gang.py", "resource.py", "__init__.py", "actions/reclaim.py"])
def test_every_change_of_the_core_changes_the_engine_version(core: Path, source: str) -> None:
    changed = core / source
    changed.write_text(changed.read_text().replace(" ", "  ", 1) + "\n")
    after_edit = engine_version(core)
    changed.rename(changed.with_name("renamed.py"))
    after_rename = engine_version(core)
    (core / "another.py").write_text("")
    assert len({ENGINE_VERSION, after_edit, after_rename, engine_version(core)}) == 4


def test_caches_and_swap_files_do_not_change_the_engine_version(core: Path) -> None:
    (core / "__pycache__").mkdir()
    (core / "__pycache__" / "resource.cpython-311.pyc").write_bytes(b"x")
    (core / ".resource.py.swp").write_bytes(b"x")
    assert engine_version(core) == ENGINE_VERSION


@pytest.fixture
def project_copy(tmp_path: Path) -> Path:
    """A copy of the project, with its compiled modules."""
    for room in ("scheduler_core", "planner", "planning", "manifests", "extender_client", "traces", "config"):
        shutil.copytree(ROOT / room, tmp_path / room)
    return tmp_path


def versions_of(project_copy: Path) -> tuple[str, str]:
    """Return the engine version in a process of a project, and the cache key of a demand."""
    program = (
        "import django; django.setup()\n"
        "from planning.version import ENGINE_VERSION\n"
        "from planner.clusters.selectors.demand import demand_key\n"
        "print(ENGINE_VERSION, demand_key('a' * 64))"
    )
    environment = {
        "DJANGO_SETTINGS_MODULE": "config.settings", "QUEUECAST_VAR": str(project_copy / "var"),
        "PATH": "/usr/bin",
    }  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project_copy,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    version, key = result.stdout.split()
    return version, key


def test_an_upgrade_shares_no_cached_preview_with_the_older_engine(project_copy: Path) -> None:
    before = versions_of(project_copy)
    changed = project_copy / "scheduler_core" / "demand.py"
    changed.write_text(changed.read_text() + "# changed\n")
    after = versions_of(project_copy)
    assert before[0] == ENGINE_VERSION != after[0]
    assert before[1] != after[1]


@pytest.mark.django_db(transaction=True)
def test_runs_and_bundles_state_the_version_and_an_upgrade_reuses_no_result(finished_run: Run) -> None:
    assert finished_run.engine_version == ENGINE_VERSION
    about = json.loads(zipfile.ZipFile(io.BytesIO(bundle_export(run=finished_run))).read("bundle.json"))
    assert about["engine_version"] == ENGINE_VERSION
    again = factories.run(finished_run.scenario)
    assert find_twin(again) is not None
    Run.objects.filter(pk=finished_run.pk).update(engine_version=f"{RELEASE}+0123456789abcdef")
    assert find_twin(again) is None
    do_work(again)
    assert (again.engine_version, again.result_id) == (ENGINE_VERSION, finished_run.result_id)
