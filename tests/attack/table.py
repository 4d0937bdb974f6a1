"""The stored counts of attacks as a table of the documentation: ``python -m tests.attack.table`` writes it there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.attack import ATTACKS
from tests.attack.children import DIED, FAILED

_ROOT = Path(__file__).parents[2]
PAGE = _ROOT / "docs" / "reliability.md"
_STORED = _ROOT / "benchmarks" / "results" / "attack.json"
_MARKED = re.compile(r"(<!-- attacks -->\n).*?(<!-- end -->)", re.DOTALL)


def table() -> str:
    """A line for each stored run; what failed then and is mended since stands in its own column."""
    lines = ["| attack | targets | trials | refused | failed | died | mended since |", "| --- " + "| ---: " * 6 + "|"]
    for row in json.loads(_STORED.read_text("utf-8"))["results"]:
        counts: dict[str, Any] = row["outcomes"]
        refused = sum(count for outcome, count in counts.items() if "refused" in outcome)
        cells = [row["targets"], row["trials"], refused, counts[FAILED], counts[DIED], len(row.get("mended", []))]
        name = f"`{row['attack']}`, seed {row['seed']:,}: {ATTACKS[row['attack']]}"
        lines.append(f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    return "\n".join(lines) + "\n"


def page_with_table(text: str) -> str:
    return _MARKED.sub(lambda found: f"{found[1]}\n{table()}\n{found[2]}", text)


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text("utf-8")), "utf-8")
