"""RankingTreeDisplay: a consensus ranking tree, with its conditions, and the consensus and size of its leaves."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise._validation import check_whole_number
from rankwise.plots._display import Display

if TYPE_CHECKING:
    from rankwise.label_ranking import PlackettLuceTree, RankingTree


#: the palette of Okabe and Ito, made lighter: leaves with the same best item share a color
TINTS = ("#cce3f0", "#f7dfcc", "#cceee3", "#f5e4ee", "#fcf9d0", "#ddf0fb", "#fae9cc")
_GRAY = "#eeeeee"
_FONT_SIZE = 9
_SMALLEST_FONT = 5
# Sizes in inches at that font size: a letter, a line, the edge of a box, the gaps between two columns, between two
# leaves and before the leaves, where their sizes stand, the note, and the title.
_LETTER, _LINE, _EDGE, _GAP, _LEAF_GAP, _COUNTS, _NOTE, _TITLE = 0.073, 0.15, 0.09, 0.32, 0.14, 0.62, 0.25, 0.35
# A page is this wide: what the conditions leave of it is the width of the leaves, but at least so many letters.
_PAGE, _SHORTEST_LEAF, _LONGEST_LEAF = 7.0, 24, 60
# Letters in a line of a condition, by the number of conditions side by side.
_WRAP = {1: 26, 2: 20, 3: 15}
_NARROWEST_WRAP = 13
_MOST_LINES = 7
# A leaf shows whole rankings of so many items, and the best of more.
_MOST_ITEMS = 15


@dataclass(frozen=True)
class TreeNode:
    """A node as the picture shows it.

    Attributes
    ----------
    text : str
        The condition for going to the first child; for a leaf its consensus, best item first; for a node whose
        branches are cut off, how many leaves these have.
    count : int
        Number of training rows.
    children : tuple of two int, or None
        Places in the list of nodes: where rows that meet the condition go, and where the others go.
    is_cut : bool
        Whether its branches are cut off.
    """

    text: str
    count: int
    children: tuple[int, int] | None = None
    is_cut: bool = False


class RankingTreeDisplay(Display):
    """Diagram of a consensus ranking tree, from the root at the left to the leaves at the right.

    A row for which the condition in a box holds goes up, any other goes down. A leaf shows its consensus, best item
    first, and its number of training rows; leaves with the same best item have the same color.

    Parameters
    ----------
    nodes : sequence of TreeNode
        The root comes first.
    note : str, default=""
        Text below the tree.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    text_ : list of matplotlib Text
        The text of the nodes, in their order.
    edges_ : matplotlib LineCollection
        One line for each node except the root.

    Examples
    --------
    >>> from rankwise.label_ranking import RankingTree
    >>> from rankwise.plots import RankingTreeDisplay
    >>> tree = RankingTree().fit([[1], [2], [8], [9]], [[1, 2], [1, 2], [2, 1], [2, 1]])
    >>> [node.text for node in RankingTreeDisplay.from_estimator(tree).nodes]
    ['x0 <= 5', '0 > 1', '1 > 0']
    """

    def __init__(self, nodes: Sequence[TreeNode], note: str = "") -> None:
        self.nodes = nodes
        self.note = note

    @classmethod
    def from_estimator(
        cls,
        tree: RankingTree | PlackettLuceTree,
        *,
        max_depth: int = 4,
        questions: Mapping[str, str] | None = None,
        ax: Any = None,
    ) -> RankingTreeDisplay:
        """Draw a fitted tree.

        Parameters
        ----------
        tree : RankingTree or PlackettLuceTree
            The fitted tree.
        max_depth : int, default=4
            Most conditions above a leaf that are shown; the leaves below are counted.
        questions : dict, optional
            What to write instead of the names of features, such as the questions of a survey.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default, large enough to read. If letters would be smaller than
            5 points, fewer conditions are shown.

        Returns
        -------
        RankingTreeDisplay
        """
        # Rankers take a second to load, and heat maps need none.
        from rankwise.label_ranking import PlackettLuceTree, RankingTree

        if not isinstance(tree, RankingTree | PlackettLuceTree):
            raise TypeError(f"tree is a {type(tree).__name__}, but only a RankingTree can be drawn; fit one")
        check_whole_number("max_depth", max_depth, at_least=1)
        shown = min(max_depth, max(1, tree.get_depth()))
        display = cls(tree_nodes(tree, shown, questions or {}), _note(tree, shown))
        while ax is not None and shown > 1 and display._font_size(ax) < _SMALLEST_FONT:
            shown -= 1
            display = cls(tree_nodes(tree, shown, questions or {}), _note(tree, shown))
        return display.plot(ax)

    @property
    def title(self) -> str:
        """What the picture shows, in one line."""
        return "Who ranks differently"

    def plot(self, ax: Any = None) -> RankingTreeDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default, large enough to read.

        Returns
        -------
        RankingTreeDisplay
            The display itself, with ``ax_``, ``figure_``, ``text_`` and ``edges_`` set.
        """
        import matplotlib.pyplot as plt
        from matplotlib.collections import LineCollection

        written, at, fork, (width, height) = self._layout()
        page = height + _TITLE
        self.figure_ = plt.figure(figsize=(width, page)) if ax is None else ax.figure
        self.ax_ = self.figure_.add_axes((0, 0, 1, height / page)) if ax is None else ax
        size = max(_SMALLEST_FONT, self._font_size(self.ax_))
        self.ax_.set(xlim=(0, width), ylim=(height, 0))  # inches, if there is room for them
        self.ax_.set_axis_off()
        # Lines start in the middle of a box, which hides their start, so that its width does not matter.
        elbows = [
            [at[parent], (fork[parent], at[parent][1]), (fork[parent], at[child][1]), at[child]]
            for parent, node in enumerate(self.nodes)
            for child in node.children or ()
        ]
        self.edges_ = LineCollection(elbows, colors="0.6", linewidths=1, zorder=1)
        self.ax_.add_collection(self.edges_)
        tints = _tints(self.nodes)
        self.text_ = [
            self._draw_node(node, words, place, size, tint)
            for node, words, place, tint in zip(self.nodes, written, at, tints, strict=True)
        ]
        small: dict[str, Any] = {"fontsize": size, "color": "0.35"}
        for node, (x, y) in zip(self.nodes, at, strict=True):
            if node.children is None:  # on the line that leads to the leaf
                self.ax_.text(x - 0.12, y - 0.03, f"n = {node.count:,}", ha="right", va="bottom", **small)
        for child, answer in zip(self.nodes[0].children or (), ("yes", "no"), strict=False):
            self.ax_.text(fork[0] - 0.04, at[child][1] - 0.03, answer, ha="right", va="center", **small)
        self.ax_.text(0.05, height - 0.05, self.note, ha="left", va="bottom", **small)
        self._add_title(ax)
        return self

    def _layout(self) -> tuple[list[str], list[tuple[float, float]], list[float], tuple[float, float]]:
        """The text of the nodes, and what `_layout` returns for it, with room for the note."""
        columns = _columns(self.nodes)
        wrap = _WRAP.get(len(columns), _NARROWEST_WRAP)
        conditions = [_written(node, wrap) if node.children else "" for node in self.nodes]
        used = sum(_column_width([conditions[place] for place in column]) + _GAP for column in columns)
        room = _PAGE - used - (_COUNTS if columns else 0.0) - 2 * _EDGE - 0.2
        leaf = int(np.clip(room / _LETTER, _SHORTEST_LEAF, _LONGEST_LEAF))
        written = [text or _written(node, leaf) for node, text in zip(self.nodes, conditions, strict=True)]
        at, fork, (width, height) = _layout(self.nodes, written)
        if self.note:
            width, height = max(width, _LETTER * len(self.note)), height + _NOTE
        return written, at, fork, (width, height)

    def _font_size(self, ax: Any) -> float:
        """The font size with which everything fits into the axes."""
        *_, (width, height) = self._layout()
        box, dpi = ax.get_window_extent(), ax.figure.dpi
        return _FONT_SIZE * min(1.0, box.width / dpi / width, box.height / dpi / height)

    def _draw_node(self, node: TreeNode, words: str, place: tuple[float, float], size: float, tint: str) -> Any:
        style = {"boxstyle": "round,pad=0.35", "facecolor": tint, "edgecolor": "0.6", "linewidth": 0.8}
        if node.is_cut:
            style["linestyle"] = ":"
        # Names come from the user: a dollar sign does not start a formula.
        return self.ax_.text(
            *place,
            words,
            ha="left" if node.children is None else "center",
            va="center",
            fontsize=size,
            bbox=style,
            zorder=2,
            parse_math=False,
        )


