"""All that one look at rankings can say: `analyze`, behind ``rankwise report`` and ``rankwise quickstart``."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise import __version__
from rankwise._decode import ConsensusRule
from rankwise._sklearn import safe_indexing
from rankwise._tables import TextTable, counted, short_name, with_short_names
from rankwise._typing import ArrayLike, RandomState
from rankwise._validation import check_generator
from rankwise.aggregation import borda
from rankwise.analysis.base import Result, features_of, rankings_of, sample_rows
from rankwise.analysis.by_group import GroupResults, group_results
from rankwise.analysis.consensus import FEWEST_RANKINGS, add_intervals, find_consensus
from rankwise.analysis.consensus_comparison import ConsensusComparison, compare_rules
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.analysis.judges import MOST_RATERS, RaterDistances, rater_distances
from rankwise.analysis.kendalls_w import Agreement, agreement
from rankwise.analysis.majorities import PairSummary
from rankwise.analysis.rankers import fit_ranker, make_ranker
from rankwise.analysis.summary import Summary, summary
from rankwise.data import Rankings, Survey
from rankwise.model_selection import Leaderboard, leaderboard
from rankwise.model_selection.leaderboard import NothingToPredictError

if TYPE_CHECKING:
    from rankwise.label_ranking import RankingTree

# Enough rankings for a first impression; an analysis should take seconds whatever the data.
_MOST_ROWS = 1_000
# Rankers learn pairs of items: if there are many items, fewer rankings are learned from, but at least these.
_MOST_PAIRS, _FEWEST_LEARNED = 500_000, 200
_SECONDS_OF_PROOF = 20.0
# Resamples of the rankings: fewer if they have very many pairs.
_RESAMPLES, _FEWEST_RESAMPLES, _MOST_RESAMPLED_PAIRS = 1_000, 200, 1e9
_RANKERS = ("consensus", "neighbors", "plackett-luce", "tree", "forest")
_FOREST: dict[str, Any] = {"n_estimators": 50, "min_samples_leaf": 5}
# A tree to be read has at most 2**3 leaves, each with at least 1/20 of the rows.
_TREE_DEPTH, _MOST_LEAVES = 3, 20
_LONGEST_LINE = 160
# Rules that stand beside the consensus; with very many items, those that are quick.
_COMPARED_RULES: tuple[ConsensusRule, ...] = (
    "kemeny",
    "borda",
    "copeland",
    "schulze",
    "ranked-pairs",
    "plurality",
    "instant-runoff",
)
_QUICK_RULES, _MOST_ITEMS_COMPARED = 3, 100
_N_FOLDS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Result):
    """What `analyze` found. Print it, show it in a notebook, or pass it on with `save_html`.

    Attributes
    ----------
    rankings : Rankings
        The rankings.
    summary : Summary
        What the rankings hold, and what pairs of items say.
    consensus : ConsensusResult
        Kemeny's consensus with its proof, intervals of places, and the share of opponents that each item beats.
    comparison : ConsensusComparison
        The consensus beside those of other rules, and where they differ.
    agreement : Agreement
        How much rankings agree with each other.
    leaderboard : Leaderboard or None
        How well label rankers predict rankings from the features, in cross-validation.
    no_leaderboard : str
        Why there is no leaderboard and no tree; empty if there are.
    tree : RankingTree or None
        A small tree that predicts rankings from the features.
    n_learned : int
        Number of rankings that leaderboard and tree learned from: all, or a random sample.
    seed : int
        Seed of all random numbers.
    survey : Survey or None
        Where the rankings come from, if they came with a `Survey`: how the file was understood, what its columns are,
        and what should be looked at.
    groups : GroupResults or None
        Mean ranks and consensus of each group, if the survey has groups.
    raters : RaterDistances or None
        How far each named person is from the consensus, if the survey has names, 60 at most.
    versions : dict of str to str
        Versions of the packages that computed it.
    made_on : date
        When it was made.
    """

    rankings: Rankings
    summary: Summary
    consensus: ConsensusResult
    comparison: ConsensusComparison
    agreement: Agreement
    leaderboard: Leaderboard | None
    no_leaderboard: str
    tree: RankingTree | None
    n_learned: int
    seed: int
    versions: dict[str, str] = field(default_factory=lambda: _versions())
    survey: Survey | None = None
    groups: GroupResults | None = None
    raters: RaterDistances | None = None
    made_on: date = field(default_factory=date.today)

    @property
    def pairs(self) -> PairSummary:
        """What pairs of items say."""
        return self.summary.pairs

    @property
    def highlights(self) -> list[str]:
        """The analysis in a few sentences."""
        facts = self.summary
        lines = [f"{counted(facts.n_rankings, 'ranking')} of {counted(facts.n_items, 'item')}.", self._first_place()]
        lines += [f"{words[0].upper()}{words[1:]}." for words in self.consensus.seldom if " leads, " in words]
        if self.pairs.wins.any():
            lines += [*facts.highlights[:1], facts.concordance.sentence]
            best = facts.items[int(np.nanargmin(facts.mean_rank))]
            if (
                not self.undecided
                and best not in np.array(self.consensus.items, dtype=object)[self.consensus.positions == 1]
            ):
                lines[2] += " The joint ranking has another leader: it counts who wins when two items are compared."
        if self.tree is not None and self.tree.get_n_leaves() > 1:
            name = facts.features[int(self.tree.tree_.feature[0])]
            lines.append(f"The rankings differ between groups, above all by “{short_name(name)}”.")
        elif self.tree is not None:
            lines.append("None of the recorded features separates groups that rank differently.")
        elif facts.features:
            lines.append(f"Groups were not looked for: {self.no_leaderboard}.")
        return lines

    def _first_place(self) -> str:
        """Who is first, and whether that is certain."""
        found = self.consensus
        if self.undecided:
            return f"The rankings do not decide which item comes first: {self.undecided}."
        first = [short_name(item) for item in found.winners]
        if len(first) > 1:
            return f"There is a {found.ties[0]}: the rankings do not separate them."
        if found.bootstrap is not None:
            high = int(found.bootstrap.high[int(np.argmin(found.positions))])
            if high == 1:
                return f"{first[0]} comes first, and would do so again in nearly every repetition of the survey."
            return f"{first[0]} comes first, but not beyond doubt: place {high} is possible if the survey is repeated."
        return f"{first[0]} comes first."

    @property
    def undecided(self) -> str:
        """Why the rankings do not say which item is first; empty if they do."""
        from scipy.sparse.csgraph import connected_components

        if not self.pairs.wins.any():
            return "they tie all items that they compare"
        compared = self.pairs.comparisons[np.ix_(self.rankings.compared, self.rankings.compared)]
        n_groups = connected_components(compared > 0, directed=False)[0]
        return f"no ranking compares the items of {n_groups} groups with each other" if n_groups > 1 else ""

    @property
    def best_model(self) -> str:
        """Which model predicts best, in a sentence; empty without a leaderboard."""
        board = self.leaderboard
        if board is None:
            return ""
        same = board.names.index("consensus")
        if same == 0:
            return "No model predicts rankings better than one joint ranking for all, so the features say little."
        difference = board.means[0] - board.means[same]
        is_clear = difference > 2 * np.hypot(board.standard_errors[0], board.standard_errors[same])
        doubt = "" if is_clear else "; the difference may be chance"
        return (
            f"The best model is {board.names[0]}: its predictions of new rankings have a mean Kendall tau of "
            f"{board.means[0]:.2f} (1 is perfect, 0 is guessing), against {board.means[same]:.2f} for one ranking for "
            f"all{doubt}."
        )

    @property
    def tree_note(self) -> str:
        """What the tree shows, in a sentence."""
        if self.tree is not None and self.tree.get_n_leaves() == 1:
            return "none: no condition on the features does better than one ranking for all, in cross-validation"
        note = "conditions on the features, and the joint ranking of those that meet them"
        is_sample = self.n_learned < self.summary.n_rankings
        return note + (f"; from a sample of {self.n_learned:,} rankings" if is_sample else "")

    def to_frame(self, backend: str | None = None) -> Any:
        """The consensus as a data frame with a row per item, best first, of pandas by default, else of the backend.

        Columns: ``item``, ``position``, ``score`` (the share of opponents that the item beats), then the ends of the
        intervals, ``low`` and ``high``, where there are such.
        """
        return self.consensus.to_frame(backend)

    def tables(self) -> list[TextTable]:
        """Data, consensus, how good it is, and leaderboard as tables of text, in reading order."""
        return [
            *self.reading_tables(),
            self.summary.data_table(),
            self.consensus.ranking_table(),
            self.quality_table(),
            *(self.raters.tables() if self.raters is not None else []),
            *(self.groups.tables() if self.groups is not None else []),
            self.comparison.places_table(),
            self.comparison.words_table(),
            self.leaderboard_table(),
        ]

    def reading_tables(self) -> list[TextTable]:
        """How the file was understood and what should be looked at, as tables of text; none without a file."""
        return [] if self.survey is None or self.survey.reading is None else self.survey.tables()

    def quality_table(self) -> TextTable:
        """How good the consensus is, and how much the rankings agree, as a table of text."""
        return self.consensus.quality_table(self.agreement.cells())

    def leaderboard_table(self) -> TextTable:
        """The leaderboard as a table of text, or the reason why there is none."""
        if self.leaderboard is None:
            return TextTable("Leaderboard", f"none: {self.no_leaderboard}", [], [])
        is_sample = self.n_learned < self.summary.n_rankings
        note = f"on a sample of {self.n_learned:,} rankings" if is_sample else ""
        return self.leaderboard.table(seconds=False, note=note)  # times differ from run to run

    def tree_lines(self) -> list[str]:
        """The tree as text, long lists of items cut; empty if there is no tree."""
        if self.tree is None:
            return []
        return [_cut(line) for line in with_short_names(self.tree.export_text(), self.rankings.items).splitlines()]

    def as_dict(self) -> dict[str, Any]:
        """The results without the data, for JSON. Times are left out: the same data and seed give the same results."""
        board = self.leaderboard
        standings = [] if board is None else zip(board.names, board.means, board.standard_errors, strict=True)
        return {
            "data": self.summary.name,
            "seed": self.seed,
            "description": self.summary.as_dict(),
            "pairs": self.pairs.as_dict(),
            "consensus": self.consensus.as_dict(),
            "comparison": self.comparison.as_dict(),
            "agreement": self.agreement.as_dict(),
            "n_folds": _N_FOLDS,
            "n_learned": self.n_learned,
            "leaderboard": [
                {"model": name, "tau": float(tau), "standard_error": float(error)} for name, tau, error in standings
            ],
            "leaderboard_left_out": self.no_leaderboard,
            "tree": "" if self.tree is None else self.tree.export_text(),
            **({} if self.survey is None else {"survey": self.survey.as_dict()}),
            **({} if self.groups is None else {"groups": self.groups.as_dict()}),
            **({} if self.raters is None else self.raters.as_dict()),
            "versions": self.versions,
        }

    def save_html(self, path: str | os.PathLike[str], *, title: str = "", command: str = "rankwise.analyze()") -> None:
        """Write a report: one HTML file with tables and pictures that needs nothing else, not even the network.

        Parameters
        ----------
        path : path-like
            The file; it is replaced if it exists.
        title : str, default=""
            The title of the page; by default what was asked, or what was ranked.
        command : str, default="rankwise.analyze()"
            What makes the same report again, for its last lines.
        """
        from rankwise.analysis.report import render_report

        # Names of files may be bytes that are not text.
        Path(path).write_text(render_report(self, command, title), encoding="utf-8", errors="replace")

    def to_excel(self, path: str | os.PathLike[str]) -> None:
        """Write all tables to an Excel workbook, a sheet each, numbers as numbers.

        It needs openpyxl, which ``pip install 'rankwise[files]'`` installs.

        Parameters
        ----------
        path : path-like
            The file, whose name ends in ``.xlsx``; it is replaced if it exists.
        """
        from rankwise._table_files import save_tables
        from rankwise.analysis.report_sections import all_tables

        if Path(path).suffix.lower() != ".xlsx":
            raise ValueError(f"{os.fspath(path)!r} is not the name of an Excel workbook; end it in .xlsx")
        save_tables(all_tables(self), path, facts={})

    def save_pictures(self, folder: str | os.PathLike[str], *, form: str = "png") -> list[Path]:
        """Write the pictures of the report, one file each.

        Parameters
        ----------
        folder : path-like
            Where to write them; it is made if there is none.
        form : {"png", "svg", "pdf"}, default="png"
            The kind of the files. A PNG has 200 dots per inch, enough for slides.

        Returns
        -------
        list of Path
            The files.
        """
        from rankwise.analysis.report_pictures import save_pictures

        return save_pictures(self, folder, form)

    def __repr__(self) -> str:
        parts = [str(table) for table in self.tables()]
        if self.tree is not None:
            parts.append("\n".join(["Tree", self.tree_note, *self.tree_lines()]))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        from rankwise.analysis.report import render_notebook

        return render_notebook(self)


def analyze(
    rankings: ArrayLike,
    X: Any = None,
    *,
    categorical_features: Any = None,
    feature_names: Sequence[str] | None = None,
    name: str = "",
    notes: Sequence[str] = (),
    random_state: RandomState = None,
    n_jobs: int | None = None,
    on_step: Callable[[str, float], None] | None = None,
) -> Analysis:
    """Analyze rankings: what they hold, their consensus and its uncertainty, and how well features predict them.

    It takes seconds. Of more than 1,000 rankings, the consensus is of all, and the rest of a random sample.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items), Rankings or Survey
        Positions: column = item, 1 = best. The weights of Rankings count. A survey brings features, groups, names and
        notes with it.
    X : array-like or data frame of shape (n_rankings, n_features), or dict of columns, optional
        Features of the rankings, such as the age of who ranked; missing values are allowed. A dict is what
        ``read_rankings(path, return_covariates=True)`` returns. Without features, or with fewer than 10 rankings, there
        is no leaderboard and no tree.
    categorical_features : None, array-like of column numbers, column names or booleans, or dict
        Columns that hold categories. None takes the columns of a data frame or a dict that hold text, categories or
        Booleans. A dict has columns as keys, and as values their categories from low to high, or None.
    feature_names : sequence of str, optional
        Names of the features; by default the columns of a data frame or a dict, else x0, x1, ...
    name : str, default=""
        What the data are called.
    notes : sequence of str, default=()
        What a reader should know about the data.
    random_state : None, int, Generator or RandomState
        Decides resamples, folds, forest, tree and samples.
    n_jobs : int, optional
        Number of threads for resamples and cross-validation; -1 uses all processors. The results do not depend on it.
    on_step : callable, optional
        Called with what happens next and the share of the work that is done.

    Returns
    -------
    Analysis

    Examples
    --------
    >>> import rankwise
    >>> result = rankwise.analyze([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 9, random_state=0)
    >>> result.consensus.order
    [0, 1, 2]
    >>> result.highlights[1]
    '0 comes first, and would do so again in nearly every repetition of the survey.'
    """
    tell = (lambda step, share: None) if on_step is None else on_step
    survey = rankings if isinstance(rankings, Survey) else None
    if survey is not None:
        if X is None:
            X, feature_names = survey.X, feature_names or survey.feature_names
            categorical_features = categorical_features or survey.categorical_features
        name, notes = name or survey.name, notes or survey.notes
    rankings = rankings_of(rankings)
    if not len(rankings):
        raise ValueError("there are no rankings to analyze; give at least one")
    X, names, categorical_features = features_of(X, feature_names, categorical_features)
    if names:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != len(rankings):
            raise ValueError(f"X has {n_rows} rows, but there are {len(rankings)} rankings; give one row for each")
    is_seed = isinstance(random_state, int | np.integer)
    seed: Any = random_state if is_seed else check_generator(random_state).integers(2**31)
    tell("finding a consensus", 0.05)
    best = _consensus(rankings, seed, n_jobs)
    compared = _COMPARED_RULES if rankings.n_items <= _MOST_ITEMS_COMPARED else _COMPARED_RULES[:_QUICK_RULES]
    rules = compare_rules(rankings, compared, known=best, random_state=seed)
    tell("comparing the rankings", 0.25)
    rng = check_generator(seed)
    agrees = agreement(rankings, max_rankings=_MOST_ROWS, random_state=rng)
    n_pairs = max(1, rankings.n_items * (rankings.n_items - 1) // 2)
    n_learned = min(_MOST_ROWS, max(_FEWEST_LEARNED, _MOST_PAIRS // n_pairs))
    rows = sample_rows(len(rankings), n_learned, rng)
    board, tree, reason = None, None, _reason_not_to_learn(names, len(rows))
    if not reason:
        part, X_part = rankings[rows], X if len(rows) == len(rankings) else safe_indexing(X, rows)
        made = {name: _ranker(name, len(rows), categorical_features, seed) for name in _RANKERS}
        try:
            board = leaderboard(
                made,
                X_part,
                part,
                cv=_N_FOLDS,
                random_state=seed,
                n_jobs=n_jobs,
                on_step=None if on_step is None else lambda step, share: tell(step, 0.3 + 0.6 * share),
            )
        except NothingToPredictError as error:
            reason = str(error)
        else:
            tell("growing a tree", 0.9)
            tree = fit_ranker(made["tree"], X_part, part, names)
    return Analysis(
        rankings=rankings,
        summary=summary(rankings, X, feature_names=names or None, name=name, notes=notes),
        consensus=best,
        comparison=rules,
        agreement=agrees,
        leaderboard=board,
        no_leaderboard=reason,
        tree=tree,
        n_learned=len(rows),
        seed=int(seed),
        survey=survey,
        groups=_groups(survey, seed),
        raters=_raters(survey, best),
    )


def _groups(survey: Survey | None, seed: int) -> GroupResults | None:
    groups = {} if survey is None else survey.groups()
    if survey is None or not groups:
        return None
    return group_results(survey.rankings, groups, by=survey.by_name, random_state=seed)


def _raters(survey: Survey | None, best: ConsensusResult) -> RaterDistances | None:
    if survey is None or survey.names is None or len(survey.rankings) > MOST_RATERS:
        return None
    return rater_distances(survey.rankings, survey.names.tolist(), best)


def _consensus(rankings: Rankings, seed: int, n_jobs: int | None) -> ConsensusResult:
    """Kemeny's consensus with intervals and Borda's scores; what there is to warn about becomes notes."""
    n_pairs = len(rankings) * rankings.n_items**2
    n_resamples = int(np.clip(_MOST_RESAMPLED_PAIRS // n_pairs, _FEWEST_RESAMPLES, _RESAMPLES))
    with warnings.catch_warnings(record=True) as caught:  # about groups of items that are never compared
        warnings.simplefilter("always", UserWarning)
        found = find_consensus(rankings, time_limit=_SECONDS_OF_PROOF, random_state=seed)
        found = add_intervals(found, rankings, n_resamples=n_resamples, random_state=seed, n_jobs=n_jobs)
    notes = (*(str(warning.message) for warning in caught), *found.notes)
    scores = borda(rankings.comparable(), return_scores=True)[1]
    return replace(found, scores=scores, score_name="opponents beaten", notes=notes)


def _reason_not_to_learn(feature_names: Sequence[str], n_rankings: int) -> str:
    if not feature_names:
        return "there are no features to predict rankings from"
    if n_rankings < FEWEST_RANKINGS:
        return f"fewer than {FEWEST_RANKINGS} rankings say too little about a predictor"
    return ""


def _ranker(name: str, n_rankings: int, categorical_features: Any, seed: int) -> Any:
    ranker = make_ranker(name, categorical_features=categorical_features, random_state=seed, n_jobs=1)
    if name == "tree":  # one that a person can read, no larger than the data warrant
        ranker.set_params(max_depth=_TREE_DEPTH, min_samples_leaf=max(1, n_rankings // _MOST_LEAVES))
    elif name == "forest":
        ranker.set_params(**_FOREST)
    return ranker


def _cut(line: str) -> str:
    """A line of moderate length that keeps the size of its leaf."""
    if len(line) <= _LONGEST_LINE:
        return line
    words, _, size = line.rpartition("  (")
    return f"{words[:_LONGEST_LINE]} ...  ({size}"


def _versions() -> dict[str, str]:
    import sklearn

    return {
        "rankwise": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
