"""Documents of queries as learning-to-rank files hold them, and saved rankers that score them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._typing import FloatArray
from rankwise.cli.files import readable
from rankwise.data import read_letor
from rankwise.datasets import load_retrieval
from rankwise.datasets.loaders import query_sizes
from rankwise.ltr import LinearRanker, NeuralRanker
from rankwise.ltr.base import QueryRankerMixin
from rankwise.persistence import load

# "docid = GX029-35-5894638 inc = 0.02", as the LETOR collections write it.
_DOCUMENT = re.compile(r"\bdocid\s*=\s*(\S+)", re.IGNORECASE)


@dataclass(frozen=True)
class Documents:
    """Rows of a learning-to-rank file.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,)
        Relevance, higher is better.
    qid : ndarray of shape (n_rows,)
        The query of each row.
    names : list of str
        The documents: what the comments of the file call them, else the numbers of the rows, from 1.
    """

    X: Any
    y: npt.NDArray[Any]
    qid: npt.NDArray[Any]
    names: list[str]

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(np.unique(self.qid))

    def widened(self, n_features: int) -> Documents:
        """The same with so many features: a line of the file names those alone that are not 0."""
        missing = n_features - self.X.shape[1]
        if missing < 0:
            raise ValueError(
                f"the documents have {self.X.shape[1]} features, but the ranker was trained on {n_features}; give it "
                "the features that it knows, or train it on these"
            )
        if missing == 0:
            return self
        if isinstance(self.X, np.ndarray):
            return replace(self, X=np.pad(self.X, ((0, 0), (0, missing))))
        X = self.X.copy()
        X.resize((len(self.y), n_features))
        return replace(self, X=X)


def is_collection(name: str) -> bool:
    """Whether a name is that of a collection with parts: a folder, or the built-in one."""
    return name == "synthetic" or Path(name).is_dir()


def read_collection(name: str) -> dict[str, Documents]:
    """The parts of a collection: training, validation and test, as far as there are such."""
    collection = load_retrieval(name)
    words = {"train": "training", "vali": "validation", "test": "test"}
    parts = {}
    for split, rows in collection.splits.items():
        names = [str(row) for row in range(1, len(rows) + 1)]
        parts[words[split]] = Documents(collection.X[rows], collection.y[rows], collection.qid[rows], names)
    return parts


def read_documents(name: str, *, zero_based: bool = False, sparse: bool = False) -> Documents:
    """Read a learning-to-rank file, ``-`` for standard input; of a collection, the test part.

    Where rows have no qid, the sizes of the queries stand in a file beside.
    """
    if is_collection(name):
        parts = read_collection(name)
        if "test" not in parts:
            raise ValueError(f"{name} has no test part; give the file itself")
        return parts["test"]
    with readable(name) as path:
        X, y, qid, comments = read_letor(path, zero_based=zero_based, sparse=sparse, return_comments=True)
        if qid is None:
            sizes = query_sizes(Path(path), len(y))
            qid = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    return Documents(X, y, qid, _document_names(comments))


def load_ranker(path: str) -> Any:
    """The ranker that ``rankwise rank-train`` saved."""
    ranker = load(path)
    if not isinstance(ranker, QueryRankerMixin):
        raise ValueError(
            f"{path} holds a {type(ranker).__name__}, which does not rank the documents of a query; train a ranker "
            "that does with rankwise rank-train"
        )
    return ranker


def scored(ranker: Any, documents: Documents) -> FloatArray:
    """The scores that a ranker gives the documents, higher is better."""
    X = documents.widened(ranker.n_features_in_).X
    # With attention, the score of a document depends on the others of its query.
    return ranker.predict(X, documents.qid) if isinstance(ranker, NeuralRanker) else ranker.predict(X)


def takes_sparse(ranker: Any) -> bool:
    """Whether a ranker learns from sparse features, however many there are."""
    return isinstance(ranker, LinearRanker)


def _document_names(comments: list[str]) -> list[str]:
    names = [_document_name(comment) for comment in comments]
    return names if all(names) else [str(row) for row in range(1, len(comments) + 1)]


def _document_name(comment: str) -> str:
    """What a comment calls the document; nothing if it is about something else."""
    named = _DOCUMENT.search(comment)
    if named:
        return named[1]
    return comment if len(comment.split()) == 1 else ""
