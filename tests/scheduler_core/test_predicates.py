"""Plugin predicates: recorded answers, and what the filters cache during a session."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.errors import PrePredicateError
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from tests.builders import Object, conf, decided, last_cycle, node, pod, podgroup, scenario
from tests.scheduler_core.placing import FITS, answers, coming, opened, passing, reasons
from tests.scheduler_core.states import task_of

HOSTNAME = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def roomy(name: str, **facts: Any) -> Object:
    return node(name, cpu=8, memory="16Gi", **facts)


# taints

TAINTED = [
    roomy("tNE", taints=[{"key": "k", "effect": "NoExecute"}]),
    roomy("tNS", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]),
    roomy("tPN", taints=[{"key": "k", "effect": "PreferNoSchedule"}]),
    roomy("uns", unschedulable=True),
]

TOLERATIONS = {
    "none": ([], "3 3 ok 3"),
    "k Equal v": ([{"key": "k", "operator": "Equal", "value": "v"}], "ok 3 ok 3"),
    "k, operator and value empty": ([{"key": "k"}], "3 ok ok 3"),
    "k Exists": ([{"key": "k", "operator": "Exists"}], "ok ok ok 3"),
    "Exists without a key": ([{"operator": "Exists"}], "ok ok ok ok"),
    "k Exists, effect NoSchedule": (
        [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
        "ok 3 ok 3",
    ),
    "no key, Equal v": ([{"operator": "Equal", "value": "v"}], "ok 3 ok 3"),
    "taint of cordoned nodes": (
        [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}],
        "3 3 ok ok",
    ),
    "disabled operator": ([{"key": "k", "operator": "Gt", "value": "1"}], "3 3 ok 3"),
}


@pytest.mark.parametrize(("tolerations", "want"), TOLERATIONS.values(), ids=TOLERATIONS.keys())
def test_taints_and_tolerations(tolerations: list[Object], want: str) -> None:
    actual = answers(opened(TAINTED, [coming(tolerations=tolerations)]))
    assert " ".join(actual[name] for name in ("tNS", "tNE", "tPN", "uns")) == want


def test_taints_are_ignored_when_the_filter_is_disabled() -> None:
    off = ("predicates", {"arguments": {"predicate.TaintTolerationEnable": False}})
    assert passing(opened(TAINTED, [coming()], off)) == ["tNE", "tNS", "tPN"]


# node affinity

LABELLED = [
    roomy("n1", labels={"a": "x", "num": "5"}),
    roomy("n2", labels={"a": "y", "num": "07"}),
    roomy("n3"),
]


def expression(key: str, operator: str, *values: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def by_field(*entries: tuple[str, list[str]], operator: str = "In") -> Object:
    return {"matchFields": [{"key": key, "operator": operator, "values": values} for key, values in entries]}


AFFINITIES: dict[str, tuple[list[Object], list[str]]] = {
    "a In x": ([expression("a", "In", "x")], ["n1"]),
    "a NotIn x: a missing label passes": ([expression("a", "NotIn", "x")], ["n2", "n3"]),
    "a Exists": ([expression("a", "Exists")], ["n1", "n2"]),
    "a DoesNotExist": ([expression("a", "DoesNotExist")], ["n3"]),
    "num Gt 5: leading zeros are allowed": ([expression("num", "Gt", "5")], ["n2"]),
    "num Lt 7": ([expression("num", "Lt", "7")], ["n1"]),
    "num Gt -1: illegal value": ([expression("num", "Gt", "-1")], []),
    "required without terms": ([], []),
    "empty term matches nothing": ([{}], []),
    "terms are alternatives": ([expression("a", "In", "x"), expression("num", "In", "07")], ["n1", "n2"]),
    "malformed term does not affect the others": (
        [expression("a", "Near", "x"), expression("a", "In", "y")],
        ["n2"],
    ),
    "In without values is malformed": ([expression("a", "In")], []),
    "Exists with a value is malformed": ([expression("a", "Exists", "x")], []),
    "illegal label value is malformed": ([expression("a", "NotIn", "-x")], []),
    "by name": ([by_field(("metadata.name", ["n2"]))], ["n2"]),
    "not by name": ([by_field(("metadata.name", ["n2"]), operator="NotIn")], ["n1", "n3"]),
    "two names in one entry are malformed": ([by_field(("metadata.name", ["n1", "n2"]))], []),
    "another field reads as empty": ([by_field(("metadata.uid", [""]))], ["n1", "n2", "n3"]),
}


def required_nodes(*terms: Object) -> Object:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


@pytest.mark.parametrize(("terms", "want"), AFFINITIES.values(), ids=AFFINITIES.keys())
def test_required_node_affinity(terms: list[Object], want: list[str]) -> None:
    assert passing(opened(LABELLED, [coming(affinity=required_nodes(*terms))])) == want


def test_node_selector_and_node_affinity_must_both_match() -> None:
    wish = coming(nodeSelector={"a": "x"}, affinity=required_nodes(expression("num", "Exists")))
    assert passing(opened(LABELLED, [wish])) == ["n1"]
    assert reasons(opened(LABELLED, [wish]), "n3") == ["node(s) didn't match Pod's node affinity/selector"]


def test_conflicting_node_names_fail_in_the_pre_predicate() -> None:
    session = opened(
        LABELLED,
        [coming(affinity=required_nodes(by_field(("metadata.name", ["n1"]), ("metadata.name", ["n2"]))))],
    )
    with pytest.raises(
        PrePredicateError, match="NodeAffinity pre-predicates failed pod affinity terms conflict"
    ):
        answers(session)


# topology spread

PLACES = [
    roomy("n1", labels={"zone": "za"}),
    roomy("n2", labels={"zone": "za"}),
    roomy("n3", labels={"zone": "zb"}),
    roomy("n4"),
]
WEB = {"app": "w"}
WEBS = [
    pod("w1", group="group", node="n1", labels=WEB),
    pod("w2", group="group", node="n1", labels=WEB),
    pod("w3", group="group", node="n3", labels=WEB),
]


def spread(key: str, max_skew: int = 1, **fields: Any) -> Object:
    return {
        "topologyKey": key,
        "maxSkew": max_skew,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": WEB},
        **fields,
    }


SPREADS: dict[str, tuple[Object, Object, str]] = {
    "zone, skew 1": (spread("zone"), {}, "2 2 ok 3"),
    "hostname, skew 1": (spread(HOSTNAME), {}, "2 ok 2 ok"),
    "hostname, skew 2": (spread(HOSTNAME, 2), {}, "2 ok ok ok"),
    "pod that does not match its own selector": (spread(HOSTNAME), {"labels": {"app": "o"}}, "2 ok ok ok"),
    "zone, skew 1, minDomains 3": (spread("zone", minDomains=3), {}, "2 2 2 3"),
    "only selected zones count": (spread("zone"), {"nodeSelector": {"zone": "za"}}, "ok ok 3 3"),
    "all zones count": (
        spread("zone", nodeAffinityPolicy="Ignore"),
        {"nodeSelector": {"zone": "za"}},
        "2 2 3 3",
    ),
    "empty selector counts only the pod itself": (
        spread("zone", labelSelector={}),
        {},
        "ok ok ok 3",
    ),
    "absent selector counts no pods": (spread("zone", labelSelector=None), {}, "ok ok ok 3"),
    "matchLabelKeys narrow the selector": (
        spread("zone", labelSelector={}, matchLabelKeys=["app"]),
        {},
        "2 2 ok 3",
    ),
}


@pytest.mark.parametrize(("constraint", "facts", "want"), SPREADS.values(), ids=SPREADS.keys())
def test_topology_spread_filter(constraint: Object, facts: Object, want: str) -> None:
    wish = coming(**{"labels": WEB, "topologySpreadConstraints": [constraint], **facts})
    assert " ".join(answers(opened(PLACES, [wish], there=WEBS)).values()) == want


def test_terminating_pods_do_not_count_for_topology_spread() -> None:
    leaving = pod("w4", group="group", node="n3", labels=WEB, deleting=True)
    wish = coming(labels=WEB, topologySpreadConstraints=[spread("zone")])
    assert answers(opened(PLACES, [wish], there=[*WEBS, leaving]))["n3"] == FITS


def test_topology_spread_has_two_reasons() -> None:
    wish = coming(labels=WEB, topologySpreadConstraints=[spread("zone")])
    session = opened(PLACES, [wish], there=WEBS)
    text = "node(s) didn't match pod topology spread constraints"
    assert reasons(session, "n1") == [text]
    assert reasons(session, "n4") == [f"{text} (missing required label)"]


# pod affinity


def near(app: str, key: str = "zone", **fields: Any) -> Object:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **fields}


def affinity(*terms: Object) -> Object:
    return {"podAffinity": {REQUIRED: list(terms)}}


def anti_affinity(*terms: Object) -> Object:
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


POD_AFFINITIES: dict[str, tuple[Object, str]] = {
    "affinity to a pod by zone": (affinity(near("w")), "ok ok ok 3"),
    "affinity to itself without any match yet": (affinity(near("o")), "ok ok ok 3"),
    "affinity without any match": (affinity(near("nobody")), "3 3 3 3"),
    "anti-affinity to a pod by zone": (anti_affinity(near("w")), "2 2 2 ok"),
    "absent selector matches no pods": (affinity({"topologyKey": "zone"}), "3 3 3 3"),
    "no match in another namespace": (affinity(near("w", namespaces=["other"])), "3 3 3 3"),
    "all namespaces": (affinity(near("w", namespaceSelector={})), "ok ok ok 3"),
    "namespace selector with only exclusions matches all": (
        affinity(
            near(
                "w",
                namespaceSelector={"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
                namespaces=["other"],
            )
        ),
        "ok ok ok 3",
    ),
}


@pytest.mark.parametrize(("wish", "want"), POD_AFFINITIES.values(), ids=POD_AFFINITIES.keys())
def test_required_pod_affinity(wish: Object, want: str) -> None:
    session = opened(PLACES, [coming(affinity=wish, labels={"app": "o"})], there=WEBS)
    assert " ".join(answers(session).values()) == want


def test_pod_affinity_selects_namespaces_by_label() -> None:
    wish = affinity(near("w", namespaceSelector={"matchLabels": {"team": "x"}}))
    namespaces = [{"metadata": {"name": "default", "labels": {"team": "x"}}}]
    assert passing(opened(PLACES, [coming(affinity=wish)], there=WEBS)) == []
    assert passing(opened(PLACES, [coming(affinity=wish)], there=WEBS, namespaces=namespaces)) == [
        "n1",
        "n2",
        "n3",
    ]


def test_anti_affinity_of_an_existing_pod_rejects_other_pods() -> None:
    lonely = pod("lonely", group="group", node="n3", spec={"affinity": anti_affinity(near("o"))})
    session = opened(PLACES, [coming(labels={"app": "o"}), coming("else")], there=[lonely])
    assert answers(session)["n3"] == "2"
    assert reasons(session, "n3") == ["node(s) didn't satisfy existing pods anti-affinity rules"]
    assert passing(session, "else") == ["n1", "n2", "n3", "n4"]


def test_malformed_selector_fails_in_the_pre_predicate() -> None:
    wish = affinity(
        {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Gt"}]}}
    )
    with pytest.raises(PrePredicateError, match="InterPodAffinity pre-predicates failed parsing pod"):
        answers(opened(PLACES, [coming(affinity=wish)]))


# ports and pod number


def on_port(number: int, **fields: Any) -> list[Object]:
    return [{"name": "main", "ports": [{"containerPort": 1, "hostPort": number, **fields}]}]


PORTS: dict[str, tuple[Object, str]] = {
    "any address, used on one": ({"number": 80}, "2 ok"),
    "the same address": ({"number": 80, "hostIP": "10.0.0.1"}, "2 ok"),
    "another address": ({"number": 80, "hostIP": "10.0.0.2"}, "ok ok"),
    "another protocol": ({"number": 80, "protocol": "UDP"}, "ok ok"),
    "one address, used on all": ({"number": 81, "hostIP": "10.0.0.9"}, "ok 2"),
}


@pytest.mark.parametrize(("wanted", "want"), PORTS.values(), ids=PORTS.keys())
def test_host_ports(wanted: Object, want: str) -> None:
    there = [
        pod("p1", group="group", node="n1", spec={"containers": on_port(80, hostIP="10.0.0.1")}),
        pod("p2", group="group", node="n2", spec={"containers": on_port(81)}),
    ]
    session = opened([roomy("n1"), roomy("n2")], [coming(containers=on_port(**wanted))], there=there)
    assert " ".join(answers(session).values()) == want


def test_sidecar_uses_its_host_port_and_an_init_container_does_not() -> None:
    taken = pod("p1", group="group", node="n1", spec={"containers": on_port(80)})
    init = on_port(80)
    sidecar = [{**init[0], "restartPolicy": "Always"}]
    session = opened(
        [roomy("n1")],
        [coming("plain", initContainers=init), coming("beside", initContainers=sidecar)],
        there=[taken],
    )
    assert answers(session, "plain") == {"n1": FITS}
    assert answers(session, "beside") == {"n1": "2"}


def test_node_accepts_as_many_pods_as_it_declares() -> None:
    session = opened([node("n1", cpu=8, pods=1), node("n2", cpu=8, pods=0)], [coming()], there=[])
    assert answers(session) == {"n1": FITS, "n2": "2"}
    assert reasons(session, "n2") == ["node(s) pod number exceeded"]


def test_reasons_are_collected_until_an_unresolvable_one() -> None:
    crowded = node("n1", cpu=8, pods=1, taints=[{"key": "k", "effect": "NoSchedule"}])
    taken = pod("p1", group="group", node="n1", spec={"containers": on_port(80)})
    refused = opened([crowded], [coming(containers=on_port(80))], there=[taken])
    assert answers(refused) == {"n1": "2 3"}
    tolerant = coming(containers=on_port(80), tolerations=[{"operator": "Exists"}])
    assert answers(opened([crowded], [tolerant], there=[taken])) == {"n1": "2 2"}


# what the filters cache during a session


def place(session: Session, name: str, node_name: str) -> Statement:
    task = task_of(session, f"default-{name}")
    session.plugins.pre_predicate(task)
    statement = Statement(session)
    assert statement.allocate(task, session.nodes.index[node_name])
    return statement


def test_filters_see_allocated_pods_until_the_statement_is_discarded() -> None:
    session = opened([roomy("n1")], [coming(f"new{i}", containers=on_port(80)) for i in range(2)])
    statement = place(session, "new0", "n1")
    assert answers(session, "new1") == {"n1": "2"}
    statement.discard()
    assert answers(session, "new1") == {"n1": FITS}


def test_filters_do_not_see_a_pod_whose_eviction_was_discarded() -> None:
    session = opened([node("n1", cpu=8, pods=1)], [coming()], there=[pod("old", group="group", node="n1")])
    assert answers(session) == {"n1": "2"}
    statement = Statement(session)
    statement.evict(task_of(session, "default-old"), "test", task_of(session, "default-new"))
    statement.discard()
    assert answers(session) == {"n1": FITS}
    again = Statement(session)
    again.evict(task_of(session, "default-old"), "test", task_of(session, "default-new"))
    assert session.k8s_nodes.room.tolist() == [1]


def test_plugin_listed_twice_counts_every_placed_pod_twice() -> None:
    session = opened(
        [node("n1", cpu=8, pods=3)], [coming("new0"), coming("new1")], "predicates", "predicates"
    )
    place(session, "new0", "n1")
    assert session.k8s_nodes.room.tolist() == [1]


LONELY = anti_affinity(near("x", HOSTNAME))


def test_skipped_pod_affinity_filter_stays_skipped() -> None:
    there = [pod("lonely", group="group", node="n1", spec={"affinity": anti_affinity(near("y", HOSTNAME))})]
    wish = [
        coming("new", labels={"app": "x"}),
        coming("late", labels={"app": "x"}),
        coming("shy", affinity=LONELY),
    ]
    session = opened([roomy("n1"), roomy("n2")], wish, there=there)
    assert passing(session, "new") == ["n1", "n2"]
    place(session, "shy", "n1")
    assert passing(session, "new") == ["n1", "n2"]
    assert passing(session, "late") == ["n2"]


def test_first_anti_affinity_placed_in_a_session_does_not_affect_other_pods() -> None:
    session = opened(
        [roomy("n1"), roomy("n2")], [coming(labels={"app": "x"}), coming("shy", affinity=LONELY)]
    )
    place(session, "shy", "n1")
    assert passing(session) == ["n1", "n2"]


def test_predicate_without_a_pre_predicate_is_an_error_on_every_node() -> None:
    session = opened(TAINTED, [coming()])
    assert answers(session, looked_at=False) == {"tNE": "3", "tNS": "3", "tPN": "1", "uns": "3"}


def test_only_backfill_places_pods_without_pre_predicates() -> None:
    off = ("predicates", {"enablePredicate": False})
    cycle = last_cycle(
        scenario(
            nodes=[roomy("n1")],
            podgroups=[podgroup("train"), podgroup("idle")],
            pods=[pod("train-0", group="train", cpu=1), pod("idle-0", group="idle")],
            conf=conf("allocate, backfill", ["gang", off]),
        )
    )
    assert decided(cycle, "bind") == ["default/idle-0"]


# the cache per template

CACHED = ("predicates", {"arguments": {"predicate.CacheEnable": True}})


def of_template(name: str, **facts: Any) -> Object:
    return coming(name, annotations={"volcano.sh/template-uid": "train-worker"}, **facts)


def test_pods_of_one_template_share_cached_filter_results() -> None:
    wish = [of_template("first", nodeSelector={"a": "x"}), of_template("second", nodeSelector={"a": "y"})]
    session = opened(LABELLED, wish, CACHED)
    assert answers(session, "first") == {"n1": FITS, "n2": "3", "n3": "3"}
    assert answers(session, "second") == {"n1": FITS, "n2": "1", "n3": "1"}
    assert reasons(session, "n2", "second") == ["plugin equivalence cache predicates failed"]


def test_pod_without_a_template_is_never_cached() -> None:
    wish = [coming("first", nodeSelector={"a": "x"}), coming("second", nodeSelector={"a": "y"})]
    session = opened(LABELLED, wish, CACHED)
    assert passing(session, "first") == ["n1"]
    assert passing(session, "second") == ["n2"]


# dry runs of topology-aware preemption

LARGE = [node("n1", cpu=2), node("n2", cpu=2)]


def preempted(**arguments: Any) -> Object:
    """Return a cycle where a high-priority pod with anti-affinity to app x may preempt two small ones."""
    running = [
        pod("low-0", group="low", node="n1", cpu=1, labels={"app": "x"}),
        pod("low-1", group="low", node="n1", cpu=1),
    ]
    wish = pod("high-0", group="high", cpu=1, priority=10, spec={"affinity": LONELY})
    return last_cycle(
        scenario(
            nodes=LARGE[:1],
            podgroups=[podgroup("low", min_member=0), podgroup("high", priority_class="high")],
            pods=[*running, wish],
            priorityclasses=[{"metadata": {"name": "high"}, "value": 10}],
            conf=conf(
                "preempt",
                ["priority", "gang", ("predicates", {"arguments": arguments})],
                preempt=TOPOLOGY_AWARE,
            ),
        )
    )


TOPOLOGY_AWARE = {"enableTopologyAwarePreemption": True}


def test_dry_run_evicts_the_pod_that_conflicts_by_anti_affinity() -> None:
    assert decided(preempted(), "evict") == ["default/low-0"]


def test_dry_run_evicts_the_first_pod_if_the_pod_affinity_filter_is_off() -> None:
    assert decided(preempted(**{"predicate.PodAffinityEnable": False}), "evict") == ["default/low-1"]
