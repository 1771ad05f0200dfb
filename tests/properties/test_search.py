"""What a search leaves out is accounted for, and what it chooses a full one tries."""

import numpy as np

from kreinlearn import KreinLogisticRegressionCV
from tests.properties.draws import examples, hypothesis, st


@examples(2)
@hypothesis.given(
    seed=st.integers(0, 2**32),
    n=st.integers(40, 60),
    noise=st.sampled_from([0.0, 0.1, 0.4]),
    norms=st.sampled_from([("hilbert", "euclidean"), ("euclidean",)]),
)
def test_auto_is_within_full(seed, n, noise, norms):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    y = np.abs(X - 0.5).sum(axis=1) + noise * rng.standard_normal(n) > 0.75
    y[:6] = [0, 1] * 3
    settings = {"kernel": "tl1", "norms": norms, "cv": 3, "random_state": seed % 99}
    settings["refit"] = False
    auto = KreinLogisticRegressionCV(**settings).fit(X, y)
    full = KreinLogisticRegressionCV(search="full", **settings).fit(X, y)
    again = KreinLogisticRegressionCV(**settings).fit(X, y)
    assert full.dropped_ == []
    assert auto.kernel_settings_ == full.kernel_settings_
    # Each setting and norm was tried on all folds, or dropped for a reason.
    tried = ~np.isnan(auto.scores_).all(axis=(2, 3))
    gone = np.zeros_like(tried)
    for why in auto.dropped_:
        place = auto.kernel_settings_.index((why["kernel"], why["params"]))
        gone[place, auto.norms.index(why["norm"])] = True
        assert why["reason"] and why["rows"] > 0
    np.testing.assert_array_equal(gone, ~tried)
    # What was chosen is among what full tries, and auto found it as good as full does.
    place = full.kernel_settings_.index((auto.kernel_, auto.kernel_params_))
    norm = full.norms.index(auto.norm_)
    assert tried[place, norm]
    nearest = np.abs(np.log(full.lams_[place] / auto.lam_)).argmin()
    assert np.isclose(full.lams_[place][nearest], auto.lam_, rtol=1e-9)
    score = full.scores_[place, norm, nearest].mean()
    assert np.isclose(score, auto.best_score_, rtol=0, atol=5e-3)
    # The same seed, the same choice.
    assert (again.kernel_, again.kernel_params_, again.norm_, again.lam_) == (
        auto.kernel_,
        auto.kernel_params_,
        auto.norm_,
        auto.lam_,
    )
    assert again.dropped_ == auto.dropped_
    np.testing.assert_array_equal(again.scores_, auto.scores_)
