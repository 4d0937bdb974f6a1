"""Data sets by name: those made of what scikit-learn ships, and benchmarks from a folder. Nothing is downloaded."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise._validation import check_sizes
from rankwise.data import Rankings
from rankwise.data.formats.delimited import read_table
from rankwise.data.formats.letor import read_letor
from rankwise.data.formats.tables import Table
from rankwise.data.formats.text import number, read_lines, shown
from rankwise.datasets.judged_queries import make_retrieval
from rankwise.datasets.transforms import rankings_from_classification, rankings_from_regression
from rankwise.exceptions import RankwiseFormatError

_FOLDER_VARIABLE = "RANKWISE_DATA"
_FILE_ENDING = ".csv.gz"
_SPLITS = ("train", "vali", "test")
_OTHER_NAMES = {"valid": "vali", "validation": "vali", "dev": "vali"}
_SPLIT_FILE = re.compile(rf"(?:.*\.)?(?P<split>{'|'.join((*_SPLITS, *_OTHER_NAMES))})(?:\.txt)?(?:\.gz)?")
_TEXT_FILE = re.compile(r".*\.txt(?:\.gz)?", re.IGNORECASE)
# Texts that come with data but hold none, and hidden files.
_NO_DATA = re.compile(r"(?:read.?me|licen[cs]e|copying|copyright|citation|change.?log|notes|\.).*", re.IGNORECASE)


def load_label_ranking(name: str, *, data_home: str | os.PathLike[str] | None = None, return_X_y: bool = False) -> Any:
    """Load a label ranking data set.

    Without any file there are "iris", "wine", "breast-cancer" (two classes only: rankings of 2 items) and "digits"
    (type A, see `rankings_from_classification`), and "diabetes" (type B, see `rankings_from_regression`: six blood
    serum measurements ranked). They are made of the data that scikit-learn ships; iris and wine with probabilities
    rounded to 3 decimals, which gives the published rankings in 98 and 99 of 100 rows.

    A file ``<name>.csv.gz`` in the data folder, or in its subfolder ``label-ranking``, comes first: columns x1, x2,
    ... are features, columns y_a, y_b, ... positions of the labels (1 = most preferred). Other columns are refused.

    Parameters
    ----------
    name : str
        Name of the data set.
    data_home : path-like, optional
        The data folder; by default the one that the environment variable RANKWISE_DATA names, if any.
    return_X_y : bool, default=False
        Return the pair (X, y) alone.

    Returns
    -------
    Bunch
        ``X`` (n, d), ``y`` (Rankings), ``feature_names``, ``description``, ``source`` (the file, or None). Or (X, y).

    Examples
    --------
    >>> from rankwise.datasets import load_label_ranking
    >>> X, y = load_label_ranking("diabetes", return_X_y=True)
    >>> X.shape, y.items
    ((442, 4), ('s1', 's2', 's3', 's4', 's5', 's6'))
    """
    folders = _data_folders(data_home, "label-ranking")
    files = [folder / f"{name}{_FILE_ENDING}" for folder in folders]
    found = [file for file in files if file.is_file()]
    if found:
        bunch = _from_csv(found[0])
    elif name in _SHIPPED:
        bunch = _SHIPPED[name]()
    else:
        raise ValueError(f"no label ranking data set is named {name!r}. {_what_there_is(folders)}")
    return (bunch.X, bunch.y) if return_X_y else bunch


def label_ranking_names(data_home: str | os.PathLike[str] | None = None) -> list[str]:
    """Names that `load_label_ranking` knows: of files in the data folder, and of data sets that need no file."""
    folders = _data_folders(data_home, "label-ranking")
    files = {file.name.removesuffix(_FILE_ENDING) for folder in folders for file in folder.glob(f"*{_FILE_ENDING}")}
    return sorted({*files, *_SHIPPED})


def load_retrieval(
    name: str | os.PathLike[str], *, fold: int = 1, data_home: str | os.PathLike[str] | None = None
) -> Any:
    """Load a learning-to-rank collection: a LETOR folder, or "synthetic" without any file.

    Parameters
    ----------
    name : str or path-like
        "synthetic" (`make_retrieval` with seed 0, queries split 60/20/20); or a folder, looked for as it is, then
        in the data folder and its subfolder ``ltr``. It holds the files train, vali (or valid, validation, dev) and
        test, as ``train.txt`` or ``<something>.train``, plain or gzip, vali being optional; or Fold1 to Fold5, which
        hold them. Other ``.txt`` files in the folder are refused, except README and the like. Rows without qid need
        the sizes of the queries, one per line, in a file of the same name that ends in ``.query``.
    fold : int, default=1
        Which fold to read, where there are folds.
    data_home : path-like, optional
        The data folder; by default the one that the environment variable RANKWISE_DATA names, if any.

    Returns
    -------
    Bunch
        ``X`` (n_documents, n_features), ``y`` (grades, higher = better), ``qid``, ``splits`` (train, vali or test ->
        its rows), ``description``.

    Examples
    --------
    >>> from rankwise.datasets import load_retrieval
    >>> data = load_retrieval("synthetic")
    >>> X_train, qid_train = data.X[data.splits["train"]], data.qid[data.splits["train"]]
    >>> len(set(qid_train.tolist()))
    60
    """
    if name == "synthetic":
        return _synthetic_retrieval()
    check_sizes(fold=fold, at_least=0)
    folder = _retrieval_folder(name, data_home)
    files = _split_files(folder)
    if not files and (folder / f"Fold{fold}").is_dir():
        folder = folder / f"Fold{fold}"
        files = _split_files(folder)
    if not files:
        raise RankwiseFormatError(
            "the folder holds no learning-to-rank files",
            path=folder,
            cure=f"It needs train.txt, vali.txt and test.txt, or Fold{fold} with them.",
        )
    _refuse_unread_files(folder, files)
    return _joined_splits(files, f"Learning-to-rank data of {folder}")


def query_sizes(path: Path, n_rows: int) -> IntArray:
    """How many rows each query has, from the ``.query`` file that belongs to a learning-to-rank file without qid."""
    stem = path.with_suffix("") if path.suffix == ".gz" else path
    candidates = [stem.with_name(stem.name + ending) for ending in (".query", ".query.gz")]
    file = next((candidate for candidate in candidates if candidate.is_file()), None)
    if file is None:
        raise RankwiseFormatError(
            "rows have no qid, and there is no file of query sizes",
            path=path,
            cure=f"Put {candidates[0].name} next to it, or write qid:<query> after the grade of every row.",
        )
    sizes = []
    for line, text in enumerate(read_lines(file), start=1):
        if not re.fullmatch(r"\s*[0-9]{1,9}\s*", text) or int(text) == 0:
            raise RankwiseFormatError(
                f"{shown(text)} is not the size of a query",
                path=file,
                line=line,
                cure=f"Write how many rows of {path.name} each query has, 1 or more, one query per line.",
            )
        sizes.append(int(text))
    if sum(sizes) != n_rows:
        raise RankwiseFormatError(
            f"the sizes add up to {sum(sizes)}, but {path.name} has {n_rows} rows",
            path=file,
            cure=f"Write one size for every query, in the order of {path.name}.",
        )
    return np.array(sizes, dtype=np.intp)


def _from_csv(path: Path) -> Any:
    from sklearn.utils import Bunch

    table = read_table(path, delimiter=",")
    features, labels = _features_and_labels(table)
    X, positions = _number_columns(table, features), _number_columns(table, labels)
    if (positions < 1).any():
        row, at = np.argwhere(positions < 1)[0]
        raise table.error(
            f"{table.column(labels[at])[row]} is not a position",
            row=row,
            column=labels[at],
            cure="Positions count from 1 (most preferred); if these count from 0, add 1 to all.",
        )
    y = Rankings(positions, [column.removeprefix("y_") for column in labels])
    description = f"Label ranking data of {path}: {len(X)} rows, {X.shape[1]} features, {y.n_items} labels."
    return Bunch(X=X, y=y, feature_names=features, description=description, source=str(path))


def _features_and_labels(table: Table) -> tuple[list[str], list[str]]:
    features = [column for column in table.header if re.fullmatch(r"x[0-9]+", column)]
    labels = [column for column in table.header if re.fullmatch(r"y_.+", column)]
    cure = "Features are named x1, x2, ... and positions of labels y_a, y_b, ..."
    known = {*features, *labels}
    for column in table.header:
        if column not in known:
            raise table.error(
                f"the column {shown(column)} is neither a feature nor a label",
                column=column,
                cure=f"{cure}; rename it or leave it out.",
            )
    if not features or not labels:
        raise table.error(f"there are {len(features)} feature and {len(labels)} label columns", cure=cure)
    return features, labels


def _number_columns(table: Table, columns: list[str]) -> FloatArray:
    cells = [table.column(column) for column in columns]
    values = [[number(cell) for cell in column] for column in cells]
    for column, cell, value in zip(columns, cells, values, strict=True):
        if None in value:
            row = value.index(None)
            raise table.error(f"{cell[row]!r} is not a number", row=row, column=column, cure="Fill or drop the row.")
    return np.array(values, dtype=np.float64).T.copy()


def _type_a(load: str, decimals: int | None) -> Callable[[], Any]:
    def loader() -> Any:
        import sklearn.datasets
        from sklearn.utils import Bunch

        data = getattr(sklearn.datasets, load)()
        y = rankings_from_classification(data.data, data.target, decimals=decimals)
        y = Rankings(y.positions, [str(name) for name in data.target_names])
        description = (
            f"Classes of scikit-learn's {load}() ranked by naive Bayes probability: {len(y)} rows, "
            f"{data.data.shape[1]} features, {y.n_items} labels."
        )
        return Bunch(X=data.data, y=y, feature_names=list(data.feature_names), description=description, source=None)

    return loader


def _diabetes() -> Any:
    from sklearn.datasets import load_diabetes
    from sklearn.utils import Bunch

    data = load_diabetes()
    names = list(data.feature_names)
    serum = [name for name in names if name.startswith("s") and name != "sex"]
    X, y = rankings_from_regression(data.data, targets=[names.index(name) for name in serum])
    return Bunch(
        X=X,
        y=Rankings(y.positions, serum),
        feature_names=[name for name in names if name not in serum],
        description=f"Six serum values of scikit-learn's load_diabetes() ranked by size: {len(X)} rows, 4 features.",
        source=None,
    )


_SHIPPED: dict[str, Callable[[], Any]] = {
    "iris": _type_a("load_iris", 3),
    "wine": _type_a("load_wine", 3),
    "breast-cancer": _type_a("load_breast_cancer", None),
    "digits": _type_a("load_digits", None),
    "diabetes": _diabetes,
}


def _what_there_is(folders: list[Path]) -> str:
    text = f"Without files: {', '.join(_SHIPPED)}."
    if not folders:
        return f"{text} For your own files, set {_FOLDER_VARIABLE} (environment) or data_home to their folder"
    found = sorted(
        {file.name.removesuffix(_FILE_ENDING) for folder in folders for file in folder.glob(f"*{_FILE_ENDING}")}
    )
    return f"{text} In {folders[0]}: {', '.join(found) or 'none'}"


def _synthetic_retrieval() -> Any:
    from sklearn.utils import Bunch

    X, y, qid, _ = make_retrieval(random_state=0)
    rows = np.split(np.arange(len(qid)), np.searchsorted(qid, [61, 81]))
    return Bunch(
        X=X, y=y, qid=qid, splits=dict(zip(_SPLITS, rows, strict=True)), description="make_retrieval(random_state=0)"
    )


def _retrieval_folder(name: str | os.PathLike[str], data_home: str | os.PathLike[str] | None) -> Path:
    candidates = [Path(name), *(folder / name for folder in _data_folders(data_home, "ltr"))]
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise ValueError(
        f"there is no folder {' nor '.join(str(folder) for folder in candidates)}; give the folder of the collection, "
        f"or set {_FOLDER_VARIABLE} to the one that holds it, or take 'synthetic', which needs no files"
    )


def _split_files(folder: Path) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        match = _SPLIT_FILE.fullmatch(path.name)
        if match and path.is_file():
            split = _OTHER_NAMES.get(match["split"], match["split"])
            if split in files:
                raise RankwiseFormatError(
                    f"both {files[split].name} and {path.name} could be the {split} part", path=folder, cure="Keep one."
                )
            files[split] = path
    return {split: files[split] for split in _SPLITS if split in files}


def _refuse_unread_files(folder: Path, files: dict[str, Path]) -> None:
    """A part under a name that is not known must not vanish silently."""
    for path in sorted(folder.iterdir()):
        unread = path.is_file() and path not in files.values() and _TEXT_FILE.fullmatch(path.name)
        if unread and not _NO_DATA.fullmatch(path.name):
            raise RankwiseFormatError(
                "this is none of the parts train, vali and test, and would not be read",
                path=path,
                cure="Rename it, or move it out of the folder.",
            )


def _joined_splits(files: dict[str, Path], description: str) -> Any:
    from sklearn.utils import Bunch

    features, grades, queries = zip(*(read_letor(path) for path in files.values()), strict=True)
    width = max(part.shape[1] for part in features)
    X = np.vstack([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in features])
    y = np.concatenate(grades)
    sizes = [len(part) for part in grades]
    if all(part is None for part in queries):
        qid = _numbered_queries(files, sizes)
    else:
        qid = np.concatenate([_named_queries(path, part) for path, part in zip(files.values(), queries, strict=True)])
    splits = dict(zip(files, np.split(np.arange(len(y)), np.cumsum(sizes)[:-1]), strict=True))
    _check_disjoint(qid, splits, files)
    return Bunch(X=X, y=y, qid=qid, splits=splits, description=description)


def _numbered_queries(files: dict[str, Path], n_rows: list[int]) -> IntArray:
    """Files of sizes name no query, so the queries are numbered through, from 1."""
    sizes = np.concatenate([query_sizes(path, n) for path, n in zip(files.values(), n_rows, strict=True)])
    return np.repeat(np.arange(1, len(sizes) + 1), sizes)


def _named_queries(path: Path, qid: Any) -> Any:
    if qid is None:
        raise RankwiseFormatError(
            "rows have no qid, but those of the other files do",
            path=path,
            cure="Write qid:<query> after the grade of every row, or in no file at all, with .query files for all.",
        )
    return qid


def _check_disjoint(qid: Any, splits: dict[str, IntArray], files: dict[str, Path]) -> None:
    """A query in two parts would leak from training to test, and be taken for one query."""
    seen: dict[Any, str] = {}
    for split, rows in splits.items():
        for query in np.unique(qid[rows]).tolist():
            if query in seen:
                raise RankwiseFormatError(
                    f"query {query} is in the {seen[query]} part too",
                    path=files[split],
                    cure="Number the queries of different parts differently, or read the files with read_letor.",
                )
            seen[query] = split


def _data_folders(data_home: str | os.PathLike[str] | None, subfolder: str) -> list[Path]:
    home = os.environ.get(_FOLDER_VARIABLE) if data_home is None else data_home
    if not home:
        return []
    if not Path(home).is_dir():
        said = f"the environment variable {_FOLDER_VARIABLE}" if data_home is None else "data_home"
        raise ValueError(f"{said} names {os.fspath(home)!r}, which is not a folder")
    return [Path(home), Path(home) / subfolder]
