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
from rankwise.embeddings.submodular import SubmodularEmbedding, concave_of_size, coverage, gaussian_entropy

__all__ = [
    "GraphCutEmbedding",
    "KemenyEmbedding",
    "PositionEmbedding",
    "SubmodularEmbedding",
    "concave_of_size",
    "coverage",
    "decode_pairwise",
    "gaussian_entropy",
    "is_merge_free",
    "item_graph",
    "pairwise_from_vectors",
    "vectors_from_pairwise",
]
