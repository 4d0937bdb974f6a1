"""``rankwise describe``: what a file of rankings holds."""

from __future__ import annotations

from rankwise.cli.options import Data, Json, Read, Target, settings


def describe(file: Data, target: Target = None, read: Read = None, as_json: Json = False) -> None:
    """Say what rankings hold: kind, items, ties, missing items, and what pairs of items say."""
    from dataclasses import asdict

    from rankwise.cli import console, description, sources
    from rankwise.cli.files import shown_name

    source = sources.load(file, target=target, reading=settings(read, "--read"))
    facts, pairs = description.describe(source), description.describe_pairs(source.rankings)
    if as_json:
        items = [str(item) for item in source.rankings.items]
        console.print_json({"data": shown_name(file), **asdict(facts), "items": items, "pairs": asdict(pairs)})
    else:
        console.print_tables([description.description_table(shown_name(file), facts), description.pairs_table(pairs)])
