import math
import pickle

import numpy as np
import pytest
from scipy import ndimage
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from kreinlearn import KreinLogisticRegression
from kreinlearn.features import FEATURES, RegionCovariance, pixel_features
from kreinlearn.kernels import spd_distances


def pictures(n, h=13, w=11, seed=0):
    """Return smooth gray images in [0, 1]."""
    noise = np.random.default_rng(seed).standard_normal((n, h, w))
    smooth = ndimage.gaussian_filter(noise, (0, 1, 1))
    low, high = smooth.min(axis=(1, 2)), smooth.max(axis=(1, 2))
    return (smooth - low[:, None, None]) / (high - low)[:, None, None]


def pixel(image, r, c):
    """Return the features of one pixel, from the formulas."""
    h, w = image.shape

    def at(i, j):
        return image[min(max(i, 0), h - 1), min(max(j, 0), w - 1)]

    gx, gy = at(r, c + 1) - at(r, c - 1), at(r + 1, c) - at(r - 1, c)
    gxx = at(r, c + 1) - 2 * at(r, c) + at(r, c - 1)
    gyy = at(r + 1, c) - 2 * at(r, c) + at(r - 1, c)
    angle = math.atan(abs(gx) / abs(gy)) if gy else (math.pi / 2 if gx else 0.0)
    return [
        c / (w - 1),
        r / (h - 1),
        image[r, c],
        abs(gx),
        abs(gy),
        math.sqrt(gx**2 + gy**2),
        abs(gxx),
        abs(gyy),
        angle,
    ]


def descriptor(image, rows, columns):
    """Return the covariance over some pixels, without a ridge."""
    return np.cov([pixel(image, r, c) for r in rows for c in columns], rowvar=False)


# -- values ----------------------------------------------------------------------------


def test_descriptors_are_covariances_over_pixels():
    images = pictures(3)
    images[1, 4:8, 3:9] = 0.5  # a flat part, where both derivatives are 0
    C = RegionCovariance(ridge=0).fit_transform(images)
    assert C.shape == (3, 9, 9)
    assert C.dtype == np.float64
    np.testing.assert_array_equal(C, C.transpose(0, 2, 1))
    expected = [descriptor(image, range(13), range(11)) for image in images]
    np.testing.assert_allclose(C, expected, rtol=1e-12, atol=1e-14)


def test_grid_cuts_the_features_of_the_whole_image():
    images = pictures(2, 13, 11)
    C = RegionCovariance(grid=(2, 3), ridge=0).fit_transform(images)
    assert C.shape == (2, 6, 9, 9)
    rows = [range(0, 6), range(6, 13)]
    columns = [range(0, 3), range(3, 7), range(7, 11)]
    for image, regions in zip(images, C, strict=True):
        expected = [descriptor(image, r, c) for r in rows for c in columns]
        np.testing.assert_allclose(regions, expected, rtol=1e-12, atol=1e-14)


def test_derivatives_are_the_filters():
    image = pictures(1, 20, 30)[0]
    features = dict(zip(FEATURES, pixel_features(image), strict=True))
    for name, axis, weights in [
        ("|Gx|", 1, [-1, 0, 1]),
        ("|Gy|", 0, [-1, 0, 1]),
        ("|Gxx|", 1, [1, -2, 1]),
        ("|Gyy|", 0, [1, -2, 1]),
    ]:
        expected = ndimage.correlate1d(image, weights, axis, mode="nearest")
        np.testing.assert_allclose(features[name], np.abs(expected), atol=1e-14)
    np.testing.assert_allclose(
        features["angle"], np.arctan2(features["|Gx|"], features["|Gy|"])
    )


def test_angle_where_derivatives_vanish():
    across = np.tile([0.0, 0.5, 1.0], (4, 1))
    np.testing.assert_array_equal(pixel_features(across)[8], np.pi / 2)
    np.testing.assert_array_equal(pixel_features(across.T)[8], 0)
    np.testing.assert_array_equal(pixel_features(np.ones((3, 3)))[8], 0)


# -- kinds of images -------------------------------------------------------------------


