"""Compiled loops over the bytes of a delimited text; used by `rankwise.data.formats.large`."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from rankwise._compiled import compiled

_QUOTE = 34
_LINE_END = 10
_POINT = 46
_ZERO = 48
_NINE = 57


@compiled
def _is_space(byte):
    """What Python strips from text, among the ASCII characters."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


@compiled
def cut(
    data, piece, delimiter, longest, patience, codes, starts, lengths, lines, slots, keys, firsts, sizes, counts, marks
):
    """Cut the rows of a delimited text into cells; the number of rows, or -1 if it takes a stricter reader.

    Cells are stripped, quotes around them are dropped, and lines that hold nothing but delimiters are passed over. A
    column is coded, by a hash table of its different cells, until these are too many: then its cells are recorded by
    where they stand.

    Parameters
    ----------
    data : uint8 (n_bytes,)
        The text.
    piece : int64 (4,)
        Begin and end of the rows to cut, where the last byte ends a line; the row and the line that they begin with.
    delimiter, longest, patience : int
        The byte between cells, the most bytes in a cell, and the rows after which a column with mostly different cells
        is no longer coded.
    codes, starts, lengths : int32, int64, int32 (n_columns, n_rows or more)
        Out: the code of each cell in a column that is coded; begin and length of each cell in the others.
    lines : int64 (n_rows or more,)
        Out: the line on which each row starts.
    slots, keys : int32 zeros, uint64 (n_columns, a power of two)
        For the hash tables.
    firsts, sizes : int64, int32 (n_columns, n_distinct)
        Out: begin and length of the different cells, in order of appearance.
    counts : int64 (n_columns,), zeros
        Out: how many there are, or -1 if the column is not coded.
    marks : bool (n_columns, 2), False
        Out: whether a cell begins or ends with a byte that is not ASCII; whether one holds doubled quotes.
    """
    n_columns, most = firsts.shape
    mask = np.uint64(slots.shape[1] - 1)
    ends_cell = np.zeros(256, dtype=np.bool_)
    ends_cell[delimiter] = ends_cell[_LINE_END] = ends_cell[_QUOTE] = True
    at, end, first_row, line = piece
    row = first_row
    while at < end:
        # a line with nothing but delimiters and blanks is not a row
        ahead = at
        while data[ahead] != _LINE_END and (data[ahead] == delimiter or _is_space(data[ahead])):
            ahead += 1
        if data[ahead] == _LINE_END:
            at = ahead + 1
            line += 1
            continue
        lines[row] = line
        for column in range(n_columns):
            before = at
            while data[at] == 32:
                at += 1
            begin = at
            # Up to eight bytes are a key that tells cells apart; of longer cells it is a hash.
            key = np.uint64(0)
            if data[at] != _QUOTE:
                while not ends_cell[data[at]]:
                    key = _add(key, data[at], at - begin)
                    at += 1
                if data[at] == _QUOTE:
                    return -1
                stop = at
                while begin < stop and _is_space(data[stop - 1]):
                    stop -= 1
                stripped = stop < at
            else:
                at += 1
                while at < end:
                    if data[at] == _LINE_END:
                        line += 1
                    elif data[at] == _QUOTE:
                        if data[at + 1] != _QUOTE:  # the last byte is no quote, so there is a next
                            break
                        marks[column, 1] = True
                        at += 1
                    at += 1
                if at == end:
                    return -1
                begin, stop = begin + 1, at
                at += 1
                while begin < stop and _is_space(data[stop - 1]):
                    stop -= 1
                stripped = True
            if at - before > longest:
                return -1
            while begin < stop and _is_space(data[begin]):
                begin += 1
                stripped = True
            size = stop - begin
            if stripped:
                key = np.uint64(0)
                for k in range(size):
                    key = _add(key, data[begin + k], k)
            if size and (data[begin] | data[stop - 1]) > 127:
                marks[column, 0] = True
            if counts[column] >= 0:
                slot = ((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
                while True:
                    code = slots[column, slot] - 1
                    if code < 0:
                        break
                    if keys[column, slot] == key and sizes[column, code] == size:
                        k = min(size, 8 if size <= 8 else 0)
                        while k < size and data[firsts[column, code] + k] == data[begin + k]:
                            k += 1
                        if k == size:
                            break
                    slot = (slot + np.uint64(1)) & mask
                if code < 0:
                    known = counts[column]
                    if known == most or (row - first_row >= patience and 2 * known > row - first_row):
                        for above in range(first_row, row):
                            starts[column, above] = firsts[column, codes[column, above]]
                            lengths[column, above] = sizes[column, codes[column, above]]
                        counts[column] = -1
                    else:
                        code = known
                        slots[column, slot] = code + 1
                        keys[column, slot] = key
                        firsts[column, code] = begin
                        sizes[column, code] = size
                        counts[column] = known + 1
                codes[column, row] = code
            if counts[column] < 0:
                starts[column, row] = begin
                lengths[column, row] = size
            if data[at] != (delimiter if column + 1 < n_columns else _LINE_END):
                return -1
            at += 1
        line += 1
        row += 1
    return row - first_row


@compiled
def count_lines(data, begin, end):
    """How many line feeds there are between two places of a text."""
    count = 0
    for at in range(begin, end):
        count += data[at] == _LINE_END
    return count


@compiled
def _add(key, byte, place):
    """The key of a cell with one more byte."""
    if place < 8:
        return (key << np.uint64(8)) | np.uint64(byte)
    return (key ^ np.uint64(byte)) * np.uint64(1099511628211)


@compiled
def gather(data, starts, lengths, rows, out):
    """Write the cells of some rows one after the other, a zero byte after each."""
    to = 0
    for row in rows:
        for at in range(starts[row], starts[row] + lengths[row]):
            out[to] = data[at]
            to += 1
        out[to] = 0
        to += 1


@compiled
def any_byte(data, starts, lengths, wanted):
    """Whether a cell holds one of the wanted bytes: bool (256,)."""
    for row in range(len(starts)):
        for at in range(starts[row], starts[row] + lengths[row]):
            if wanted[data[at]]:
                return True
    return False


@compiled
def decimals(data, starts, lengths, powers, values, state):
    """Read decimal numbers without an exponent, each as the nearest float.

    Parameters
    ----------
    data, starts, lengths
        The cells.
    powers : uint64 (2, n_places)
        The first 128 bits of 5 ** -places, rounded up, for so many decimal places.
    values : float64 (n_cells,)
        Out: the numbers.
    state : int8 (n_cells,)
        Out: 0 where the value holds, 1 where the text is a number of too many digits, 2 where it is something else.

    Returns
    -------
    bool
        Whether a number looks like a code: a leading zero, or a whole number of 16 digits or more.
    """
    code_like = False
    bits = values.view(np.uint64)
    for row in range(len(starts)):
        at = starts[row]
        end = at + lengths[row]
        negative = at < end and data[at] == 45
        if at < end and (data[at] == 45 or data[at] == 43):
            at += 1
        code_like |= at + 1 < end and data[at] == _ZERO and _ZERO <= data[at + 1] <= _NINE
        mantissa = np.uint64(0)
        digits = 0
        places = 0
        has_point = False
        plain = True
        while at < end:
            byte = data[at]
            if _ZERO <= byte <= _NINE:
                digits += 1
                places += has_point
                if digits <= 19:
                    mantissa = np.uint64(10) * mantissa + np.uint64(byte - _ZERO)
            elif byte == _POINT and not has_point:
                has_point = True
            else:
                plain = False
                break
            at += 1
        code_like |= plain and digits >= 16 and not has_point
        if not plain or digits == 0:
            state[row] = 2
        elif digits > 19 or places >= powers.shape[1]:
            state[row] = 1
        else:
            state[row] = 0
            bits[row] = _nearest(mantissa, places, powers) | (np.uint64(negative) << np.uint64(63))
    return code_like


@compiled
def _nearest(mantissa, places, powers):
    """The bits of the float nearest to mantissa / 10 ** places (Lemire, Software: Practice and Experience 51, 2021)."""
    one = np.uint64(1)
    if mantissa == 0:
        return np.uint64(0)
    shift = np.uint64(0)
    step = np.uint64(32)
    while step:  # until the first bit is set
        if not mantissa >> (np.uint64(64) - step):
            mantissa <<= step
            shift += step
        step >>= one
    # mantissa times the first 64 bits of the power, 128 bits of it
    upper, lower = _product(mantissa, powers[0, places])
    if upper & np.uint64(0x1FF) == np.uint64(0x1FF):
        carried, _ = _product(mantissa, powers[1, places])
        lower += carried
        if lower < carried:
            upper += one
    top = upper >> np.uint64(63)
    rest = top + np.uint64(9)
    kept = upper >> rest
    exponent = ((-217706 * places) >> 16) + 63 + np.int64(top) - np.int64(shift) + 1023
    if lower <= one and places <= 4 and kept & np.uint64(3) == one and kept << rest == upper:
        kept &= ~one  # halfway between two floats: the even one
    kept += kept & one
    kept >>= one
    if kept >> np.uint64(53):
        kept >>= one
        exponent += 1
    return (np.uint64(exponent) << np.uint64(52)) | (kept & np.uint64(0xFFFFFFFFFFFFF))


@compiled
def _product(a, b):
    """The upper and the lower 64 bits of a product."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    middle = a1 * b0 + ((a0 * b0) >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half), a * b