def tree_nodes(
    estimator: RankingTree | PlackettLuceTree, max_depth: int, questions: Mapping[str, str]
) -> list[TreeNode]:
    """Nodes down to a depth: each before its children, the upper child with all below it before the lower one."""
    tree = estimator.tree_
    texts = list(estimator.node_texts())
    names = list(getattr(estimator, "feature_names_in_", ()))
    for node in np.flatnonzero(tree.left >= 0) if names else ():
        name = str(names[tree.feature[node]])
        texts[node] = questions.get(name, name) + texts[node].removeprefix(name)
    nodes: list[TreeNode] = []

    def add(node: int, depth: int) -> int:
        place = len(nodes)
        count, left = int(tree.count[node]), int(tree.left[node])
        if left < 0:
            nodes.append(TreeNode(texts[node], count))
        elif depth == max_depth:
            n_leaves = _leaves_below(tree.left, node)
            nodes.append(TreeNode(f"… {n_leaves:,} leaves", count, is_cut=True))
        else:
            nodes.append(TreeNode(texts[node], count))
            children = add(left, depth + 1), add(left + 1, depth + 1)
            nodes[place] = replace(nodes[place], children=children)
        return place

    add(0, 0)
    return nodes


def _note(tree: RankingTree | PlackettLuceTree, max_depth: int) -> str:
    depth = tree.get_depth()
    if depth <= max_depth:
        return ""
    conditions = "1 condition" if max_depth == 1 else f"{max_depth} conditions"
    return f"cut below {conditions}; the whole tree has {tree.get_n_leaves():,} leaves, {depth} deep"