def test_integers_and_floats_agree():
    levels = np.random.default_rng(0).integers(256, size=(4, 12, 10))
    C = RegionCovariance().fit_transform(levels / 255)
    for same, white in [
        (levels.astype(np.uint8), None),
        ((257 * levels).astype(np.uint16), None),
        (levels, 255),
        (levels.astype(float), 255),
        (levels.astype(np.float32), 255.0),
        (levels.astype(np.uint8).tolist(), 255),
    ]:
        other = RegionCovariance(white=white).fit_transform(same)
        np.testing.assert_allclose(other, C, rtol=1e-12, atol=1e-15)


def test_bool_images():
    images = pictures(3) > 0.5
    np.testing.assert_array_equal(
        RegionCovariance().fit_transform(images),
        RegionCovariance().fit_transform(images.astype(float)),
    )


def test_color_becomes_luminance():
    color = np.random.default_rng(0).integers(256, size=(3, 9, 8, 3), dtype=np.uint8)
    gray = (
        0.2125 * color[..., 0] + 0.7154 * color[..., 1] + 0.0721 * color[..., 2]
    ) / (255)
    expected = RegionCovariance().fit_transform(gray)
    for same in (color, list(color), color / 255):
        np.testing.assert_allclose(
            RegionCovariance().fit_transform(same), expected, atol=1e-14
        )
    mixed = RegionCovariance().fit_transform([color[0], gray[1], color[2]])
    np.testing.assert_allclose(mixed, expected, atol=1e-14)


def test_three_dimensions_are_always_gray():
    assert RegionCovariance().fit_transform(pictures(5, 6, 3)).shape == (5, 9, 9)


def test_images_of_different_sizes():
    images = [pictures(1, 9, 8)[0], pictures(1, 20, 15)[0], pictures(1, 7, 30)[0]]
    as_objects = np.empty(3, dtype=object)
    as_objects[:] = images
    C = RegionCovariance(grid=(2, 2)).fit_transform(images)
    assert C.shape == (3, 4, 9, 9)
    for same in (tuple(images), as_objects):
        np.testing.assert_array_equal(
            RegionCovariance(grid=(2, 2)).fit_transform(same), C
        )
    for image, regions in zip(images, C, strict=True):
        alone = RegionCovariance(grid=(2, 2)).fit_transform(image[None])[0]
        np.testing.assert_array_equal(alone, regions)


def test_memory_maps_are_read_image_by_image(tmp_path):
    images = pictures(4)
    np.save(tmp_path / "images.npy", images)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        RegionCovariance().fit_transform(mapped),
        RegionCovariance().fit_transform(images),
    )


# -- definiteness ----------------------------------------------------------------------


@pytest.mark.parametrize("grid", [(1, 1), (2, 2)])
def test_degenerate_images_give_positive_definite_matrices(grid):
    ramp = np.tile(np.linspace(0, 1, 10), (8, 1))
    spot = np.zeros((8, 10))
    spot[2, 3] = 1
    images = np.array([np.zeros((8, 10)), np.ones((8, 10)), ramp, spot])
    C = RegionCovariance(grid=grid).fit_transform(images).reshape(-1, 9, 9)
    assert (np.linalg.eigvalsh(C).min(axis=1) > 1e-11).all()
    for metric in ("affine_invariant", "log_euclid", "euclid", "stein"):
        assert np.isfinite(spd_distances(C, metric=metric)).all()
    # Without the ridge the kernels raise an error.
    C = RegionCovariance(grid=grid, ridge=0).fit_transform(images).reshape(-1, 9, 9)
    with pytest.raises(ValueError, match=r"the smallest eigenvalue of X\[0\] is"):
        spd_distances(C)


def test_ridge_is_a_share_of_the_mean_of_the_diagonal():
    images = pictures(3)
    plain = RegionCovariance(ridge=0).fit_transform(images)
    means = np.trace(plain, axis1=1, axis2=2) / 9
    np.testing.assert_allclose(
        RegionCovariance(ridge=0.01).fit_transform(images),
        plain + 0.01 * means[:, None, None] * np.eye(9),
        rtol=1e-13,
    )


def test_scale_of_intensities_does_not_matter_to_the_affine_invariant_distance():
    images = pictures(6, 30, 30)
    dark = RegionCovariance(ridge=0, white=7.0).fit_transform(images)
    C = RegionCovariance(ridge=0).fit_transform(images)
    np.testing.assert_allclose(spd_distances(dark), spd_distances(C), atol=1e-8)
    near = spd_distances(dark, metric="euclid").max()
    assert near < 0.9 * spd_distances(C, metric="euclid").max()


# -- in the company of scikit-learn ----------------------------------------------------


