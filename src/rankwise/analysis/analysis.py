"""`Analysis`: all that one look at rankings can say, as ``rankwise report`` and ``rankwise quickstart`` show it."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise import __version__
from rankwise._replacing import replacing
from rankwise._tables import TextTable, counted, short_name, with_short_names
from rankwise.aggregation.election import in_words
from rankwise.analysis.base import Result
from rankwise.analysis.by_group import GroupResults
from rankwise.analysis.consensus_comparison import ConsensusComparison
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.analysis.driver_results import Drivers
from rankwise.analysis.group_comparison import GroupComparison
from rankwise.analysis.kendalls_w import Agreement
from rankwise.analysis.majorities import PairSummary
from rankwise.analysis.rater_results import Raters
from rankwise.analysis.robustness_results import Robustness
from rankwise.analysis.segment_results import Segments
from rankwise.analysis.summary import Summary
from rankwise.data import Rankings, Survey
from rankwise.model_selection import Leaderboard

if TYPE_CHECKING:
    from rankwise.label_ranking import RankingTree

#: parts of the cross-validation
N_FOLDS = 5
_LONGEST_LINE = 160


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
        Mean ranks and consensus of each group, if there are groups.
    group_comparison : GroupComparison or None
        Whether groups rank differently, and where.
    segments : Segments or None
        Segments of people who rank alike, from 30 rankings on; of a random sample of very many.
    drivers : Drivers or None
        Which features drive the rankings, and how.
    raters : Raters or None
        How far each named person is from the consensus, if the survey has names, 60 at most.
    robustness : Robustness or None
        Whether the winner hangs on single people, groups or items, and how many votes decide; of 5,000 rankings at
        most.
    missing : dict of str to str
        Why a part about people is None although it applies, by its name.
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
    group_comparison: GroupComparison | None = None
    segments: Segments | None = None
    drivers: Drivers | None = None
    raters: Raters | None = None
    robustness: Robustness | None = None
    missing: dict[str, str] = field(default_factory=dict)
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
        if self.raters is not None and self.robustness is not None:
            about_one = ("First place hangs on ", "Leaving out any one vote ")
            lines += [line for line in self.robustness.sentences if line.startswith(about_one)]
        if self.group_comparison is not None:
            lines += self.group_comparison.sentences[:1]
        if self.segments is not None and self.segments.n > 1:
            lines += self.segments.sentences[:1]
        if self.drivers is not None and self.drivers.significant:
            lines += self.drivers.sentences[:1]
        elif self.tree is not None and self.tree.get_n_leaves() > 1:
            name = facts.features[int(self.tree.tree_.feature[0])]
            lines.append(f"The rankings differ between groups, above all by “{short_name(name)}”.")
        elif self.tree is not None:
            lines.append(self.no_split)
        elif facts.features:
            lines.append(f"Groups were not looked for: {self.no_leaderboard}.")
        return lines

    @property
    def no_split(self) -> str:
        """What a tree without a split says, and why a test between groups may yet find a difference."""
        line = "A tree of the recorded features finds no split that predicts rankings better than none."
        if self.group_comparison is not None and self.group_comparison.differ:
            line += (
                " The groups may yet differ, as their test says: it asks whether they differ at all, however little."
            )
        return line

    def _first_place(self) -> str:
        """Who is first, and whether that is certain."""
        found = self.consensus
        if self.undecided:
            return f"The rankings do not decide which item comes first: {self.undecided}."
        first = [short_name(item) for item in found.winners]
        spread = found.bootstrap
        if self.may_be_chance:
            return (
                f"No order can be told from these rankings: {in_words(first)} {'comes' if len(first) == 1 else 'come'} "
                "first, but each item could take any place if the survey is repeated."
            )
        if len(first) > 1:
            return f"There is a {found.ties[0]}: the rankings do not separate them."
        if spread is not None:
            high = int(spread.high[int(np.argmin(found.positions))])
            if high == 1:
                return f"{first[0]} comes first, and would do so again in nearly every repetition of the survey."
            return f"{first[0]} comes first, but not beyond doubt: place {high} is possible if the survey is repeated."
        mark = "no intervals of places: "
        why = [note.removeprefix(mark) for note in found.notes if note.startswith(mark)]
        return (
            f"{first[0]} comes first. No intervals say how certain that is: {why[0]}."
            if why
            else f"{first[0]} comes first."
        )

    @property
    def may_be_chance(self) -> bool:
        """Whether each item could take any place if the survey is repeated, by the intervals."""
        spread, n_items = self.consensus.bootstrap, len(self.consensus.items)
        return spread is not None and n_items > 1 and bool((spread.low == 1).all() and (spread.high == n_items).all())

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
            *(part.tables()[0] for part in self.about_people()),  # each can be printed alone, with all of its tables
            *self.missing_tables(),
            self.comparison.places_table(),
            self.comparison.words_table(),
            self.leaderboard_table(),
        ]

    def about_people(self) -> list[Any]:
        """The parts about people that there are, in reading order."""
        parts = (self.raters, self.robustness, self.groups, self.group_comparison, self.segments, self.drivers)
        return [part for part in parts if part is not None]

    def missing_tables(self) -> list[TextTable]:
        """Which parts about people are missing, and why, as a table of text; none if there are all."""
        rows = [[name.replace("_", " "), reason] for name, reason in self.missing.items()]
        return [TextTable("Not done", "", ["", ""], rows)] if rows else []

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
            "n_folds": N_FOLDS,
            "n_learned": self.n_learned,
            "leaderboard": [
                {"model": name, "tau": float(tau), "standard_error": float(error)} for name, tau, error in standings
            ],
            "leaderboard_left_out": self.no_leaderboard,
            "tree": "" if self.tree is None else self.tree.export_text(),
            **({} if self.survey is None else {"survey": self.survey.as_dict()}),
            **({} if self.groups is None else {"groups": self.groups.as_dict()}),
            **({} if self.group_comparison is None else {"group_comparison": self.group_comparison.as_dict()}),
            **({} if self.segments is None else {"segments": self.segments.as_dict()}),
            **({} if self.drivers is None else {"drivers": self.drivers.as_dict()}),
            **({} if self.robustness is None else {"robustness": self.robustness.as_dict()}),
            **({} if self.raters is None else self.raters.as_dict()),
            **({"missing": self.missing} if self.missing else {}),
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
        text = render_report(self, command, title)
        with replacing(path) as beside:
            beside.write_text(text, encoding="utf-8", errors="replace")

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
        from rankwise.analysis.report_pictures import plans_of, save_pictures

        return save_pictures(plans_of(self), folder, form)

    def __repr__(self) -> str:
        parts = [str(table) for table in self.tables()]
        if self.tree is not None:
            parts.append("\n".join(["Tree", self.tree_note, *self.tree_lines()]))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        from rankwise.analysis.report import render_notebook

        return render_notebook(self)


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
