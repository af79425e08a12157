"""Plugin nodeorder: recorded scores, and the formulas for single nodes and in batches."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.plugins.nodeorder.images import ImageTable
from scheduler_core.plugins.nodeorder.resources import ResourceScores, ResourceWeights
from tests.builders import Object, Plugin, conf, decided, last_cycle, node, pod, podgroup, scenario
from tests.scheduler_core.placing import answers, coming, opened, scores
from tests.scheduler_core.states import task_of

HOSTNAME = "kubernetes.io/hostname"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SCORES = (
    "leastrequested",
    "mostrequested",
    "nodeaffinity",
    "podaffinity",
    "balancedresource",
    "tainttoleration",
    "imagelocality",
    "podtopologyspread",
)


def only(score: str) -> Plugin:
    """Return the plugin with one score of weight 1 and no other."""
    return "nodeorder", {"arguments": {f"{name}.weight": int(name == score) for name in SCORES}}


def row(session: Session, name: str = "new") -> list[float]:
    return list(scores(session, name).values())


# amounts

SIZES = [
    node("n1", cpu=4, memory="8Gi"),
    node("n2", cpu=8, memory="16Gi"),
    node("n3", cpu=4, memory="8Gi", gpu=4),
]
RUNNING = [
    pod("r1", group="group", node="n1", cpu=1, memory="1Gi"),
    pod("r2", group="group", node="n2", cpu=3, memory="2Gi"),
    pod("r3", group="group", node="n2"),
    pod("r4", group="group", node="n3", cpu=2, memory="3Gi", gpu=1),
]
PODS = {
    "t1": {"cpu": 1, "memory": "2Gi"},
    "t2": {},
    "t3": {"cpu": "500m"},
    "t4": {"cpu": 1, "memory": "1Gi", "gpu": 1},
}
AMOUNTS = {
    ("leastrequested", "t1"): [56, 60, 31],
    ("leastrequested", "t2"): [78, 72, 53],
    ("leastrequested", "t3"): [73, 70, 48],
    ("leastrequested", "t4"): [62, 64, 37],
    ("mostrequested", "t1"): [43, 38, 68],
    ("mostrequested", "t2"): [20, 27, 45],
    ("mostrequested", "t3"): [25, 29, 50],
    ("mostrequested", "t4"): [37, 35, 62],
    ("balancedresource", "t1"): [93, 87, 93],
    ("balancedresource", "t2"): [0, 0, 0],
    ("balancedresource", "t3"): [87, 84, 87],
    ("balancedresource", "t4"): [87, 84, 88],
}
TOTALS = {"t1": [449, 447, 424], "t2": [378, 372, 353], "t3": [460, 454, 435], "t4": [449, 448, 425]}


@pytest.mark.parametrize(("requested", "want"), AMOUNTS.items(), ids=lambda value: str(value))
def test_resource_scores(requested: tuple[str, str], want: list[int]) -> None:
    score, name = requested
    assert row(opened(SIZES, [coming(**PODS[name])], only(score), there=RUNNING)) == want


@pytest.mark.parametrize(("name", "want"), TOTALS.items())
def test_total_score_with_default_weights(name: str, want: list[int]) -> None:
    assert row(opened(SIZES, [coming(**PODS[name])], "nodeorder", there=RUNNING)) == want


def test_pod_level_requests_are_counted_only_for_existing_pods() -> None:
    whole = {"resources": {"requests": {"cpu": "2", "memory": "4Gi"}}}
    there = [pod("r1", group="group", node="n1", cpu=1, memory="1Gi", spec=whole)]
    assert row(opened(SIZES[:1], [coming(**whole)], only("leastrequested"), there=there)) == [47]
    assert row(opened(SIZES[:1], [coming(**whole)], only("balancedresource"), there=there)) == [0]


def test_node_without_cpu_is_scored_by_memory() -> None:
    session = opened([node("n1", memory="8Gi")], [coming(memory="2Gi")], only("leastrequested"))
    assert row(session) == [75]


def test_weight_given_as_a_string_is_ignored() -> None:
    plugin = ("nodeorder", {"arguments": {"tainttoleration.weight": "0", "leastrequested.weight": 0}})
    assert row(opened(SIZES, [coming()], plugin)) == [300, 300, 300]


whole = st.integers(0, 2**45)
allocated = whole | st.integers(2**53, 2**63 - 1)


@settings(max_examples=60)
@given(
    allocatable=st.lists(st.tuples(allocated, allocated, st.integers(0, 8)), min_size=1, max_size=4),
    taken=st.tuples(whole, whole, whole, whole, st.integers(0, 8)),
    requests=st.tuples(st.integers(0, 2000), st.integers(0, 2**40), st.integers(0, 3)),
    weights=st.tuples(st.integers(-2, 3), st.integers(-2, 3), st.integers(-2, 3)),
)
def test_single_and_batch_scores_are_equal(
    allocatable: list[tuple[int, int, int]],
    taken: tuple[int, ...],
    requests: tuple[int, int, int],
    weights: tuple[int, int, int],
) -> None:
    cpu, memory, gpu = requests
    nodes = [
        node(f"n{number}", cpu=f"{milli}m", memory=held, gpu=gpus)
        for number, (milli, held, gpus) in enumerate(allocatable)
    ]
    asking = [
        pod("new", group="group", cpu=f"{cpu}m", memory=memory, gpu=gpu),
        pod("nogpu", group="group", cpu=f"{cpu}m", memory=memory),
        pod("nothing", group="group"),
    ]
    session = opened(nodes, asking, "nodeorder")
    for number in range(len(nodes)):
        session.k8s_nodes.taken_of[number][:] = taken
        session.k8s_nodes.changes.add(number)
    resources = ResourceScores(session.k8s_nodes, ResourceWeights(*weights))
    shapes = [task_of(session, f"default-{name}").shape for name in ("new", "nogpu", "nothing")]
    every = session.placement.all
    of_shapes = resources.of_shapes(shapes, rest=0)
    rows = session.k8s_nodes.allocatable.T.tolist()
    for number in every.tolist():
        scores = [
            one_score(weights, rows[number], taken, session.k8s_nodes.incoming(shape)) for shape in shapes
        ]
        assert of_shapes.on(every)[number].tolist() == scores
        assert [resources.score(shape, every).tolist()[number] for shape in shapes] == scores
        assert [resources.score_node(shape)(number) for shape in shapes] == scores


def one_score(
    weights: tuple[int, ...], allocatable: list[int], taken: tuple[int, ...], incoming: tuple[int, ...]
) -> int:
    least, most, balanced = weights
    used = [held + more for held, more in zip(taken, incoming, strict=True)]
    near = [pair for pair in zip(allocatable[:2], used[:2], strict=True) if pair[0] > 0]
    kinds = max(len(near), 1)
    total = least * cut(sum(cut(as_int64(100 * max(has - held, 0)), has) for has, held in near), kinds)
    total += most * cut(sum(cut(as_int64(100 * min(has, held)), has) for has, held in near), kinds)
    counted = 3 if incoming[4] > 0 else 2
    fractions = [
        min(held / has, 1.0)
        for held, has in zip(used[2 : 2 + counted], allocatable[:counted], strict=True)
        if has > 0
    ]
    if any(incoming[2:]):
        total += balanced * int((1.0 - deviation(fractions)) * 100)
    return total


def as_int64(number: int) -> int:
    """Return what 64-bit integers make of a number."""
    return (number + 2**63) % 2**64 - 2**63


def cut(numerator: int, divisor: int) -> int:
    """Return a quotient cut off towards zero."""
    return abs(numerator) // divisor * (-1 if numerator < 0 else 1)


def test_overflowing_percentage_of_a_huge_node_scores_as_in_kube_scheduler() -> None:
    """9Ei of cpu are read as 2^63 - 1 millicores; a hundred times the idle amount overflows."""
    sizes = [node("large", cpu="9Ei"), node("small", cpu="4")]
    least = ("nodeorder", {"arguments": {"balancedresource.weight": 0, "tainttoleration.weight": 0}})
    assert row(opened(sizes, [coming()], least))[0] == 0


def deviation(fractions: list[float]) -> float:
    if len(fractions) == 2:
        return abs((fractions[0] - fractions[1]) / 2)
    if len(fractions) < 2:
        return 0.0
    mean = (fractions[0] + fractions[1] + fractions[2]) / 3
    return math.sqrt(sum((fraction - mean) ** 2 for fraction in fractions) / 3)


# labels, taints, other pods, spread, images

TAINT = {"effect": "PreferNoSchedule"}
MIXED = [
    node(
        name,
        cpu=8,
        memory="16Gi",
        labels={"zone": zone, "disk": disk, "gen": gen},
        taints=[{"key": key, **TAINT} for key in taints],
    )
    for name, zone, disk, gen, taints in (
        ("n1", "za", "ssd", "3", "ab"),
        ("n2", "za", "ssd", "5", "a"),
        ("n3", "zb", "hdd", "7", "abc"),
    )
]


def near(app: str, key: str, weight: int) -> Object:
    return {
        "weight": weight,
        "podAffinityTerm": {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}},
    }


EXISTING = [
    pod("e1", group="group", node="n1", labels={"app": "db"}),
    pod(
        "e2",
        group="group",
        node="n2",
        labels={"app": "web"},
        spec={"affinity": {"podAntiAffinity": {PREFERRED: [near("cache", HOSTNAME, 40)]}}},
    ),
    pod("e3", group="group", node="n3", labels={"app": "web"}),
    pod("e4", group="group", node="n1", labels={"app": "web"}),
    pod(
        "e5",
        group="group",
        node="n2",
        labels={"app": "web"},
        spec={
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        near("cache", "zone", 0)["podAffinityTerm"]
                    ]
                }
            }
        },
    ),
]


def mixed(score: str, **facts: object) -> list[float]:
    return row(opened(MIXED, [coming(**facts)], only(score), there=EXISTING))


def prefers(*terms: tuple[int, Object]) -> Object:
    return {"nodeAffinity": {PREFERRED: [{"weight": weight, "preference": term} for weight, term in terms]}}


SSD = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
NEW = {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["4"]}]}
BROKEN = {"matchExpressions": [{"key": "gen", "operator": "Near", "values": ["4"]}]}


def test_preferred_node_affinity_scores() -> None:
    assert mixed("nodeaffinity", affinity=prefers((10, SSD), (25, NEW))) == [28, 100, 71]


def test_zero_weight_and_empty_preferences_are_ignored() -> None:
    assert mixed("nodeaffinity", affinity=prefers((0, BROKEN), (5, {}))) == [0, 0, 0]


def test_preferred_pod_affinity_and_anti_affinity_scores() -> None:
    wish = {
        "podAffinity": {PREFERRED: [near("db", "zone", 60)]},
        "podAntiAffinity": {PREFERRED: [near("web", HOSTNAME, 25)]},
    }
    assert mixed("podaffinity", labels={"app": "cache"}, affinity=wish) == [100, 0, 7]


def test_preferences_of_existing_pods_are_scored() -> None:
    assert mixed("podaffinity", labels={"app": "cache"}) == [100, 0, 100]
    assert mixed("podaffinity", labels={"app": "other"}) == [0, 0, 0]


def test_prefer_no_schedule_taints_lower_the_score() -> None:
    assert mixed("tainttoleration", tolerations=[{"key": "b", "operator": "Exists"}]) == [50, 50, 0]
    assert mixed("tainttoleration", tolerations=[{"operator": "Exists"}]) == [100, 100, 100]


def softly(key: str, max_skew: int) -> Object:
    return {
        "topologyKey": key,
        "maxSkew": max_skew,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }


def test_topology_spread_scores() -> None:
    wish = [softly("zone", 1), softly(HOSTNAME, 2)]
    assert mixed("podtopologyspread", labels={"app": "web"}, topologySpreadConstraints=wish) == [62, 50, 100]


def test_node_without_the_topology_label_gets_no_spread_score() -> None:
    bare = node("n0", cpu=8, memory="16Gi")
    wish = coming(labels={"app": "web"}, topologySpreadConstraints=[softly("zone", 1)])
    assert row(opened([bare, *MIXED], [wish], only("podtopologyspread"), there=EXISTING)) == [0, 25, 25, 100]


def test_pods_of_a_service_are_spread_by_default() -> None:
    zones = [
        node(f"n{number}", cpu=8, memory="16Gi", labels={"topology.kubernetes.io/zone": zone} if zone else {})
        for number, zone in enumerate(("", "za", "za", "zb"))
    ]
    there = [pod(f"w{n}", group="group", node=f"n{n}", labels={"app": "web"}) for n in (1, 1, 2, 3)]
    service = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}}}
    selected = opened(
        zones, [coming(labels={"app": "web"})], only("podtopologyspread"), there=there, services=[service]
    )
    unselected = opened(zones, [coming()], only("podtopologyspread"), there=there, services=[service])
    actual = scores(selected)
    assert max(actual, key=lambda name: actual[name]) == "n0"
    assert actual["n3"] > actual["n1"]
    assert row(unselected) == [0, 0, 0, 0]


def with_images(name: str, *images: tuple[str, int]) -> Object:
    built = node(name, cpu=8, memory="16Gi")
    built["status"]["images"] = [{"names": [image], "sizeBytes": mib * 2**20} for image, mib in images]
    return built


def test_image_locality_scores() -> None:
    nodes = [with_images("n1", ("app:1", 500)), with_images("n2", ("app:1", 700)), with_images("n3")]
    session = opened(nodes, [coming(containers=[{"name": "main", "image": "app:1"}])], only("imagelocality"))
    assert row(session) == [14, 31, 0]


def test_image_without_a_tag_means_latest() -> None:
    nodes = [with_images("n1", ("registry:5000/app:latest", 999))]
    shape_of = opened(
        nodes, [coming(containers=[{"name": "main", "image": "registry:5000/app"}])], "nodeorder"
    )
    table = ImageTable(shape_of.nodes)
    assert table.score(task_of(shape_of, "default-new").shape).tolist() == [99]


# several plugins

THREE = [
    node("a", cpu=8, memory="16Gi", gpu=4, labels={"volcano.sh/nodegroup-name": "g1"}),
    node("b", cpu=8, memory="16Gi", gpu=4, labels={"volcano.sh/nodegroup-name": "g2"}),
    node("c", cpu=16, memory="32Gi", labels={"volcano.sh/nodegroup-name": "g2"}),
]
BUSY = [
    pod("on-a", group="group", node="a", cpu=2, memory="4Gi", gpu=1),
    pod("on-b", group="group", node="b", cpu=6, memory="2Gi"),
]


@pytest.mark.parametrize(
    ("facts", "want"),
    [
        ({"cpu": 1, "memory": "2Gi", "gpu": 1}, [456, 413, 493]),
        ({"cpu": "1500m", "memory": "1Gi"}, [455, 405, 489]),
        ({"cpu": 3, "memory": "1Gi"}, [436, 399, 480]),
    ],
)
def test_worked_example_scores(facts: Object, want: list[int]) -> None:
    assert row(opened(THREE, [coming(**facts)], "nodeorder", there=BUSY)) == want


def test_scores_are_not_updated_without_plugin_predicates() -> None:
    for plugins, want in ((["nodeorder"], False), (["predicates", "nodeorder"], True)):
        session = opened(SIZES, [coming("new0", cpu=1), coming("new1", cpu=1)], *plugins)
        before = row(session, "new1")
        answers(session, "new0")
        Statement(session).allocate(task_of(session, "default-new0"), 0)
        assert (row(session, "new1") != before) is want


def test_invalid_preference_leaves_the_pod_unplaced_unless_one_node_fits() -> None:
    def bound(nodes: list[Object]) -> list[str]:
        broken = pod("new-0", group="new", cpu=1, spec={"affinity": prefers((1, BROKEN))})
        document = scenario(
            nodes=nodes,
            podgroups=[podgroup("new")],
            pods=[broken],
            conf=conf("allocate", ["gang", "predicates", "nodeorder"]),
        )
        return decided(last_cycle(document), "bind")

    assert bound(MIXED) == []
    assert bound(MIXED[:1]) == ["default/new-0"]
