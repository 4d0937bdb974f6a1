"""Exports of MaxDiff tools with the answers alone: the items that were shown stand in another file, the design.

`rankwise.data.formats.survey_fits` refuses them, because numbers of the best and the worst look like places or scores.
"""

from __future__ import annotations

import re

from rankwise.data.formats.tables import Table
from rankwise.data.formats.text import shown

_ANSWER = re.compile(r"(?P<stem>.+[_. -])(?P<side>b|best|most)")
_OPPOSITE = {"b": "w", "best": "worst", "most": "least"}


def refuse_answers_alone(table: Table) -> None:
    """Refuse numbers that say the best and the worst of several tasks, if the items shown are not in the table."""
    names = {name.lower(): name for name in table.header}
    pairs = []
    for name, original in names.items():
        parts = _ANSWER.fullmatch(name)
        other = f"{parts['stem']}{_OPPOSITE[parts['side']]}" if parts else ""
        if parts and other in names and table.is_numeric(original) and table.is_numeric(names[other]):
            alike = [like for like in names if like.startswith(parts["stem"])]
            pairs += [(original, names[other])] if len(parts["side"]) > 1 or len(alike) == 2 else []
    if len(pairs) < 2:
        return
    stem = pairs[0][0][: _ANSWER.fullmatch(pairs[0][0].lower()).end("stem")]  # type: ignore[union-attr]
    best, worst = (f"{stem}{side}" for side in ("best", "worst"))
    raise table.error(
        f"{shown(pairs[0][0])} and {shown(pairs[0][1])} look like the best and the worst of a task, {len(pairs)} tasks "
        "in all, but the items that were shown are not in the file",
        cure=f"Join the design of the study to it: columns such as {stem}item1, {stem}item2, {stem}item3 with the "
        f"names of the items of each task, beside {best} and {worst} with the number or the name of the item chosen.",
    )
