"""docker-compose.yml conforms to the compose specification, and is locked down by default."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import redis
import yaml

from tests.needs import unavailable
from tests.processes import services

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


def test_the_compose_file_conforms_to_the_specification(compose: dict[str, Any]) -> None:
    assert violations(compose) == []


def test_the_page_about_operation_names_every_setting() -> None:
    read = re.compile(r'env\.\w+\("(\w+)"')
    settings = {name for file in ROOT.glob("config/*.py") for name in read.findall(file.read_text())}
    named = (ROOT / "docs" / "operations.md").read_text()
    assert not {name for name in settings if f"`{name}`" not in named}


def test_the_specification_rejects_an_invalid_file(compose: dict[str, Any]) -> None:
    web = {**compose["services"]["web"], "healthchek": {}, "read_only": "perhaps?"}
    spoiled = {**compose, "services": {**compose["services"], "web": {**web, "restart": 3}}}
    assert violations(spoiled)


def test_services_run_without_root_privileges_on_a_read_only_filesystem(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert name in OURS or service["user"] not in ("", "root", "0"), name
    assert "\nUSER queuecast\n" in (ROOT / "Dockerfile").read_text()


def test_long_running_services_have_health_checks_and_resource_limits(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        if name == "migrate":
            assert service["restart"] == "no"
            continue
        assert service["healthcheck"]["test"], name
        assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory"}, name


def test_secrets_are_read_from_files_and_only_the_proxy_publishes_a_port(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        for variable, value in (service.get("environment") or {}).items():
            if any(
                word in variable for word in ("SECRET", "PASSWORD", "DATABASE_URL", "REDIS_URL", "CACHE_URL")
            ):
                assert variable.endswith("_FILE"), (name, variable)
                assert value.startswith("/run/secrets/"), (name, variable)
        assert ("ports" in service) is (name == "proxy")
    assert compose["services"]["proxy"]["ports"] == ["127.0.0.1:${PORT:-8000}:8080"]


def test_images_are_pinned_and_contain_no_secrets() -> None:
    files = (ROOT / "docker-compose.yml").read_text() + (ROOT / "Dockerfile").read_text()
    for image in re.findall(r"^ *(?:image: |ARG BASE=)(\S+)$", files, re.MULTILINE):
        assert image == "queuecast" or re.search(r":\d+\.\d+(\.\d+)?-|@sha256:", image), image
    for ignored in (".dockerignore", ".gitignore"):
        assert "secrets/" in (ROOT / ignored).read_text().splitlines()


def test_valkey_starts_with_its_password_and_eviction_policy(compose: dict[str, Any], tmp_path: Path) -> None:
    """Run the commands of the file with the local Redis, which accepts the same settings."""
    program = services.redis_server()
    if program is None:
        unavailable("Redis is not installed (scripts/install-test-services installs it)")
    (tmp_path / "password").write_text("a-long-password")
    for name, policy in (("redis", "noeviction"), ("cache", "allkeys-lru")):
        service, port = compose["services"][name], services.free_port()
        script = (
            service["command"][2].replace("$$", "$")
            .replace("/run/secrets/redis_password", f"{tmp_path}/password")
            .replace("/data/", f"{tmp_path}/").replace("exec valkey-server", f"exec {program}")
        )  # fmt: skip
        environment = {**os.environ, **service["environment"]}
        server = subprocess.Popen(["sh", "-c", f"{script.rstrip()} --port {port}"], env=environment)
        try:
            services.wait_for_port(port)
            assert "a-long-password" not in Path(f"/proc/{server.pid}/cmdline").read_text()
            with pytest.raises(redis.exceptions.AuthenticationError):
                redis.Redis(port=port).ping()
            connection = redis.Redis(port=port, password="a-long-password")
            actual = connection.config_get("maxmemory*")
            assert (actual["maxmemory"], actual["maxmemory-policy"]) == (str(256 * 2**20), policy)
            connection.close()
        finally:
            server.kill()
            server.wait()


def test_docker_compose_accepts_the_file_if_installed(tmp_path: Path) -> None:
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not installed here; the schema above was checked")
    read = subprocess.run(
        [program, "--file", str(COMPOSE), "config", "--quiet"], capture_output=True, text=True, check=False
    )
    assert read.returncode == 0, read.stderr
