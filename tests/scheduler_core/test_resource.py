"""Resource arithmetic and comparisons, including resources that are absent."""

from __future__ import annotations

import pytest

from scheduler_core.errors import SchedulerPanic
from scheduler_core.resource import Absent, Resource, exceeded_part, maximum
from scheduler_core.resource_limits import exceeded_dimensions, insufficient
from scheduler_core.resource_list import read_resource_list
from scheduler_core.resource_names import is_scalar_name

ZERO, INFINITY = Absent.ZERO, Absent.INFINITY


def r(cpu: float = 0, memory: float = 0, **scalars: float) -> Resource:
    return Resource(cpu, memory, dict(scalars) or None)


AMOUNTS = {
    "cpu in millicores": ({"cpu": "1500u"}, r(2)),
    "memory is rounded up": ({"memory": "1.5"}, r(0, 2)),
    "gpu in milli units": ({"nvidia.com/gpu": 2}, Resource(0, 0, {"nvidia.com/gpu": 2000.0})),
    "pods are counted": ({"pods": "110"}, r(pods=110)),
    "hugepages in milli units": ({"hugepages-2Mi": "4Mi"}, Resource(0, 0, {"hugepages-2Mi": 4194304000.0})),
    "storage in milli units": (
        {"ephemeral-storage": "1Ki"},
        Resource(0, 0, {"ephemeral-storage": 1024000.0}),
    ),
    "quota names are left out": ({"requests.cpu": "1", "count/pods": "3", "services": "1"}, r()),
    "device classes are scalars": ({"deviceclass/x": 4}, Resource(0, 0, {"deviceclass/x": 4000.0})),
}


@pytest.mark.parametrize(("amounts", "want"), AMOUNTS.values(), ids=AMOUNTS.keys())
def test_resource_from_a_resource_list(amounts: dict[str, object], want: Resource) -> None:
    got = read_resource_list(amounts)
    assert got.as_dict() == want.as_dict()
    assert (got.scalars is None) == (want.scalars is None)


def test_scalar_resource_names() -> None:
    names = ["nvidia.com/gpu", "hugepages-1Gi", "kubernetes.io/foo", "attachable-volumes-csi-x"]
    assert all(map(is_scalar_name, names))
    assert not any(map(is_scalar_name, ["requests.nvidia.com/gpu", "foo", "services", "ephemeral-storage"]))


@pytest.mark.parametrize(
    ("left", "right", "absent", "want"),
    [
        (r(), r(gpu=5), ZERO, True),
        (r(), r(gpu=5), INFINITY, False),
        (r(gpu=5), r(), ZERO, False),
        (r(gpu=5), r(), INFINITY, True),
        (r(gpu=0), r(), ZERO, True),
        (r(1000.1), r(1000), ZERO, False),
        (r(100.1), r(100), ZERO, True),
    ],
)
def test_less_equal_by_amounts_and_absence(
    left: Resource, right: Resource, absent: Absent, want: bool
) -> None:
    assert left.less_equal(right, absent) is want


def test_insufficient_ignores_resources_only_on_the_right() -> None:
    assert insufficient(r(), r(gpu=5), INFINITY) == []
    assert insufficient(r(5, 7, b=1, a=1), r(1)) == ["cpu", "memory", "a", "b"]


def test_requested_dimensions_are_compared_without_tolerance() -> None:
    assert exceeded_dimensions(r(1000.05), r(1000), r(1)) == ["cpu"]
    assert exceeded_dimensions(r(2000, 5), r(1000), r(0, 1)) == ["memory"]
    assert exceeded_dimensions(r(pods=9), r(pods=1), r(pods=1)) == []


def test_exceeded_part_keeps_only_the_excess() -> None:
    assert exceeded_part(r(a=1, c=7), r(c=3, e=2)).scalars == {"a": 1, "c": 4}
    assert exceeded_part(r(5, 5), r(3, 9)).as_dict() == {"cpu": 2, "memory": 0}
    assert exceeded_part(r(a=-1, c=7), r(c=-1)).scalars == {"a": -1}


def test_exceeded_part_drops_scalars_without_excess() -> None:
    assert exceeded_part(r(10, gpu=4), r(4, gpu=4)).scalars is None


def test_min_dimension_resource() -> None:
    assert r(a=9, c=9).min_dimension_resource(r(a=4, z=1), ZERO).scalars == {"a": 4, "c": 0}
    assert r(a=9, c=9).min_dimension_resource(r(a=4, z=1), INFINITY).scalars == {"a": 4, "c": 9}
    assert r(a=9).min_dimension_resource(r(), ZERO).scalars == {"a": 0}


def test_maximum_of_two_resources() -> None:
    assert maximum(r(1, a=-3, b=2), r(2, b=1, c=4)).scalars == {"b": 2, "c": 4}


def test_is_empty_ignores_pods() -> None:
    assert r(0.05, 0.09, pods=30).is_empty()
    assert not r(gpu=1).is_empty()


def test_subtracting_too_much_panics_like_volcano() -> None:
    assert r(5).sub(r(5.05)).cpu == pytest.approx(-0.05)
    with pytest.raises(SchedulerPanic, match="not sufficient"):
        r(5).sub(r(6))


def test_raw_sub_without_scalars_leaves_scalars_unset() -> None:
    assert r(5).raw_sub(r(7, gpu=1)).as_dict() == {"cpu": -2, "memory": 0}
    assert r(5, gpu=1).raw_sub(r(1, fpga=1)).scalars == {"gpu": 1, "fpga": -1}
