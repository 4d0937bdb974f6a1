"""Compiled functions that look up in the cells above a leaf what its rankings leave open; `gaps` calls them."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankwise._compiled import compiled_in_place

_WORD = 64


class Cells(NamedTuple):
    """The cells of a tree, by node, and the rankings in them, those of a cell side by side."""

    parent: Any  # (nodes,): -1 for the root
    begin: Any  # (nodes,)
    end: Any  # (nodes,)
    rankings: Any  # (rankings in leaves,): numbers
    weights: Any  # (rankings in leaves,)


class Scratch(NamedTuple):
    """Working memory."""

    shares: Any  # (pairs,): of the last leaf
    sums: Any  # (pairs,): 0 between cells
    known: Any  # (pairs,): 0 between cells
    is_open: Any  # (words,): pairs that no cell so far compares
    is_new: Any  # (words,): pairs that this cell is the first to compare; 0 between cells
    words: Any  # (words,): words with open pairs


@compiled_in_place
def lay_out(parent, leaf_of_node, start, rankings, weights, cells):
    """Put the rankings of each cell side by side; children come after their parents."""
    n = parent.shape[0]
    begin, end = cells.begin, cells.end
    for node in range(n):
        begin[node] = 0
        end[node] = 0  # how many first
    for node in range(n - 1, -1, -1):
        leaf = leaf_of_node[node]
        if leaf >= 0:
            end[node] = start[leaf + 1] - start[leaf]
        if node > 0:
            end[parent[node]] += end[node]
    for node in range(n):
        size = end[node]
        if node > 0:
            # Until its children have their places, the end of a cell is the place of the next one.
            begin[node] = end[parent[node]]
            end[parent[node]] += size
        end[node] = begin[node]
        leaf = leaf_of_node[node]
        if leaf >= 0:
            for r in range(size):
                cells.rankings[begin[node] + r] = rankings[start[leaf] + r]
                cells.weights[begin[node] + r] = weights[start[leaf] + r]
            end[node] = begin[node] + size


@compiled_in_place
def add_shares(leaves, order, cells, bits, n_planes, wanted, usual, scale, scratch, out):
    """Add to every row of ``out`` the shares of pairs in its leaf, each pair times its scale.

    A pair takes the mean of the nearest cell that compares it. Only pairs in the bits ``wanted`` are looked up, the
    others, and those that no cell compares, are as ``usual``. ``leaves`` are nodes, and ``order`` the rows, those of a
    leaf next to each other.
    """
    last = -1
    for place in range(order.shape[0]):
        row = order[place]
        if leaves[row] != last:
            last = leaves[row]
            for c in range(usual.shape[0]):
                scratch.shares[c] = usual[c]
            _look_up(last, cells, bits, n_planes, wanted, scratch)
        for c in range(out.shape[1]):
            out[row, c] += scale[c] * scratch.shares[c]


@compiled_in_place
def shares_of_pair(leaves, pair, cells, bits, n_planes, wanted, usual, scratch, out):
    """Write the share of one pair, the only one in the bits ``wanted``, in each of some leaves."""
    for r in range(leaves.shape[0]):
        scratch.shares[pair] = usual[pair]
        _look_up(leaves[r], cells, bits, n_planes, wanted, scratch)
        out[r] = scratch.shares[pair]


@compiled_in_place
def _look_up(leaf, cells, bits, n_planes, wanted, scratch):
    """Write the shares of a leaf, of the pairs that a cell compares."""
    shares, sums, known = scratch.shares, scratch.sums, scratch.known
    is_open, is_new, words = scratch.is_open, scratch.is_new, scratch.words
    n_words = wanted.shape[0]
    n_open = 0
    for v in range(n_words):
        is_open[v] = wanted[v]
        if wanted[v] != np.uint64(0):
            words[n_open] = v
            n_open += 1
    half = 1.0 / n_planes
    node = np.int64(leaf)
    # The rankings of the cell before, which compare none of the open pairs.
    first, last = np.int64(cells.begin[node]), np.int64(cells.begin[node])
    while n_open > 0 and node >= 0:
        begin, end = np.int64(cells.begin[node]), np.int64(cells.end[node])
        for at in range(begin, end):
            if first <= at < last:
                continue
            ranking, weight = cells.rankings[at], cells.weights[at]
            for t in range(n_open):
                v = words[t]
                rest = bits[ranking, n_planes * n_words + v] & is_open[v]
                is_new[v] |= rest
                while rest != np.uint64(0):
                    lowest = rest & (~rest + np.uint64(1))
                    rest ^= lowest
                    c = v * _WORD + _ones(lowest - np.uint64(1))
                    value = 0.0
                    for plane in range(n_planes):
                        if bits[ranking, plane * n_words + v] & lowest != np.uint64(0):
                            value += half
                    sums[c] += weight * value
                    known[c] += weight
        n_left = 0
        for t in range(n_open):
            v = words[t]
            rest = is_new[v]
            is_new[v] = np.uint64(0)
            is_open[v] &= ~rest
            while rest != np.uint64(0):
                lowest = rest & (~rest + np.uint64(1))
                rest ^= lowest
                c = v * _WORD + _ones(lowest - np.uint64(1))
                shares[c] = sums[c] / known[c]
                sums[c] = 0.0
                known[c] = 0.0
            if is_open[v] != np.uint64(0):
                words[n_left] = v
                n_left += 1
        n_open = n_left
        first, last = begin, end
        node = np.int64(cells.parent[node])


@compiled_in_place
def _ones(x):
    """How many bits are set."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
