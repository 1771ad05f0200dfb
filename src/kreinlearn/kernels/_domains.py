"""Kernels between samples that are no rows of numbers, as records.

Distances become similarities by a form that is learned with the model
(`kreinlearn.kernels.distances`); scores are similarities as they are.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from kreinlearn.kernels._records import Kernel, Measure, SampleSet
from kreinlearn.kernels.graphs import GRAPH_MEASURES, check_graphs
from kreinlearn.kernels.sequences import SEQUENCE_MEASURES, check_sequences
from kreinlearn.kernels.series import SERIES_MEASURES, check_series
from kreinlearn.kernels.transport import (
    TRANSPORT_MEASURES,
    check_clouds,
    check_histograms,
    histogram_wasserstein,
)

NAMES = {"wl_assignment": "weisfeiler_lehman_assignment"}
"""Names of kernels that differ from those of their functions."""


def _kernels(
    samples: Literal["series", "sequences", "graphs", "sets"],
    measures: tuple[Measure, ...],
    check: Callable[[SampleSet], SampleSet],
) -> list[Kernel]:
    """Return one record per measure between samples of a kind."""
    found = []
    for measure in measures:
        name = measure.function.__name__
        record = Kernel(NAMES.get(name, name), measure.function, measure)
        found.append(replace(record, samples=samples, check=check))
    return found


_BINS = tuple(m for m in TRANSPORT_MEASURES if m.function is histogram_wasserstein)
_CLOUDS = tuple(m for m in TRANSPORT_MEASURES if m not in _BINS)
DOMAIN_KERNELS = (
    *_kernels("series", SERIES_MEASURES, check_series),
    *_kernels("sequences", SEQUENCE_MEASURES, check_sequences),
    *_kernels("graphs", GRAPH_MEASURES, check_graphs),
    *_kernels("sets", _CLOUDS, check_clouds),
    *_kernels("sets", _BINS, check_histograms),
)
"""All kernels between series, sequences, graphs and sets."""
