"""Rankings as vectors, and vectors back to rankings: what regression learns from."""

from rankwise.embeddings.kemeny import KemenyEmbedding
from rankwise.embeddings.pairwise import decode_pairwise, pairwise_from_vectors, vectors_from_pairwise
from rankwise.embeddings.places import PositionEmbedding

__all__ = [
    "KemenyEmbedding",
    "PositionEmbedding",
    "decode_pairwise",
    "pairwise_from_vectors",
    "vectors_from_pairwise",
]