def _leaves_below(left: Any, node: int) -> int:
    layer, n_leaves = np.array([node]), 0
    while len(layer):
        children = left[layer]
        n_leaves += int((children < 0).sum())
        layer = np.concatenate([children[children >= 0], children[children >= 0] + 1])
    return n_leaves


def _layout(
    nodes: Sequence[TreeNode], written: Sequence[str]
) -> tuple[list[tuple[float, float]], list[float], tuple[float, float]]:
    """Where nodes are (leaves in one column), where the lines from them fork, and the total size, in inches."""
    lengths = [max(map(len, words.split("\n"))) for words in written]
    heights = [_LINE * (words.count("\n") + 1) + 2 * _EDGE for words in written]
    columns = _columns(nodes)
    ends = np.cumsum([0.1, *(_column_width([written[place] for place in column]) + _GAP for column in columns)])
    leaf_at = ends[-1] + (_COUNTS if columns else 0.0) + _EDGE
    x, fork = [leaf_at] * len(nodes), [leaf_at] * len(nodes)
    for column, start, end in zip(columns, ends[:-1], ends[1:], strict=True):
        for place in column:
            x[place], fork[place] = (start + end - _GAP) / 2, end - _GAP / 2
    y, bottom = [0.0] * len(nodes), 0.05

    def put(place: int) -> None:
        """Put a node between its children; these stay so far apart that its box does not reach into others."""
        nonlocal bottom
        children, top = nodes[place].children, bottom
        if children is None:
            y[place] = bottom + heights[place] / 2
            bottom += heights[place] + _LEAF_GAP
            return
        put(children[0])
        put(children[1])
        missing = heights[place] + _LEAF_GAP - (bottom - top)
        if missing > 0:  # a long condition above short leaves
            _shift(nodes, children[0], y, missing / 3)
            _shift(nodes, children[1], y, 2 * missing / 3)
            bottom += missing
        y[place] = (y[children[0]] + y[children[1]]) / 2
        # Where the children differ much in height, the box may still stick out below or above.
        low, high = top + heights[place] / 2, bottom - _LEAF_GAP - heights[place] / 2
        y[place] = float(np.clip(y[place], low, max(low, high)))

    put(0)
    leaves = [place for place, node in enumerate(nodes) if node.children is None]
    width = leaf_at + _LETTER * max(lengths[place] for place in leaves) + _EDGE + 0.1
    at = [(float(x[place]), y[place]) for place in range(len(nodes))]
    return at, [float(value) for value in fork], (float(width), bottom)


def _column_width(texts: Sequence[str]) -> float:
    """Width of boxes with these texts, in inches."""
    return _LETTER * max(len(line) for text in texts for line in text.split("\n")) + 2 * _EDGE


def _shift(nodes: Sequence[TreeNode], place: int, y: list[float], by: float) -> None:
    """Move a node down, with all below it."""
    y[place] += by
    for child in nodes[place].children or ():
        _shift(nodes, child, y, by)


def _columns(nodes: Sequence[TreeNode]) -> list[list[int]]:
    """Inner nodes by the number of conditions above them."""
    columns, layer = [], [0]
    while inner := [place for place in layer if nodes[place].children is not None]:
        columns.append(inner)
        layer = [child for place in inner for child in nodes[place].children or ()]
    return columns


def _written(node: TreeNode, wrap: int) -> str:
    """The text of a node in lines: a condition, or the whole ranking of a leaf, of very many items the best."""
    if node.children is not None:
        # Do not break lines between an operator and its number.
        text = node.text.replace("<= ", "<=\N{NO-BREAK SPACE}")
        lines = textwrap.wrap(text, wrap, max_lines=_MOST_LINES, placeholder=" …", break_on_hyphens=False)
        return "\n".join(lines)
    items = node.text.split(" > ")
    if len(items) > _MOST_ITEMS:
        items = [*items[:_MOST_ITEMS], f"… {len(items) - _MOST_ITEMS:,} more"]
    # Lines are broken between items, and within an item only if it is longer than a line.
    words = [item.replace(" ", "\N{NO-BREAK SPACE}") if len(item) + 2 <= wrap else item for item in items]
    text = " > ".join(words).replace(" > ", "\N{NO-BREAK SPACE}> ")
    lines = textwrap.wrap(text, wrap, break_on_hyphens=False)
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _tints(nodes: Sequence[TreeNode]) -> list[str]:
    """White without a consensus, otherwise the color of the best item."""
    best = ["" if node.children or node.is_cut else node.text.split(" > ")[0] for node in nodes]
    tint_of = {"": "white"} | dict(zip(dict.fromkeys(filter(None, best)), TINTS, strict=False))
    return [tint_of.get(item, _GRAY) for item in best]