def test_it_is_a_stateless_transformer():
    images, model = pictures(3), RegionCovariance(grid=(1, 2), ridge=1e-4)
    C = model.transform(images)  # not fitted
    np.testing.assert_array_equal(model.fit(images).transform(images), C)
    np.testing.assert_array_equal(clone(model).fit_transform(images), C)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).transform(images), C
    )


def test_pipeline_separates_stripes_from_spots():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((60, 24, 24))
    y = np.arange(60) % 2
    images = [
        ndimage.gaussian_filter(image, (0.5, 3) if label else (1.5, 1.5))
        for image, label in zip(noise, y, strict=True)
    ]
    model = make_pipeline(
        RegionCovariance(),
        KreinLogisticRegression(kernel="spd_affine_invariant"),
    )
    search = GridSearchCV(model, {"regioncovariance__ridge": [1e-6, 1e-3]}, cv=3)
    assert search.fit(np.array(images), y).best_score_ > 0.9


def test_distances_add_up_over_regions():
    C = RegionCovariance(grid=(2, 2)).fit_transform(pictures(10, 20, 20))
    D = sum(spd_distances(C[:, r]) for r in range(4))
    np.testing.assert_allclose(spd_distances(C), D)


# -- mistakes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        (np.ones((5, 6)), ValueError, r"got shape \(5, 6\)\. A single .* X\[None\]"),
        (np.ones((2, 5, 6, 4)), ValueError, r"3\) in color, got shape \(2, 5, 6, 4\)"),
        (np.ones((0, 5, 6)), ValueError, r"'X' must hold at least one image, got none"),
        ([], ValueError, r"'X' must hold at least one image, got none"),
        ([np.ones((5, 6)), np.ones(5)], ValueError, r"Image 1 .* got shape \(5,\)"),
        ([np.ones((5, 6, 4))], ValueError, r"Image 0 .* got shape \(5, 6, 4\)"),
        (7, TypeError, r"a sequence of images, got an object of type int"),
        (np.ones((2, 5, 6), complex), TypeError, r"Image 0 .* dtype complex128"),
        (
            np.ones((2, 5, 6), np.int64),
            ValueError,
            r"Image 0 is of dtype int64, .* white is\. Give 'white', e\.g\. 255",
        ),
        (
            [np.ones((4, 4)), np.ones((1, 1))],
            ValueError,
            r"Image 1 of shape \(1, 1\) is too small for a grid of 1 x 1 regions",
        ),
    ],
)
def test_bad_images(X, error, match):
    with pytest.raises(error, match=match):
        RegionCovariance().fit_transform(X)


def test_regions_too_small():
    with pytest.raises(ValueError, match=r"\(4, 6\) is too small for a grid of 5 x 1"):
        RegionCovariance(grid=(5, 1)).transform(np.ones((1, 4, 6)))
    with pytest.raises(ValueError, match=r"too small for a grid of 4 x 6 regions"):
        RegionCovariance(grid=(4, 6)).transform(np.ones((1, 4, 6)))


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_pixels_that_are_not_finite(value):
    images = pictures(3)
    images[2, 5, 7] = value
    message = rf"Image 2 must hold finite numbers, got {value} in row 5, column 7\."
    with pytest.raises(ValueError, match=message):
        RegionCovariance().fit_transform(images)


@pytest.mark.parametrize(
    ("params", "error", "match"),
    [
        ({"grid": 3}, ValueError, r"'grid' must be two numbers, .* got 3\."),
        ({"grid": (1, 2, 3)}, ValueError, r"'grid' must be two .* got \(1, 2, 3\)\."),
        ({"grid": (0, 2)}, ValueError, r"'grid' .* positive whole number, got 0\."),
        ({"grid": (1.5, 2)}, TypeError, r"'grid' .* positive whole number, got 1\.5\."),
        ({"ridge": -1e-3}, ValueError, r"'ridge' .* 0 or above, got -0\.001\."),
        ({"ridge": np.nan}, ValueError, r"'ridge' must be a number, .* got nan\."),
        ({"ridge": "tiny"}, ValueError, r"'ridge' must be a number, .* got 'tiny'\."),
        ({"white": 0}, ValueError, r"'white' must be a positive number, got 0\."),
    ],
)
def test_bad_parameters(params, error, match):
    with pytest.raises(error, match=match):
        RegionCovariance(**params).fit(pictures(1))
