"""Metadata of a search: groups for its splitter, weights for its scorer."""

from typing import Any

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)


def router_of(search: Any) -> MetadataRouter:
    """Return who takes which metadata in a search with ``cv`` and ``scoring``.

    A scorer takes weights if it asks for them. A name asks for nothing: with it,
    weights of the fit are those of the scores.
    """
    router = MetadataRouter(owner=search).add_self_request(search)
    to_split = MethodMapping().add(caller="fit", callee="split")
    router.add(splitter=search.cv, method_mapping=to_split)
    if not isinstance(search.scoring, str):
        to_score = MethodMapping().add(caller="fit", callee="score")
        router.add(scorer=search.scoring, method_mapping=to_score)
    return router


def routed(
    search: Any, sample_weight: ArrayLike | None, groups: ArrayLike | None
) -> tuple[ArrayLike | None, ArrayLike | None]:
    """Return the weights that scores get, and the groups that the splitter gets.

    Without metadata routing these are the ones that were given.
    """
    if not get_config()["enable_metadata_routing"]:
        return sample_weight, groups
    given = {"sample_weight": sample_weight, "groups": groups}
    given = {name: value for name, value in given.items() if value is not None}
    found = process_routing(search, "fit", **given)
    if not isinstance(search.scoring, str):
        sample_weight = found.scorer.score.get("sample_weight")
    return sample_weight, found.splitter.split.get("groups")
