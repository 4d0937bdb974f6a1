"""Rankings as vectors, and vectors back to rankings: what regression learns from."""

from rankwise.embeddings.graph_cut import GraphCutEmbedding
from rankwise.embeddings.item_graphs import is_merge_free, item_graph
from rankwise.embeddings.kemeny_embedding import (
    KemenyEmbedding,
    decode_pairwise,
    pairwise_from_vectors,
    vectors_from_pairwise,
)
from rankwise.embeddings.position_embedding import PositionEmbedding
from rankwise.embeddings.set_functions import (
    Violation,
    concave_of_size,
    coverage,
    cut_function,
    gaussian_entropy,
    greedy_vertex,
    in_base_polytope,
    lovasz_extension,
    submodularity_violation,
)
from rankwise.embeddings.submodular import SubmodularEmbedding

__all__ = [
    "GraphCutEmbedding",
    "KemenyEmbedding",
    "PositionEmbedding",
    "SubmodularEmbedding",
    "Violation",
    "concave_of_size",
    "coverage",
    "cut_function",
    "decode_pairwise",
    "gaussian_entropy",
    "greedy_vertex",
    "in_base_polytope",
    "is_merge_free",
    "item_graph",
    "lovasz_extension",
    "pairwise_from_vectors",
    "submodularity_violation",
    "vectors_from_pairwise",
]
