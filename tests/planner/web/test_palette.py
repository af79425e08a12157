"""The five colours of amounts contrast with every background and with each other, in every colour vision."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

CSS = (Path(__file__).parents[3] / "static" / "web" / "variables.css").read_text()
MEASURES = dict(re.findall(r"--measure-(\w+): (#[0-9a-f]{6});", CSS))
GROUNDS = re.findall(r"--surface: (#[0-9a-f]{6});", CSS)

# Linear RGB as seen without one of the three cones (Machado, Oliveira, Fernandes 2009).
SIGHTS = {
    "trichromacy": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colour: str) -> np.ndarray:
    rgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(TO_XYZ[1] @ linear(colour))


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    x, y, z = np.cbrt(np.maximum(TO_XYZ @ rgb, 0.0) / WHITE)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_every_measure_has_a_colour_and_both_themes_a_background() -> None:
    assert set(MEASURES) == {"deserved", "allocated", "request", "capability", "guarantee"}
    assert len(set(GROUNDS)) == 2


@pytest.mark.parametrize("ground", sorted(set(GROUNDS)))
@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_contrasts_with_the_background(measure: str, ground: str) -> None:
    assert contrast(MEASURES[measure], ground) >= 3.0


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("pair", list(itertools.combinations(MEASURES, 2)), ids=" and ".join)
def test_two_measures_are_distinguishable(sight: str, pair: tuple[str, str]) -> None:
    one, other = (lab(np.array(SIGHTS[sight]) @ linear(MEASURES[measure])) for measure in pair)
    assert np.linalg.norm(one - other) >= 15
