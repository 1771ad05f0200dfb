"""Fits against stored results, the inventory, and the comparison itself."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kreinlearn.kernels import KERNELS
from tests.golden import commands, compare, fits, inventory, stored

EXPECTED = stored.read()


def check_case(case):
    with threadpool_limits(1):  # rounding does not depend on threads
        found = stored.summarize(fits.run_case(case))
    if found.get("error") in ("ImportError", "ModuleNotFoundError"):
        pytest.skip("needs a package that is not installed")
    lines = stored.list_differences(case, EXPECTED[case], found)
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("case", [c for c in EXPECTED if stored.is_quick(c)])
def test_quick_fits_give_stored_results(case):
    check_case(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in EXPECTED if not stored.is_quick(c)])
def test_other_fits_give_stored_results(case):
    check_case(case)


def test_every_case_is_stored():
    assert set(EXPECTED) == set(fits.list_cases())
    assert all("error" not in each for each in EXPECTED.values())


def test_every_kernel_is_fitted():
    assert set(fits.SAMPLES_OF_KERNEL) == set(KERNELS)


def test_inventory_is_unchanged():
    difference = inventory.compare()
    assert not difference, difference


def test_inventory_names_what_disappeared_and_appeared(monkeypatch):
    items = inventory.list_items()
    monkeypatch.setattr(
        inventory, "list_items", lambda: sorted([*items[1:], "kernel zebra() of rows"])
    )
    text = inventory.compare()
    assert f"disappeared: {items[0]}" in text and "appeared:    kernel zebra()" in text
    assert "--inventory" in text


def test_stored_results_notice_changes():
    case = "search/fixed"
    expected = EXPECTED[case]
    changed = expected | {
        "predict_proba": [p + 0.01 for p in expected["predict_proba"]]
    }
    assert stored.list_differences(case, expected, expected) == []
    assert "predict_proba" in stored.list_differences(case, expected, changed)[0]
    assert (
        "norm_" in stored.list_differences(case, expected, expected | {"norm_": "x"})[0]
    )
    assert stored.list_differences(case, expected, {})[0].endswith("disappeared")


A = {
    "dual_coef_": np.array([[1.0, -2.0]]),
    "predict_proba": np.array([[0.25, 0.75]]),
    "residual_": 1e-8,
    "tol": 1e-6,
    "lam_": 0.1,
    "norm_": "krein",
    "scores_": np.array([np.nan, 1.0]),
    "zero": np.array([0.0]),
}
COMMAND = {f"m.krein: {name}": each for name, each in A.items()}
COMMAND |= {"exit code": 0, "p.csv:": [{"proba": 0.5, "kind": "a"}]}
MERGED = [compare.Change("merged", "fit/*", "one loop")]


def get_levels(new, changes=(), old=A):
    differences, levels = compare.compare_cases(
        {"fit/a": old}, {"fit/a": new}, list(changes)
    )
    return levels["fit/a"], [each.field for each in differences]


def test_equal_results_and_new_fields_are_equal_in_bits():
    assert get_levels(dict(A)) == ("bits", [])
    assert get_levels(A | {"gap_": 1.0}) == ("bits", [])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dual_coef_", np.nextafter(A["dual_coef_"], 9)),
        ("dual_coef_", A["dual_coef_"].astype(np.float32)),
        ("dual_coef_", A["dual_coef_"][0]),
        ("residual_", 1.1e-8),
        ("norm_", "hilbert"),
        ("scores_", np.array([0.0, 1.0])),
        ("tol", None),
        ("zero", np.array([-0.0])),
    ],
)
def test_any_unlisted_difference_is_found(field, value):
    assert get_levels(A | {field: value}) == ("different", [field])


@pytest.mark.parametrize("changes", [(), MERGED])
def test_a_field_that_disappears_is_found_at_every_level(changes):
    new = {name: each for name, each in A.items() if name != "scores_"}
    assert get_levels(new, changes) == ("different", ["scores_"])


@pytest.mark.parametrize(
    ("old", "field", "value", "level"),
    [
        (A, "predict_proba", A["predict_proba"] + 5e-7, "tolerance"),
        (A, "predict_proba", A["predict_proba"] + 2e-6, "different"),
        (A, "dual_coef_", A["dual_coef_"] + 0.1, "tolerance"),
        (A, "residual_", 9e-7, "tolerance"),
        (A, "residual_", 2e-6, "different"),
        (A, "lam_", 0.11, "different"),
        (A, "norm_", "hilbert", "different"),
        (COMMAND, "m.krein: dual_coef_", A["dual_coef_"] + 1, "tolerance"),
        (COMMAND, "m.krein: residual_", 9e-7, "tolerance"),
        (COMMAND, "m.krein: residual_", 2e-6, "different"),
        (COMMAND, "m.krein: lam_", 0.11, "different"),
        (COMMAND, "p.csv:", [{"proba": 0.5000001, "kind": "a"}], "tolerance"),
        (COMMAND, "p.csv:", [{"proba": 0.5, "kind": "b"}], "different"),
        (COMMAND, "exit code", 2, "different"),
    ],
)
def test_merged_code_keeps_choices_outputs_and_residuals(old, field, value, level):
    assert get_levels(old | {field: value}, MERGED, old) == (level, [field])


def test_intended_changes_are_limited_to_their_fields():
    changes = [compare.Change("intended", "fit/*", "new grid", ["lam_", "pred*"])]
    new = A | {"lam_": 7.0, "predict_proba": np.ones(3)}
    assert get_levels(new, changes)[0] == "intended"
    assert get_levels(new | {"norm_": "x"}, changes)[0] == "different"
    assert changes[0].is_used


def test_changes_without_effect_are_listed():
    other = compare.Change("intended", "other/*", "none")
    unused = compare.Change("intended", "fit/*", "none")
    get_levels(dict(A), [other, unused])
    first, second = compare.list_unused([other, unused], True)
    assert "matches no case" in first and "allows no difference" in second
    assert len(compare.list_unused([other, unused], False)) == 1


def test_a_case_that_is_missing_is_found():
    _, levels = compare.compare_cases({"fit/a": A}, {}, [])
    assert levels == {"fit/a": "different"}


def test_changes_need_a_reason(tmp_path):
    path = tmp_path / "changes.toml"
    path.write_text('[[merged]]\ncases = "a"\n')
    with pytest.raises(ValueError, match="needs 'cases' and 'reason'"):
        compare.read_changes(path)
    compare.read_changes()


def test_patterns_of_changes_match_cases():
    names = {*fits.list_cases(), *commands.list_commands()}
    changes = compare.read_changes()
    compare.compare_cases({name: {} for name in names}, {}, changes)
    assert [each.cases for each in changes if not each.matches_case] == []
