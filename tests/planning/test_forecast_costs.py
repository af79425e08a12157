"""The costs of queues sum to those of the nodes, and each part equals a calculation by hand."""

from __future__ import annotations

import csv
from io import StringIO

import numpy as np
import pytest

from planning.forecasts.chargeback import chargeback, chargeback_csv
from planning.forecasts.costs import Prices, costs, divided
from planning.forecasts.record import record_of
from scheduler_core.replay import replay_document
from tests.builders import conf, node, podgroup, pods, queue, scenario
from tests.planning.forecasts import forecast
from tests.trials import trials

RESOURCES = Prices(resources={"cpu": 0.03, "memory": 0.004})
CAPACITY = conf("enqueue, allocate, backfill", ["priority", "gang"], ["predicates", "capacity"])


def in_pool(name: str, pool: str, **offers: object):  # type: ignore[no-untyped-def]
    return node(name, labels={"node.kubernetes.io/instance-type": pool}, **offers)


@pytest.mark.parametrize("seed", trials(range(200), always=50))
def test_the_charges_of_queues_sum_to_the_cost_of_the_nodes(seed: int) -> None:
    document, _, record = forecast(seed, jobs=6)
    pool = record.pools[0].name
    for prices in (RESOURCES, Prices(pools={pool: 2.5}), Prices(pools={pool: 1.0}, relative={"gpu": 1.0})):
        found = costs(record, prices)
        assert sum(row.charged for row in found.queues) == pytest.approx(found.nodes, rel=1e-9, abs=1e-9)
        for row in found.queues:
            assert min(row.allocated, row.borrowed, row.lent, row.idle, row.lost) >= 0
            assert max(row.borrowed, row.lost) <= row.allocated + 1e-12
        lent, borrowed = (sum(getattr(row, part) for row in found.queues) for part in ("lent", "borrowed"))
        assert lent <= borrowed + 1e-12
    hours = record.pools[0].nodes.integral(0, record.end) / 3600
    assert costs(record, Prices(pools={pool: 2.5})).nodes == pytest.approx(2.5 * hours, rel=1e-9)
    assert document["nodes"]


def test_costs_of_one_hour_equal_a_calculation_by_hand() -> None:
    # 8 cores; a deserves 2 and uses 4 for half an hour, b deserves 4 and uses 1 for the whole hour
    document = scenario(
        nodes=[in_pool("n", "big", cpu=8, memory="16Gi")],
        queues=[queue("a", deserved={"cpu": 2}), queue("b", deserved={"cpu": 4})],
        podgroups=[
            podgroup("x", queue="a", min_member=4, annotations={"queuecast/run-seconds": "1800"}),
            podgroup("y", queue="b", min_member=1, annotations={"queuecast/run-seconds": "99999"}),
        ],
        pods=[*pods("x", 4, cpu=1), *pods("y", 1, cpu=1)],
        conf=CAPACITY,
        replay={"period_seconds": 1, "horizon_seconds": 3600},
    )
    record = record_of(document, replay_document(document))
    found = costs(record, Prices(pools={"big": 8.0}, relative={"cpu": 1.0}))
    a, b, nobody = found.queues[0], found.queues[1], found.queues[-1]
    assert [row.queue for row in found.queues] == ["a", "b", ""]
    assert found.nodes == pytest.approx(8.0)
    second = 8.0 / 3600 / 8  # a core for a second; the pods run from the session at 1 s on
    assert a.allocated == pytest.approx(4 * second * 1800, rel=2e-3)
    assert a.borrowed == pytest.approx(2 * second * 1800, rel=2e-3)
    assert b.allocated == pytest.approx(1 * second * 3600, rel=2e-3)
    assert b.lent == pytest.approx(2 * second * 1800, rel=2e-3)
    # idle: 3 cores in the first half hour, 1 of them deserved by b; then 7, 3 of them deserved by b
    assert b.idle == pytest.approx((1 * 1800 + 3 * 1800) * second, rel=2e-3)
    assert nobody.idle == pytest.approx(8.0 - a.charged - b.charged)
    assert a.resource_hours["cpu"] == pytest.approx(2.0, rel=2e-3)


def test_no_queue_pays_for_more_than_the_nodes_offer() -> None:
    parts = divided(np.array([[6.0], [6.0]]), np.array([[9.0], [0.0]]), np.array([8.0]))
    assert parts["allocated"].tolist() == [[4.0], [4.0]]
    assert parts["unassigned"].tolist() == [0.0]


def test_lost_run_time_costs_as_much_as_its_pods() -> None:
    document = scenario(
        nodes=[in_pool("n", "big", cpu=2)],
        queues=[queue("a", deserved={"cpu": 2})],
        podgroups=[podgroup("x", queue="a", min_member=2, annotations={"queuecast/run-seconds": "9999"})],
        pods=pods("x", 2, cpu=1),
        conf=CAPACITY,
        replay={
            "period_seconds": 1,
            "horizon_seconds": 7200,
            "events": [{"at": 3600, "drain": {"nodes": ["n"]}}],
        },
    )
    record = record_of(document, replay_document(document))
    assert record.jobs.lost.sum() == pytest.approx(7200, abs=4)
    found = costs(record, Prices(resources={"cpu": 1.0}))
    assert found.queues[0].lost == pytest.approx(2.0, rel=2e-3)


def test_the_chargeback_has_a_row_per_queue_and_one_for_no_queue() -> None:
    _, _, record = forecast(3)
    found = costs(record, RESOURCES)
    rows = chargeback(found)
    read = list(csv.DictReader(StringIO(chargeback_csv(found))))
    assert [row["queue"] for row in read] == [*(row["queue"] for row in rows[:-1]), "(no queue)"]
    assert sum(float(row["charged"]) for row in read) == pytest.approx(found.nodes)
    assert float(read[0]["core_hours"]) == rows[0]["core_hours"]
