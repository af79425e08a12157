"""How does a run leave for another installation, and arrive?"""

import io

from django.conf import settings
from django.db import transaction

from planner.engine.bare import bare_input
from planner.engine.bundle import About, Bundle, NoBundle, unpacked
from planner.models import Blob, Run, User, Workspace
from planner.services.errors import Invalid
from planner.services.imports import cluster_import, cluster_read_apart
from planner.services.runs import run_queue
from planner.services.scenarios import scenario_create


def bundle_of(*, run: Run) -> bytes:
    """Return a succeeded run as one file."""
    assert run.result is not None, "only a run with a result travels"
    about = About(
        name=run.scenario.name,
        scenario_revision=run.scenario_revision,
        options=run.options,
        engine_version=run.engine_version,
        input_sha256=run.input.sha256,
        result_sha256=run.result.sha256,
    )
    return Bundle(about, run.input.content(), run.result.content()).packed()


def bundle_import(*, content: bytes, workspace: Workspace, user: User) -> tuple[Run, About]:
    """Keep the cluster of a bundle as snapshot and scenario, and queue the run again over the same bytes.

    Interfaces call `planner.tasks.submit_bundle`, which also sends the kick.
    """
    try:
        bundle = unpacked(content)
    except NoBundle as error:
        raise Invalid(error.problems) from None
    about = bundle.about
    read = cluster_read_apart([("input.json", io.BytesIO(bundle.input))])
    blob = Blob.of(bare_input(bundle.input, settings.KEEP_ANNOTATIONS))
    with transaction.atomic():
        snapshot = cluster_import(
            read=read,
            workspace=workspace,
            name=about.name,
            provenance=f"bundle of a run, engine {about.engine_version}"[:500],
            owner=user,
        )
        scenario = scenario_create(snapshot=snapshot, name=about.name, owner=user)
        run = run_queue(scenario=scenario, content=blob, options=about.options, user=user)
    return run, about
