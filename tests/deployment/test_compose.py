"""Is docker-compose.yml what the compose specification allows, and as closed as it should be?"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((Path(__file__).parent / "compose-spec.json").read_text())
COMPOSE = ROOT / "docker-compose.yml"
OURS = ("web", "worker", "migrate")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return document


def violations(document: dict[str, Any]) -> list[str]:
    return [error.json_path for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(document)]


def test_it_is_what_the_specification_allows(compose: dict[str, Any]) -> None:
    assert violations(compose) == []


def test_the_specification_would_catch_a_slip(compose: dict[str, Any]) -> None:
    web = {**compose["services"]["web"], "healthchek": {}, "read_only": "perhaps?"}
    spoiled = {**compose, "services": {**compose["services"], "web": {**web, "restart": 3}}}
    assert violations(spoiled)


def test_nothing_runs_as_root_writes_to_its_image_or_gains_rights(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert name in OURS or service["user"] not in ("", "root", "0"), name
    assert "\nUSER queuecast\n" in (ROOT / "Dockerfile").read_text()


def test_what_stays_up_is_watched_and_bounded(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        if name == "migrate":
            assert service["restart"] == "no"
            continue
        assert service["healthcheck"]["test"], name
        assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory"}, name


def test_secrets_come_from_files_and_only_web_has_a_door(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        for variable, value in (service.get("environment") or {}).items():
            if any(word in variable for word in ("SECRET", "PASSWORD", "DATABASE_URL")):
                assert variable.endswith("_FILE"), (name, variable)
                assert value.startswith("/run/secrets/"), (name, variable)
        assert ("ports" in service) is (name == "web")
    assert compose["services"]["web"]["ports"] == ["127.0.0.1:${PORT:-8000}:8000"]


def test_docker_compose_reads_it_where_it_is_installed(tmp_path: Path) -> None:
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not installed here; the schema above was checked")
    read = subprocess.run(
        [program, "--file", str(COMPOSE), "config", "--quiet"], capture_output=True, text=True, check=False
    )
    assert read.returncode == 0, read.stderr
