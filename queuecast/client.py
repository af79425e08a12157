"""The Python client of a Queuecast server."""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from manifests.differences import leaves
from queuecast.backend import Backend, Files, Json, Progress
from queuecast.client_answers import Answers
from queuecast.client_experiments import Experiments
from queuecast.client_forecasts import Forecasting
from queuecast.client_members import Members
from queuecast.client_parts import Parts
from queuecast.client_sharing import Sharing
from queuecast.plans import overlay, read_bytes
from queuecast.problems import Refused
from queuecast.sending import bare_files, placed
from queuecast.server import Failure


class Client(Answers, Parts, Sharing, Members, Forecasting, Experiments):
    """A server, with the permissions of the token.

    Address and token come from the environment or from the stored login unless they are given. With `dry_run`
    every writing call only checks: the response is as usual, and nothing is saved.
    """

    def import_files(
        self, files: Files, *, name: str, progress: Progress | None = None, dry_run: bool = False
    ) -> Json:
        """Read a cluster; return the snapshot. Waits for the worker that reads a large one.

        Parts that may contain secrets are removed before anything is sent; see docs/importing.md.
        """
        reading = read_bytes(files, progress)
        bare = bare_files([name for name, _ in files], reading)
        try:
            snapshot = self._imported(bare, name, progress, dry_run)
        except Failure as failure:
            body = {"code": failure.code, "message": failure.message}
            raise Failure(failure.status, {**body, "problems": placed(failure.problems, reading)}) from None
        return {**snapshot, "problems": placed(snapshot["problems"], reading)}

    def _imported(self, files: Files, name: str, progress: Progress | None, dry_run: bool) -> Json:
        path = "snapshots/?dry_run=1" if dry_run else "snapshots/"
        answer = self.server.upload(path, {"name": name}, files)
        if answer.status != HTTPStatus.ACCEPTED:
            return dict(answer.json)
        over = self._succeeded(self._followed(f"imports/{answer.json['id']}/", progress), "import")
        return dict(self.server.get(f"snapshots/{over['snapshot']}/"))

    def _succeeded(self, over: Json, kind: str) -> Json:
        """Return finished work, or raise Failure with why it has no result."""
        if over["state"] != "succeeded":
            failure_body = {"message": over["error"] or f"The {kind} was {over['state']}."}
            raise Failure(HTTPStatus.UNPROCESSABLE_ENTITY, {**failure_body, "problems": over["problems"]})
        return over

    def snapshots(self) -> list[Json]:
        """Return the snapshots, newest first."""
        return list(self.server.rows("snapshots/"))

    def snapshot_document(self, snapshot: str) -> Json:
        """Return the objects and the configuration of a snapshot."""
        return dict(self.server.get(f"snapshots/{self._id('snapshots', snapshot)}/document/"))

    def scenarios(self) -> list[Json]:
        """Return the scenarios, last changed first."""
        return list(self.server.rows("scenarios/"))

    def scenario_create(self, snapshot: str, name: str) -> Json:
        """Create a scenario."""
        body = {"name": name, "snapshot": self._id("snapshots", snapshot)}
        return dict(self.server.call("POST", "scenarios/", body).json)

    def scenario_branch(self, scenario: str, name: str) -> Json:
        """Create a branch of a scenario."""
        return dict(self.server.call("POST", f"{self._scenario(scenario)}branch/", {"name": name}).json)

    def scenario_remove(self, scenario: str) -> None:
        """Remove a scenario with its runs; the workspace's history keeps its changes."""
        self._edit("DELETE", self._scenario(scenario), None)

    def delete(self, kind: str, name: str, *, dry_run: bool = False) -> dict[str, int]:
        """Delete a cluster, snapshot, run, forecast, experiment or workspace; return what depended on it.

        `kind` is the word in the address, such as `clusters`. The answer counts by kind; it is empty for an
        experiment, on which nothing depends.
        """
        path = f"{kind}/{self._known_id(name) if kind == 'forecasts' else self._id(kind, name)}/"
        depending = dict(self.server.call("DELETE", path, query={"dry_run": 1}).json or {})
        if not dry_run:
            self.server.call("DELETE", path)
        return depending

    def scenario_document(self, scenario: str) -> Json:
        """Return a scenario as one document."""
        return dict(self.server.get(f"{self._scenario(scenario)}document/"))

    def scenario_write(self, name: str, snapshot: str, document: Mapping[str, Any]) -> Json:
        """Bring the scenario of this name on a snapshot to the state of a document; create it if needed."""
        there = next(
            (one for one in self.scenarios() if (one["name"], one["snapshot"]) == (name, snapshot)), None
        )
        begun = there or self.scenario_create(snapshot, name)
        path = f"scenarios/{begun['id']}/"
        seen = self.server.call("GET", f"{path}document/")
        wanted, match = overlay(seen.json, document), {"If-Match": seen.headers["ETag"]}
        written = dict(self.server.call("PATCH", f"{path}document/", wanted, headers=match).json)
        status = "changed" if written["revision"] != begun["revision"] else "unchanged"
        return {"scenario": written, "status": status if there else "created"}

    def scenario_diff(self, scenario: str) -> list[Json]:
        """Return the differences from the snapshot: kind, name, field, before, after."""
        found = self.server.get(f"{self._scenario(scenario)}diff/")["differences"]
        return [line for one in found for line in _by_field(one)]

    def scenario_export(self, scenario: str) -> Json:
        """Return the steps from the cluster to the scenario: manifests, commands, impossible changes."""
        return dict(self.server.get(f"{self._scenario(scenario)}export/"))

    def scenario_problems(self, scenario: str) -> list[Json]:
        """Return every problem of a scenario, errors first."""
        return list(self.server.get(f"{self._scenario(scenario)}validate/")["problems"])

    def scenario_conflicts(self, scenario: str, snapshot: str) -> Json:
        """Return the rebase of a scenario onto another snapshot: conflicts, differences, its revision."""
        there = self._id("snapshots", snapshot)
        return dict(self.server.get(f"{self._scenario(scenario)}rebase/", snapshot=there))

    def scenario_rebase(
        self,
        scenario: str,
        snapshot: str,
        choices: Sequence[Mapping[str, str]],
        *,
        revision: int,
        progress: Progress | None = None,
    ) -> Json:
        """Create a branch there with the changes of the scenario at this revision; return it.

        A choice is a conflict's kind, key and field, and `take`: the side that wins, `ours` or `theirs`.
        Waits for the worker that rebases large snapshots.
        """
        body = {"snapshot": self._id("snapshots", snapshot), "choices": choices}
        seen = {"If-Match": f'"{revision}"'}
        answer = self.server.call("POST", f"{self._scenario(scenario)}rebase/", body, headers=seen)
        if answer.status != HTTPStatus.ACCEPTED:
            return dict(answer.json)
        over = self._succeeded(self._followed(f"rebases/{answer.json['id']}/", progress), "rebase")
        return dict(self.server.get(f"scenarios/{over['branch']}/"))

    def queues(self, scenario: str) -> list[Json]:
        """Return the queues, with the field names of their CRD."""
        return list(self.server.rows(f"{self._scenario(scenario)}queues/"))

    def queue_set(self, scenario: str, queue: str, patch: Mapping[str, Any]) -> Json:
        """Change a queue by a JSON merge patch; return it."""
        path = self._scenario(scenario)
        with self._known(path, "queue", queue):
            return dict(self._edit("PATCH", f"{path}queues/{quote(queue, safe='')}/", patch, seen_at=path))

    def queue_add(self, scenario: str, fields: Mapping[str, Any]) -> Json:
        """Add a queue; return it."""
        path = self._scenario(scenario)
        return dict(self._edit("POST", f"{path}queues/", fields, seen_at=path))

    def queue_remove(self, scenario: str, queue: str, *, subtree: bool = False) -> None:
        """Remove a queue, with `subtree` also its descendants."""
        path = self._scenario(scenario)
        below = "?subtree=1" if subtree else ""
        with self._known(path, "queue", queue):
            self._edit("DELETE", f"{path}queues/{quote(queue, safe='')}/{below}", None, seen_at=path)

    def conf(self, scenario: str) -> str:
        """Return the scheduler configuration."""
        return str(self.server.get(f"{self._scenario(scenario)}conf/")["text"])

    def conf_set(self, scenario: str, text: str) -> list[Json]:
        """Replace the scheduler configuration; return its findings."""
        return list(self._edit("PUT", f"{self._scenario(scenario)}conf/", {"text": text})["problems"])

    def conf_patch(self, scenario: str, operations: Any) -> list[Json]:
        """Edit the scheduler configuration by a JSON patch; return its findings.

        Lines that the patch does not touch are unchanged, byte for byte.
        """
        return list(self._edit("PATCH", f"{self._scenario(scenario)}conf/", operations)["problems"])

    def job_add(self, scenario: str, text: str) -> list[str]:
        """Add the objects of a manifest; return their kinds and names."""
        path = self._scenario(scenario)
        [(_, bare)] = bare_files(["manifest"], read_bytes([("manifest", text.encode())]))
        return self._workloads_add(path, {"documents": bare.decode()})

    def job_create(self, scenario: str, fields: Mapping[str, Any]) -> list[str]:
        """Add a vcjob with one task by its fields; return its kind and name."""
        return self._workloads_add(self._scenario(scenario), {"job": dict(fields)})

    def _workloads_add(self, path: str, body: Json) -> list[str]:
        added = self._edit("POST", f"{path}workloads/", body, seen_at=path)
        return [f"{one['kind']}/{one['key']}" for one in added["objects"]]

    def run_start(self, scenario: str, *, cycles: int = 1) -> Json:
        """Start a run."""
        return dict(self.server.call("POST", f"{self._scenario(scenario)}runs/", {"cycles": cycles}).json)

    def run_wait(self, run: str, progress: Progress | None = None, *, seconds: float | None = None) -> Json:
        """Return a run once it has finished, or as it is after some seconds."""
        return self._followed(self._run(run), progress, seconds)

    def runs(self, scenario: str = "") -> list[Json]:
        """Return the runs, newest first, of all scenarios or of one."""
        return list(self.server.rows(f"{self._scenario(scenario)}runs/" if scenario else "runs/"))

    def run_queues(self, run: str) -> list[Json]:
        """Return the outcome of a run for each queue."""
        return list(self.server.rows(f"{self._run(run)}queues/"))

    def run_jobs(self, run: str) -> list[Json]:
        """Return the outcome of a run for each job."""
        return list(self.server.rows(f"{self._run(run)}jobs/"))

    def run_decisions(self, run: str, **filters: str) -> list[Json]:
        """Return the steps of a run in order; filters are `job`, `pod`, `node`, `action`, `op`."""
        return list(self.server.rows(f"{self._run(run)}decisions/", **filters))

    def run_victims(self, run: str) -> list[Json]:
        """Return the pods that a run evicts."""
        return list(self.server.rows(f"{self._run(run)}victims/"))

    def run_documents(self, run: str) -> tuple[Json, Json]:
        """Return the input and the result of a run."""
        path = self._run(run)
        return dict(self.server.get(f"{path}input/")), dict(self.server.get(f"{path}result/"))

    def compare(self, runs: Sequence[str]) -> Json:
        """Return a comparison of runs."""
        return dict(self.server.get("comparisons/", runs=",".join(self._run_id(run) for run in runs)))

    def page(self, kind: str, name: str) -> str:
        """Return the address of the page of a scenario or a run."""
        return self.server.page(f"{kind}/{self._run_id(name) if kind == 'runs' else self._id(kind, name)}/")


