"""The main journey with a typed client that a well-known generator creates from the schema.

The generator and the dependencies of its clients are pinned in requirements/generator.txt.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.product import Product
from tests.e2e.test_documents import files
from tests.e2e.test_scripts import call
from tests.needs import unavailable
from tests.processes.installation import ROOT

pytestmark = pytest.mark.long

UV = Path(sys.executable).with_name("uv")


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment with the generator."""
    folder = tmp_path_factory.mktemp("generator") / "venv"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    lock = ROOT / "requirements" / "generator.txt"
    install = [UV, "pip", "install", "--quiet", "--require-hashes", "--python", folder / "bin" / "python"]
    done = subprocess.run([*install, "-r", lock], capture_output=True, text=True, check=False)
    if done.returncode:
        unavailable(f"the generator cannot be installed: {done.stderr[-300:]}")
    return folder / "bin"


def test_a_generated_client_completes_the_main_journey(
    generator: Path, running: Product, tmp_path: Path
) -> None:
    for name in ("cluster.yaml", "scheduler.yaml"):
        (tmp_path / name).write_text(files()[name])
    (tmp_path / "schema.yaml").write_text(running.installation.manage("spectacular"))
    (tmp_path / "generator.yaml").write_text(
        "post_hooks: []\ncontent_type_overrides: {application/zip: application/octet-stream}\n"
    )
    words = ["generate", "--path", "schema.yaml", "--config", "generator.yaml", "--meta", "none"]
    made = subprocess.run(
        [generator / "openapi-python-client", *words, "--output-path", "queuecast_api"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "WARNING" not in made.stdout + made.stderr, "every call and every type is generated"
    token = running.token()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "TOKEN": token}
    walked = subprocess.run(
        [generator / "python", ROOT / "tests" / "e2e" / "generated_journey.py"],
        env=environment | {"ADDRESS": running.address.rstrip("/")},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert walked.returncode == 0, walked.stderr
    body = json.loads(walked.stdout)
    api = f"{running.address}api/v1"
    victims = call(f"{api}/runs/{body['runs'][1]}/victims/", token)["results"]
    assert (body["imported"]["nodes"], body["imported"]["queues"]) == (100, 14)
    assert body["states"] == ["succeeded", "succeeded"]
    assert body["more_gpus"] == 20.0, "docs/sample.md: 60 before, 80 after"
    assert body["settings"] == [["queues", "agents", "spec.weight", [1, 2]]]
    assert body["victims"] == [victim["pod"] for victim in victims]
    assert (len(victims), body["new"]) == (20, 16)
    assert (body["stale"], body["repeated"]) == ("stale_revision", True)
