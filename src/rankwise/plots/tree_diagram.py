"""RankingTreeDisplay: a consensus ranking tree, with its conditions, and the consensus and size of its leaves."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise._validation import check_whole_number

if TYPE_CHECKING:
    from rankwise.label_ranking import RankingTree


# The palette of Okabe and Ito, made lighter: leaves with the same best item share a color.
_TINTS = ("#cce3f0", "#f7dfcc", "#cceee3", "#f5e4ee", "#fcf9d0", "#ddf0fb", "#fae9cc")
_GRAY = "#eeeeee"
_FONT_SIZE = 8
_SMALLEST_FONT = 5
# Sizes in inches at that font size: a letter, a row of leaves, the gap between two columns, and the note.
_LETTER, _ROW, _GAP, _NOTE = 0.063, 0.36, 0.42, 0.25
_WRAP = 20
_MOST_LINES = 3
_LONGEST_CONSENSUS = 48


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


class RankingTreeDisplay:
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
    def from_estimator(cls, tree: RankingTree, *, max_depth: int = 4, ax: Any = None) -> RankingTreeDisplay:
        """Draw a fitted tree.

        Parameters
        ----------
        tree : RankingTree
            The fitted tree.
        max_depth : int, default=4
            Most conditions above a leaf that are shown; the leaves below are counted.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default, large enough to read. If letters would be smaller than
            5 points, fewer conditions are shown.

        Returns
        -------
        RankingTreeDisplay
        """
        from rankwise.label_ranking import RankingTree  # rankers take a second to load, and heat maps need none

        if not isinstance(tree, RankingTree):
            raise TypeError(f"tree is a {type(tree).__name__}, but only a RankingTree can be drawn; fit one")
        check_whole_number("max_depth", max_depth, at_least=1)
        shown = min(max_depth, max(1, tree.get_depth()))
        display = cls(_shown_nodes(tree, shown), _note(tree, shown))
        while ax is not None and shown > 1 and display._font_size(ax) < _SMALLEST_FONT:
            shown -= 1
            display = cls(_shown_nodes(tree, shown), _note(tree, shown))
        return display.plot(ax)

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
        self.figure_: Any = plt.figure(figsize=(width, height)) if ax is None else ax.figure
        self.ax_: Any = self.figure_.add_axes((0, 0, 1, 1)) if ax is None else ax
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
        small: dict[str, Any] = {"fontsize": max(_SMALLEST_FONT, 0.85 * size), "color": "0.35"}
        for node, (_, y) in zip(self.nodes, at, strict=True):
            if node.children is None:
                self.ax_.text(width - 0.05, y, f"n = {node.count:,}", ha="right", va="center", **small)
        for child, answer in zip(self.nodes[0].children or (), ("yes", "no"), strict=False):
            self.ax_.text(fork[0] - 0.04, at[child][1], answer, ha="right", va="center", **small)
        self.ax_.text(0.05, height - 0.05, self.note, ha="left", va="bottom", **small)
        return self

    def _layout(self) -> tuple[list[str], list[tuple[float, float]], list[float], tuple[float, float]]:
        """The text of the nodes, and what `_layout` returns for it, with room for the note."""
        written = [_written(node) for node in self.nodes]
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


def _shown_nodes(estimator: RankingTree, max_depth: int) -> list[TreeNode]:
    """Nodes down to a depth: each before its children, the upper child with all below it before the lower one."""
    texts = estimator.node_texts()
    tree = estimator.tree_
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


def _note(tree: RankingTree, max_depth: int) -> str:
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
    columns = _columns(nodes)
    ends = np.cumsum([0.1, *(_LETTER * max(lengths[place] for place in column) + 0.15 + _GAP for column in columns)])
    x, fork = [ends[-1]] * len(nodes), [ends[-1]] * len(nodes)
    for column, start, end in zip(columns, ends[:-1], ends[1:], strict=True):
        for place in column:
            x[place], fork[place] = (start + end - _GAP) / 2, end - _GAP / 2
    leaves = [place for place, node in enumerate(nodes) if node.children is None]
    y = {place: (row + 0.55) * _ROW for row, place in enumerate(leaves)}
    for place in reversed(range(len(nodes))):  # children come after their parents
        children = nodes[place].children
        if children is not None:
            y[place] = (y[children[0]] + y[children[1]]) / 2
    longest = max(lengths[place] for place in leaves) + max(len(f"{node.count:,}") for node in nodes)
    width = ends[-1] + _LETTER * longest + 0.7
    at = [(float(x[place]), float(y[place])) for place in range(len(nodes))]
    return at, [float(value) for value in fork], (float(width), (len(leaves) + 0.1) * _ROW)


def _columns(nodes: Sequence[TreeNode]) -> list[list[int]]:
    """Inner nodes by the number of conditions above them."""
    columns, layer = [], [0]
    while inner := [place for place in layer if nodes[place].children is not None]:
        columns.append(inner)
        layer = [child for place in inner for child in nodes[place].children or ()]
    return columns


def _written(node: TreeNode) -> str:
    """The condition in short lines; the best items of a long consensus."""
    if node.children is not None:
        # Do not break lines between an operator and its number.
        text = node.text.replace("<= ", "<=\N{NO-BREAK SPACE}")
        lines = textwrap.wrap(text, _WRAP, max_lines=_MOST_LINES, placeholder=" …", break_on_hyphens=False)
        return "\n".join(lines)
    if len(node.text) <= _LONGEST_CONSENSUS:
        return node.text
    cut = node.text.rfind(" > ", 0, _LONGEST_CONSENSUS - 4)
    return node.text[:cut] + " > …" if cut > 0 else node.text[: _LONGEST_CONSENSUS - 1] + "…"


def _tints(nodes: Sequence[TreeNode]) -> list[str]:
    """White without a consensus, otherwise the color of the best item."""
    best = ["" if node.children or node.is_cut else node.text.split(" > ")[0] for node in nodes]
    tint_of = {"": "white"} | dict(zip(dict.fromkeys(filter(None, best)), _TINTS, strict=False))
    return [tint_of.get(item, _GRAY) for item in best]