def on_server(backend: Backend, what: str) -> Client:
    """Return the server of a command that needs one."""
    if isinstance(backend, Client):
        return backend
    raise Refused(f"{what} requires a server; it does not work with --local.", code="needs_server")


def _set_in(held: Any, field: str) -> Json:
    """Return the values of a field by their path; an empty mapping sets nothing.

    >>> _set_in({"resource": {"cpu": "2"}}, "guarantee"), _set_in({"resource": {}}, "guarantee")
    ({'guarantee.resource.cpu': '2'}, {})
    """
    return {path: value for path, value in leaves(held, field) if value is not None and value != {}}


def _by_field(one: Mapping[str, Any]) -> Iterator[Json]:
    """Yield a line for every changed field of an object; one line for a new or removed object, or a text."""
    about = {"kind": one["kind"], "name": one["key"]}
    if one["fields_changed"]:
        for change in one["fields_changed"]:
            yield {**about, "field": change["path"], "before": change["before"], "after": change["after"]}
    elif one["field"]:
        before, after = (_set_in(held, one["field"]) for held in (one["before"], one["after"]))
        for field in dict.fromkeys([*before, *after]):
            if before.get(field) != after.get(field):
                yield {**about, "field": field, "before": before.get(field), "after": after.get(field)}
    else:
        yield {**about, "field": "", "before": one["before"], "after": one["after"]}
