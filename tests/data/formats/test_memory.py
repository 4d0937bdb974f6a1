"""The most memory that a reader takes of a large file: the result, and at most three times the file beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak of memory is Linux's to tell"),
]

N_ROWS = 200_000
N_ITEMS = 8
ITEMS = [f"item {letter}" for letter in "abcdefgh"]
TIMES_THE_FILE = 3
#: what does not grow with the file: tables of different cells, pages that the allocator keeps
LEEWAY = 28 << 20

# What is compiled is loaded, and a small file read, before the peak is taken.
CHILD = """
import ctypes, gc, importlib, json, sys
import numpy as np
from rankwise import Rankings
from rankwise.cli.warmup_command import STEPS

module, name, small, large, options = sys.argv[1:]
read = getattr(importlib.import_module(module), name)


def kilobytes(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


def held(found):
    if isinstance(found, Rankings):
        return found.positions.nbytes
    if isinstance(found, np.ndarray):
        texts = {id(text): text for text in found.flat} if found.dtype == object else {}
        return found.nbytes + sum(map(sys.getsizeof, texts.values()))
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, tuple) else ()
    return sum(map(held, parts))


STEPS["tables"]()
read(small, **json.loads(options))
gc.collect()
ctypes.CDLL(None).malloc_trim(0)  # pages kept would hide what the next call takes
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
before = kilobytes("VmRSS")
result = read(large, **json.loads(options))
print(json.dumps({"peak": (kilobytes("VmHWM") - before) * 1024, "result": held(result)}))
"""


def _orders(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    return rng.permuted(np.tile(np.arange(N_ITEMS), (n_rows, 1)), axis=1)


def _rows(table: np.ndarray, mark: str = ",") -> str:
    return "\n".join(map(mark.join, table.tolist())) + "\n"


def positions(rng: np.random.Generator, n_rows: int) -> str:
    return ",".join(f"rank_{item}" for item in ITEMS) + "\n" + _rows((_orders(rng, n_rows) + 1).astype(str))


def orders(rng: np.random.Generator, n_rows: int) -> str:
    header = ",".join(f"choice {place}" for place in range(1, N_ITEMS + 1))
    return header + "\n" + _rows(np.array(ITEMS)[_orders(rng, n_rows)])


def strings(rng: np.random.Generator, n_rows: int) -> str:
    return "ranking\n" + _rows(np.array(ITEMS)[_orders(rng, n_rows)], ">")


def long(rng: np.random.Generator, n_rows: int) -> str:
    people = np.arange(n_rows // N_ITEMS)
    places = (_orders(rng, len(people)) + 1).ravel()
    cells = zip(np.repeat(people, N_ITEMS).tolist(), ITEMS * len(people), places.tolist(), strict=True)
    return "person,item,rank\n" + "".join(f"p{person},{item},{place}\n" for person, item, place in cells)


def pairwise(rng: np.random.Generator, n_rows: int) -> str:
    pairs = _orders(rng, n_rows)[:, :2]
    return "winner,loser\n" + _rows(np.array(ITEMS)[pairs])


def scores(rng: np.random.Generator, n_rows: int) -> str:
    return (
        ",".join(f"score_{item}" for item in ITEMS)
        + "\n"
        + _rows(np.round(rng.random((n_rows, N_ITEMS)), 3).astype(str))
    )


def preflib(rng: np.random.Generator, n_rows: int) -> str:
    n_items = 12  # enough for as many different orders
    kept = np.unique(rng.permuted(np.tile(np.arange(1, n_items + 1), (n_rows, 1)), axis=1), axis=0)
    names = "".join(f"# ALTERNATIVE NAME {number}: item {number}\n" for number in range(1, n_items + 1))
    head = f"# NUMBER ALTERNATIVES: {n_items}\n# NUMBER VOTERS: {len(kept)}\n# NUMBER UNIQUE ORDERS: {len(kept)}\n"
    return head + names + "".join("1: " + ",".join(row) + "\n" for row in kept.astype(str).tolist())


def xarff(rng: np.random.Generator, n_rows: int) -> str:
    names = [item[-1] for item in ITEMS]
    head = "@relation r\n" + "".join(f"@attribute x{at} real\n" for at in range(4))
    head += "@attribute y ranking {" + ",".join(names) + "}\n@data\n"
    numbers = np.round(rng.random((n_rows, 4)), 4).astype(str).tolist()
    ranked = np.array(names)[_orders(rng, n_rows)].tolist()
    return head + "".join(",".join(x) + "," + ">".join(y) + "\n" for x, y in zip(numbers, ranked, strict=True))


def letor(rng: np.random.Generator, n_rows: int) -> str:
    grades = rng.integers(0, 5, n_rows).tolist()
    values = np.round(rng.random((n_rows, 10)), 4).astype(str).tolist()
    lines = (
        f"{grade} qid:{row // 100} " + " ".join(f"{at}:{value}" for at, value in enumerate(found, 1))
        for row, (grade, found) in enumerate(zip(grades, values, strict=True))
    )
    return "\n".join(lines) + "\n"


def qrels(rng: np.random.Generator, n_rows: int) -> str:
    return "".join(f"{row // 100} 0 doc{row:07d} {grade}\n" for row, grade in enumerate(rng.integers(0, 3, n_rows)))


def run(rng: np.random.Generator, n_rows: int) -> str:
    found = np.round(rng.random(n_rows), 4).tolist()
    return "".join(f"{row // 100} Q0 doc{row:07d} {row % 100} {score} s\n" for row, score in enumerate(found))


READERS = {
    positions: ("rankwise.data.formats", "read_rankings", {"layout": "positions"}),
    orders: ("rankwise.data.formats", "read_rankings", {"layout": "orders"}),
    strings: ("rankwise.data.formats", "read_rankings", {"layout": "strings"}),
    long: ("rankwise.data.formats", "read_rankings", {"layout": "long"}),
    scores: ("rankwise.data.formats", "read_rankings", {"layout": "scores", "prefix": "score_"}),
    pairwise: ("rankwise.data.formats", "read_pairwise_csv", {}),
    preflib: ("rankwise.data.formats", "read_preflib", {}),
    xarff: ("rankwise.data.formats", "read_xarff", {}),
    letor: ("rankwise.data.formats", "read_letor", {}),
    qrels: ("rankwise.data.formats", "read_qrels", {}),
    run: ("rankwise.data.formats", "read_run", {}),
}


def measured(write, folder: Path, n_rows: int) -> dict[str, int]:
    """Bytes of the file, of memory at the most, and of the result."""
    module, name, options = READERS[write]
    ending = {preflib: ".soc", xarff: ".xarff"}.get(write, ".csv")
    small, large = folder / f"small{ending}", folder / f"large{ending}"
    small.write_text(write(np.random.default_rng(0), 1000))
    large.write_text(write(np.random.default_rng(0), n_rows))
    call = [sys.executable, "-c", CHILD, module, name, str(small), str(large), json.dumps(options)]
    said = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {"file": large.stat().st_size, **json.loads(said)}


@pytest.mark.parametrize("write", READERS, ids=lambda write: write.__name__)
def test_memory(write, tmp_path):
    found = measured(write, tmp_path, N_ROWS)
    assert found["peak"] <= found["result"] + TIMES_THE_FILE * found["file"] + LEEWAY
