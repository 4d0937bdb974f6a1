"""The views of a survey that are about people: groups, segments, what drives rankings, raters, and robustness.

`rankwise.studio.views` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from rankwise._tables import TextTable, short_name
from rankwise._validation import check_generator
from rankwise.analysis import compare_groups, drivers, drivers_tree, raters, robustness, segments
from rankwise.analysis.base import features_of, sample_rows
from rankwise.analysis.by_group import group_results, largest_groups
from rankwise.analysis.consensus import FEWEST_RANKINGS
from rankwise.analysis.rankers import make_ranker
from rankwise.data import Survey
from rankwise.data.formats.survey_data import shown_names
from rankwise.studio import blocks
from rankwise.studio.blocks import Block, OnStep, Params, percent
from rankwise.studio.surveys import notes

# Pictures of more items show the best of them; of more people, a random sample is looked at.
_MOST_ITEMS, _MOST_PEOPLE = 40, 10_000
_MOST_POINTS, _MOST_LISTED = 2_000, 500
_NO_GROUPS = "There is nothing to compare by: no column says to which group a person belongs, such as a city."
# A form offers so many answers; a column of few answers makes groups.
_MOST_ANSWERS, _MOST_GROUPS = 60, 12

# How trees write their splits: "age <= 34.5, p < 0.001", "city in {Oslo, Rome}".
_SPLIT = re.compile(r"(.*?)(?:, (p [<=] [\d.]+))?", re.DOTALL)
_NUMBER_ASKED = re.compile(r"(.+) <= (.+)", re.DOTALL)
# A branch of so many answers names them.
_MOST_TOLD = 3
_CHOICE_ASKED = re.compile(r"(.+) in \{(.+)\}", re.DOTALL)
_Levels: TypeAlias = Mapping[str, Sequence[str]]


def groups_view(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """Groups side by side, and whether they differ."""
    candidates = [
        name for name in survey.X if name in survey.categorical or len(_answers(survey, name)) <= _MOST_GROUPS
    ]
    titles = shown_names(candidates, survey.questions)
    columns = [{"value": name, "label": title} for name, title in zip(candidates, titles, strict=True)]
    if survey.by is None:
        words = "Choose a column: people with the same answer are a group." if candidates else _NO_GROUPS
        return {"blocks": [blocks.text(words, "lead")], "columns": columns, "by": None, "code": {}}
    on_step("comparing groups", 0.2)
    found = group_results(survey.rankings, survey.groups(), by=survey.by_name, random_state=seed)
    rows = sample_rows(len(survey.rankings), _MOST_PEOPLE, check_generator(seed))
    sampled = _taken(survey, rows)
    test = compare_groups(sampled, random_state=seed)
    shown = blocks.texts(test.sentences[:1], "lead")
    shown += blocks.texts([*found.sentences[:1], *test.sentences[1:]])
    if len(rows) < len(survey.rankings):
        shown.append(blocks.text(f"Tested on a random sample of {len(rows):,} people.", "note"))
    largest = largest_groups(found) or found
    order = np.argsort(largest.overall, kind="stable")[:_MOST_ITEMS]
    drawn = blocks.slopes(largest.groups, [largest.items[i] for i in order], largest.positions[:, order].T)
    caption = (
        "The place of each item in the joint ranking of each group; where lines cross, groups differ. A joint ranking "
        "follows the majorities between two items, so its first item may not have the best mean rank."
    )
    shown.append(blocks.chart("groups", f"Places by {short_name(survey.by_name)}", caption, drawn))
    shown.append(blocks.table("means", largest.mean_table()._replace(title="Mean ranks by group")))
    for table in test.items.tables()[:1]:
        shown.append(blocks.table("item-differences", table._replace(title="Which items differ")))
    for table in [] if test.pairs is None else test.pairs.tables()[:1]:
        shown.append(blocks.table("pair-differences", table._replace(title="Which pairs of items differ"), folded=True))
    shown.append(blocks.table("tests", test.test_table()._replace(note="", title="The tests in numbers"), folded=True))
    shown += notes(test)
    if params["by"] not in candidates:
        columns.insert(0, {"value": params["by"], "label": survey.by_name})
    return {"blocks": shown, "columns": columns, "by": params["by"]}


def segments_view(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """People who rank alike."""
    if len(survey.rankings) < FEWEST_RANKINGS:
        words = f"There are fewer than {FEWEST_RANKINGS} people: too few to tell segments from chance."
        return {"blocks": [blocks.text(words, "lead")], "n": None, "code": {}}
    on_step("looking for segments; this may take a minute", 0.1)
    found, n_rows = find_segments(survey, params, seed)
    shown = blocks.texts(found.sentences[:1], "lead") + blocks.texts(found.sentences[1:])
    if n_rows < len(survey.rankings):
        shown.append(blocks.text(f"Found in a random sample of {n_rows:,} people.", "note"))
    shown += notes(found)
    criteria = [one for one in found.criteria if np.isfinite(one.bic)]
    if len(criteria) > 1:
        sizes = [one.n for one in criteria]
        lowest = int(np.argmin([one.bic for one in criteria]))
        drawn = blocks.lines(
            sizes,
            [("BIC", [one.bic for one in criteria], None, None)],
            x_label="segments",
            y_label="BIC",
            marked=lowest,
        )
        caption = "The lower the BIC, the better the number of segments is supported by the data."
        shown.append(blocks.chart("bic", "How many segments?", caption, drawn))
    if found.n > 1:
        order = np.argsort(found.mean_rank, kind="stable")[:_MOST_ITEMS]
        names = [profile.name for profile in found.profiles]
        standing = np.array([profile.positions[order] for profile in found.profiles]).T
        drawn = blocks.slopes(names, [found.items[i] for i in order], standing)
        caption = "The place of each item in each segment."
        shown.append(blocks.chart("segments", "Segments side by side", caption, drawn))
        shown.append(blocks.table("profiles", found.item_table()._replace(title="Profiles")))
        shown.append(blocks.table("sizes", found.size_table()._replace(note="", title="Sizes")))
        for table in [] if found.membership is None else found.membership.tables():
            shown.append(blocks.table("membership", table._replace(title="Who is in which segment"), folded=True))
    shown.append(blocks.table("criteria", found.criteria_table()._replace(title="Numbers of segments"), folded=True))
    used = {key: value for key, value in _settings(survey, params).items() if key in ("n", "model", "max_segments")}
    return {"blocks": shown, "n": found.n, "used": used}


def find_segments(survey: Survey, params: Params, seed: int) -> tuple[Any, int]:
    """The segments that the page asks for, and of how many people; also for the list of who belongs to which."""
    rows = sample_rows(len(survey.rankings), _MOST_PEOPLE, check_generator(seed))
    return segments(_taken(survey, rows), **_settings(survey, params), random_state=seed), len(rows)


def _settings(survey: Survey, params: Params) -> dict[str, Any]:
    """How segments are looked for: as in the report, which takes a quick model where items are missing."""
    incomplete = survey.rankings.kind == "incomplete"
    return {
        "n": params.get("n") or "bic",
        "model": params.get("model") or ("plackett-luce" if incomplete else "mallows"),
        "max_segments": 4 if incomplete else 6,
        "n_init": 3,
        "n_bootstrap": 10,
    }


def drivers_view(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """Which features drive rankings, and a tree of those who rank differently."""
    form = [_field(survey, column, title) for column, title in zip(survey.X, survey.feature_names, strict=True)]
    if not survey.X:
        words = "There is nothing to look at: no column holds a fact about people, such as age or city."
        return {"blocks": [blocks.text(words, "lead")], "form": [], "code": {}}
    on_step("finding what drives the rankings", 0.1)
    found = drivers(survey, feature_names=survey.feature_names, random_state=seed)
    shown = blocks.texts(found.sentences[:1], "lead") + blocks.texts(found.sentences[1:])
    order = np.arange(len(found.features))[:_MOST_ITEMS]
    drawn = blocks.dots(
        [found.features[i] for i in order],
        found.importances[order],
        found.low[order],
        found.high[order],
        axis="how much worse predictions are without it",
        zero=0.0,
        form=".3f",
    )
    caption = (
        "The further right, the more predictions need this fact. Where an interval holds 0, they may do as well "
        "without it, even if p in the table says that rankings go with it."
    )
    shown.append(blocks.chart("drivers", "What drives the rankings", caption, drawn))
    numbers = found.importance_table()
    columns = ["fact", *numbers.columns[1:]]
    shown.append(blocks.table("importances", numbers._replace(title="Facts in numbers", note="", columns=columns)))
    for feature in found.significant[:3]:
        effect = found.effects[feature]
        best = np.argsort(effect.places.mean(axis=0), kind="stable")[:8]
        series = [(short_name(effect.items[i]), effect.places[:, i], effect.low[:, i], effect.high[:, i]) for i in best]
        drawn = blocks.lines(
            [value if isinstance(value, int | float) else str(value) for value in effect.values],
            series,
            x_label=short_name(effect.feature),
            y_label="expected place",
            flipped=True,
        )
        caption = (
            "The place that each item is expected to take at each value, all else equal; the best is at the top. The "
            f"band is the {found.level:.0%} interval."
        )
        shown.append(blocks.chart(f"effect-{feature}", f"Places by {short_name(effect.feature)}", caption, drawn))
    on_step("growing a tree", 0.7)
    tree = drivers_tree(survey, feature_names=survey.feature_names)
    shown.append(blocks.section("tree-section", "Who ranks differently"))
    if tree.get_n_leaves() > 1:
        caption = "Every split is more than chance explains. Each end shows the ranking of its people, the best first."
        drawn = tree_chart(tree, _levels(survey))
        shown.append(blocks.chart("tree", "Tree", caption, drawn, _tree_text(drawn["nodes"])))
    else:
        shown.append(blocks.text("The tree found no split that is sure enough."))
    shown += notes(found)
    return {"blocks": shown, "form": form}


def _levels(survey: Survey) -> _Levels:
    """The answers of each question that has some to choose from, in order."""
    named = zip(survey.X, survey.feature_names, strict=True)
    return {title: [str(one) for one in _answers(survey, name)] for name, title in named if name in survey.categorical}


def tree_chart(tree: Any, levels: _Levels) -> Block:
    """A fitted tree as a picture: conditions, sizes, and the whole ranking of each leaf.

    ``levels`` are the answers of the questions that have some to choose from, so that branches can name them.
    """
    from rankwise.plots.tree_diagram import tree_nodes

    nodes = tree_nodes(tree, tree.get_depth(), {})
    made: list[dict[str, Any]] = []
    above: dict[int, tuple[int, str, _Levels]] = {}  # parent, branch, and the answers that are left, for each child
    for i, node in enumerate(nodes):
        parent, branch, left = above.get(i, (None, "", levels))
        title, p_value = "", ""
        if node.children is not None:
            title, p_value, sides = _asked(node.text, left)
            for child, (words, answers) in zip(node.children, sides, strict=True):
                above[child] = (i, words, {**left, title: answers} if answers else left)
        ranking = node.text.split(" > ") if node.children is None and not node.is_cut else []
        made.append(
            {"id": i, "parent": parent, "branch": branch, "title": title, "n": node.count, "p": p_value}
            | {"ranking": ranking}
        )
    return {"type": "tree", "nodes": made}


def _tree_text(nodes: Sequence[Mapping[str, Any]]) -> str:
    """The picture of a tree in sentences, for those who hear it: a path to each end, and its ranking."""
    paths: dict[int | None, list[str]] = {None: []}
    told = []
    for node in nodes:  # parents come before their children
        above = next((each["title"] for each in nodes if each["id"] == node["parent"]), "")
        paths[node["id"]] = [*paths[node["parent"]], *([f"{above}: {node['branch']}"] if node["branch"] else [])]
        if node["ranking"]:
            told.append(f"{'; '.join(paths[node['id']])} ({node['n']:,} people): {', '.join(node['ranking'])}.")
    return " ".join(told)


def _asked(condition: str, left: _Levels) -> tuple[str, str, list[tuple[str, Sequence[str]]]]:
    """What a split asks, its p-value, and its two sides in the words of people, with their answers where known.

    ``left`` are the answers of those whom the branch has.
    """
    asked, p_value = _SPLIT.fullmatch(condition).groups()  # type: ignore[union-attr]  # it matches every text
    p_value = p_value or ""
    if number := _NUMBER_ASKED.fullmatch(asked):
        title, most = number.groups()
        known = list(left.get(title, ()))
        if most not in known:
            return title, p_value, [(f"{most} or less", ()), (f"more than {most}", ())]
        cut = known.index(most) + 1
        return title, p_value, [(_either(side), side) for side in (known[:cut], known[cut:])]
    if choice := _CHOICE_ASKED.fullmatch(asked):
        title, chosen = choice[1], choice[2].split(", ")
        known = list(left.get(title, ()))
        others = [answer for answer in known if answer not in chosen] if set(chosen) <= set(known) else []
        words = _either(others) if 0 < len(others) <= _MOST_TOLD else "any other answer"
        return title, p_value, [(" or ".join(chosen), chosen if others else ()), (words, others)]
    return asked, p_value, [("yes", ()), ("no", ())]


def _either(answers: Sequence[str]) -> str:
    """Answers in words; of many in their order, the first and the last."""
    return " or ".join(answers) if len(answers) <= _MOST_TOLD else f"from {answers[0]} up to {answers[-1]}"


def predict_view(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """The ranking that is expected of a person."""
    on_step("learning from the survey", 0.2)
    rows = sample_rows(len(survey.rankings), _MOST_PEOPLE, check_generator(seed))
    part = _taken(survey, rows)
    person = params.get("person") or {}
    X, _, categorical = features_of(part.X, survey.feature_names, survey.categorical_features)
    columns = {column: np.array([_value(survey, column, person.get(column))], dtype=object) for column in survey.X}
    asked = features_of(columns, survey.feature_names, survey.categorical_features).X
    model = make_ranker("forest", categorical_features=categorical, random_state=seed)
    model.fit(X, part.rankings.comparable())
    expected = np.asarray(model.predict(asked))[0]
    items = part.rankings.comparable().items
    first, among = model.predict_top_proba(asked, k=1)[0], model.predict_top_proba(asked, k=min(3, len(items)))[0]
    order = np.argsort(expected, kind="stable")
    table_rows = [[f"{expected[i]:g}", short_name(items[i]), percent(first[i]), percent(among[i])] for i in order]
    note = "By a forest of ranking trees: how likely the item is to be first, and among the first 3, for such a person."
    if len(rows) < len(survey.rankings):
        note += f" Learned from a random sample of {len(rows):,} people; the code takes all."
    table = TextTable("Expected ranking", note, ["place", "item", "first", "among the first 3"], table_rows)
    joint = [(int(expected[i]), short_name(items[i])) for i in order]
    known = {
        name: None if value is None or value != value else value
        for name, value in zip(survey.X, asked[0].tolist(), strict=True)
    }
    return {
        "blocks": [blocks.places(joint), blocks.table("prediction", table, marked=[0])],
        "used": {"person": known, "categorical": categorical},
    }


def raters_view(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """Who agrees with the joint ranking, and who stands apart; each can be left out by a tick."""
    on_step("comparing people", 0.1)
    ids, names = _people(survey)
    found = raters(survey, names, random_state=seed)
    unnamed = names != ids
    first, *others = found.tables(_MOST_LISTED)
    shown = [
        *blocks.texts(found.sentences[:1], "lead"),
        _with_ticks(
            first._replace(title="People one by one"), dict(zip(names, ids, strict=True)), params["left_out"], unnamed
        ),
        *blocks.texts(found.sentences[1:]),
    ]
    on_map = np.flatnonzero(np.isfinite(found.coordinates).all(axis=1))
    if len(on_map) > 2:
        outliers = set(found.outliers.tolist())
        points = [
            {
                "label": found.names[i],
                "x": float(found.coordinates[i, 0]),
                "y": float(found.coordinates[i, 1]),
                "group": "",
                "outlier": i in outliers,
                "text": f"{found.names[i]}: agrees with {percent(found.agreement[i])} of the joint ranking",
            }
            for i in on_map[:_MOST_POINTS].tolist()
        ]
        caption = "The closer two points, the more alike their rankings; people with the same ranking share a point."
        caption += " Marked: people who stand apart." if outliers else ""
        shown.append(blocks.chart("map", "Who ranks like whom", caption, {"type": "map", "points": points}))
    shown += [blocks.table(f"people-{i}", other._replace(note=""), folded=True) for i, other in enumerate(others)]
    return {"blocks": [*shown, *notes(found)]}


def _people(survey: Survey) -> tuple[list[str], list[str]]:
    """What ``leave_out`` calls the people of a survey, and their names: those of the file, else their rows."""
    known = survey.names if survey.names is not None else survey.id
    if known is not None:
        return [str(name) for name in known], [str(name) for name in known]
    rows = range(len(survey.rankings)) if survey.rows is None else survey.rows.tolist()
    return [str(row + 1) for row in rows], [f"row {row + 1}" for row in rows]


def _with_ticks(shown: TextTable, ids: dict[str, str], left_out: list[Any], unnamed: bool) -> Block:
    """The table of people with a tick for each who counts; those who are left out come first."""
    out = [str(name) for name in left_out]
    blank = [[f"row {name}" if unnamed else name, *[""] * (len(shown.columns) - 1)] for name in out]
    rows = [list(row) for row in shown.rows]
    columns = [column or "remark" for column in shown.columns]
    told = [j for j, name in enumerate(columns) if name != "remark" or any(row[j] for row in rows)]
    columns = [columns[j] for j in told]
    blank, rows = ([[row[j] for j in told] for row in part] for part in (blank, rows))
    note = shown.note.replace("that the name and", "that the person and")
    note += "; tau with the rest: 1 if the person ranks as the others do, -1 if the other way round" if note else ""
    block = blocks.table("people", shown._replace(rows=[*blank, *rows], columns=columns, note=note))
    here = [*out, *(ids.get(row[0], row[0]) for row in rows)]
    return {**block, "toggle": {"option": "leave_out", "ids": here, "off": out, "label": "Counts"}}


def robustness_view(survey: Survey, params: Params, seed: int, on_step: OnStep) -> dict[str, Any]:
    """Whether the winner hangs on few votes, groups or items."""
    on_step("counting the votes that decide", 0.1)
    by = {label: rows.tolist() for label, rows in survey.groups().items()} or None
    found = robustness(survey.rankings, _people(survey)[1], by=by)
    shown = blocks.texts(found.sentences[:1], "lead") + blocks.texts(found.sentences[1:])
    strengths = np.unique(np.abs(found.influence[found.influence != 0]))
    for number, table in enumerate(found.tables()):
        if table.title == "Notes":
            continue  # said below
        if table.title == "Influence of each vote" and len(strengths) < 2:  # a list of equals would only be long
            shown.append(blocks.text(f"{'; '.join(table.note.rstrip('.').split('; ')[:2])}."))
            continue
        if number == 0:  # its note is what stands above
            is_tie = any(len(winners) > 1 for each in found.margins for winners in (each.winners, each.new_winners))
            table = table._replace(note="Items with a comma between them share the first place." if is_tie else "")
        shown.append(blocks.table(f"robustness-{number}", table))
    shown += notes(found)
    return {"blocks": shown}


def _taken(survey: Survey, rows: Any) -> Survey:
    """The survey of some of its people."""
    if len(rows) == len(survey.rankings):
        return survey
    return replace(
        survey,
        rankings=survey.rankings[rows],
        X={name: column[rows] for name, column in survey.X.items()},
        id=None if survey.id is None else survey.id[rows],
        names=None if survey.names is None else survey.names[rows],
        scores=None if survey.scores is None else survey.scores[rows],
        by=None if survey.by is None else survey.by[rows],
        rows=None if survey.rows is None else survey.rows[rows],
    )


def _answers(survey: Survey, column: str) -> list[Any]:
    """The different answers in a column of features, in order, without blanks."""
    if column in survey.ordered:
        return list(survey.ordered[column])
    values = {value for value in survey.X[column].tolist() if value is not None and value == value}
    return sorted(values)


def _field(survey: Survey, column: str, title: str) -> dict[str, Any]:
    """A field of the form that describes a person."""
    answers = _answers(survey, column)
    if column in survey.categorical:
        given = survey.X[column].tolist()
        usual = str(max(answers, key=given.count)) if answers else ""
        listed = [str(answer) for answer in answers[:_MOST_ANSWERS]]
        return {"name": column, "title": title, "type": "choice", "answers": listed, "usual": usual}
    low, high = (float(answers[0]), float(answers[-1])) if answers else (0.0, 1.0)
    middle = float(np.nanmedian(survey.X[column])) if answers else 0.0
    return {"name": column, "title": title, "type": "number", "low": low, "high": high, "middle": middle}


def _value(survey: Survey, column: str, given: Any) -> Any:
    """What the form says of a feature; None or NaN if it says nothing."""
    if column in survey.categorical:
        known = {str(answer): answer for answer in _answers(survey, column)}
        return known.get(str(given))
    try:
        return float(given)
    except (TypeError, ValueError):
        return np.nan
