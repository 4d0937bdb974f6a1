"""The same numbers without the page: each view as Python code and as a command.

The options of a project are those of `rankwise.data.read_survey`, and the views call the functions that stand here.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankwise.studio.blocks import Params
from rankwise.studio.search_views import METRICS, SHOWN_FEATURES, SHOWN_QUERIES, SearchFile
from rankwise.studio.surveys import arguments

# The commands of each view with their options, and the calls in Python.
_COMMANDS: Mapping[str, Sequence[tuple[str, str]]] = {
    "data": [("describe", "")],
    "consensus": [
        ("consensus", "--method {method} --bootstrap {n_resamples} --seed {seed}"),
        ("consensus", "--method {rules} --seed {seed}"),
        ("describe", ""),
    ],
    "pairs": [("describe", "--out tables.xlsx")],
    "groups": [("compare", "--seed {seed}"), ("describe", "")],
    "segments": [
        ("segments", "-n {n} --model {model} --max-segments {max_segments} --starts 3 --bootstrap 10 --seed {seed}")
    ],
    "drivers": [("drivers", "--seed {seed}")],
    "predict": [("fit", "-o model.rankwise --seed {seed}")],
    "raters": [("raters", "--seed {seed}")],
    "robustness": [("robustness", "")],
    "downloads": [("report", "--seed {seed}")],
}
_CALLS = {
    "data": "print(survey)",
    "consensus": "print(analysis.consensus(survey, {method!r}, n_resamples={n_resamples}, random_state={seed}))\n"
    "print(analysis.consensus(survey, {methods!r}, random_state={seed}))\n"
    "print(analysis.summary(survey))",
    "pairs": "facts = analysis.summary(survey)\nprint(facts.pairs.to_frame())\nprint(facts.marginals_frame())",
    "groups": "print(analysis.compare_groups(survey, random_state={seed}))\n"
    "print(analysis.group_results(survey.rankings, survey.groups(), by=survey.by_name, random_state={seed}))",
    "segments": "print(analysis.segments(survey, n={n!r}, model={model!r}, max_segments={max_segments}, n_init=3, "
    "n_bootstrap=10, random_state={seed}))",
    "drivers": "print(analysis.drivers(survey, feature_names=survey.feature_names, random_state={seed}))\n"
    "print(analysis.drivers_tree(survey, feature_names=survey.feature_names).export_text())",
    "raters": "print(analysis.raters(survey, random_state={seed}))",
    "robustness": "print(analysis.robustness(survey))",
    "predict": "X = np.column_stack(list(survey.X.values()))\n"
    "forest = RankingForest(categorical_features={categorical!r}, random_state={seed})\n"
    "forest.fit(X, survey.rankings.comparable())\n"
    "person = np.array([{row!r}], dtype=object)\n"
    "places, first = forest.predict(person)[0], forest.predict_top_proba(person, k=1)[0]\n"
    "among = forest.predict_top_proba(person, k=min(3, len(places)))[0]\n"
    "for i in places.argsort(kind='stable'):\n"
    "    print(f'{{places[i]:g}} {{forest.items_[i]}} {{first[i]:.0%}} {{among[i]:.0%}}')",
    "downloads": "result = rankwise.analyze(survey, random_state={seed})\n"
    'result.save_html("report.html")\nresult.to_excel("tables.xlsx")',
}
_IMPORTS = {
    "downloads": ["import rankwise", "from rankwise.data import read_survey"],
    "predict": [
        "import numpy as np",
        "from rankwise.data import read_survey",
        "from rankwise.label_ranking import RankingForest",
    ],
}
# Options with a flag of their own in all commands, or in some; others go through --read. The features of segments would
# be used to find them, which the page does not do.
_FLAGS = ("layout", "target", "id", "weight")
_FLAGS_OF = {
    "describe": ("by", "features", "ignore"),
    "consensus": ("by",),
    "compare": ("by",),
    "drivers": ("features", "ignore"),
    "fit": ("features", "ignore"),
    "robustness": ("by",),
    "report": ("by", "features", "ignore"),
}
# Lists that --read takes with commas; others must be lists of Python.
_WITH_COMMAS = ("items", "columns", "judges", "leave_out")
_DEFAULTS: Params = {
    "method": "kemeny",
    "methods": ["kemeny", "borda"],
    "n": "bic",
    "model": "mallows",
    "categorical": None,
    "max_segments": 6,
    "n_resamples": 200,
}


def code_of(view: str, name: str, options: Mapping[str, Any], params: Params) -> dict[str, str]:
    """What gives the numbers of a view again.

    Parameters
    ----------
    view : str
        The view.
    name : str
        The file, as the user calls it.
    options : mapping
        The options of the project.
    params : mapping
        The parameters of the view.

    Returns
    -------
    dict
        ``python`` and ``command``, which may be several lines.

    Examples
    --------
    >>> code = code_of("raters", "drinks.csv", {"layout": "scores", "target": ["tea", "milk"]}, {})
    >>> print(code["command"])
    rankwise raters drinks.csv --layout scores --target tea,milk --seed 0
    >>> print(code["python"].splitlines()[3])
    survey = read_survey('drinks.csv', layout='scores', target=['tea', 'milk'])
    """
    given = arguments(options)
    seed = int(options.get("seed") or 0)
    if view == "groups" and params.get("by"):
        given["by"] = params["by"]
    called = "".join(f", {key}={value!r}" for key, value in given.items())
    used = {**_DEFAULTS, **{key: value for key, value in params.items() if value}}
    used |= {"row": list((used.get("person") or {}).values())}
    call = _CALLS.get(view, _CALLS["data"]).format(**used, seed=seed)
    python = "\n".join(
        [
            *_IMPORTS.get(view, ["from rankwise import analysis", "from rankwise.data import read_survey"]),
            "",
            f"survey = read_survey({name!r}{called})",
            call,
        ]
    )
    commands = []
    for command, own in _COMMANDS.get(view, _COMMANDS["data"]):
        if "{rules}" in own and len(used["methods"]) < 2:
            continue  # there is nothing to compare
        flags = (*_FLAGS, *_FLAGS_OF.get(command, ()))
        words = ["rankwise", command, name, *(word for item in given.items() for word in _option(*item, flags))]
        words += own.format(**used, rules=",".join(used["methods"]), seed=seed).split()
        commands.append(shlex.join(words))
    if view == "predict":
        commands.append(_predicting(used.get("person") or {}))
    return {"python": f"{python}\n", "command": "\n".join(commands)}


def search_code_of(
    view: str, files: Sequence[SearchFile], options: Mapping[str, Any], params: Params
) -> dict[str, str]:
    """What measures search results again, or explains them.

    Parameters
    ----------
    view : str
        The view.
    files : sequence of SearchFile
        The files of the project.
    options : mapping
        The options of the project.
    params : mapping
        The parameters of the view.

    Returns
    -------
    dict
        ``python`` and ``command``; both are empty where a file is missing.
    """
    seed = int(options.get("seed") or 0)
    metrics = list(params.get("metrics") or METRICS)
    letor = next((file.name for file in files if file.role == "letor"), None)
    qrels = next((file.name for file in files if file.role == "qrels"), None)
    runs = params.get("runs") or [file.name for file in files if file.role == "run"]
    if letor is not None and "query" in params and "rows" in params:
        return _explaining_code(letor, seed, params)
    if letor is not None:
        python = [
            "from rankwise.data import read_letor",
            "from rankwise.ltr import LambdaMART, LinearRanker",
            "from rankwise.model_selection import evaluate_rankers",
            "",
            f"X, y, qid = read_letor({letor!r})",
            f"rankers = {{'linear': LinearRanker(random_state={seed}), 'lambdamart': LambdaMART(random_state={seed})}}",
            f"result = evaluate_rankers(rankers, X, y, qid, {metrics!r}, random_state={seed})",
        ]
        words = ["--letor", letor, "--train", "linear", "--train", "lambdamart"]
    elif qrels is not None and runs and view != "explain":
        python = [
            "from rankwise.data import read_qrels, read_run",
            "from rankwise.model_selection import evaluate_runs",
            "",
            f"runs = {{name: read_run(name) for name in {runs!r}}}",
            f"result = evaluate_runs(read_qrels({qrels!r}), runs, {metrics!r}, random_state={seed})",
        ]
        words = [qrels, *runs]
    else:
        return {"python": "", "command": ""}
    words = ["rankwise", "rank-evaluate", *words, *(word for metric in metrics for word in ("-m", metric))]
    if view == "queries":
        python.append(f"print(*result.tables(worst={SHOWN_QUERIES}), sep='\\n\\n')")
        words += ["--worst", str(SHOWN_QUERIES)]
    else:
        python.append("print(result)")
    return {"python": "\n".join(python) + "\n", "command": shlex.join([*words, "--seed", str(seed)])}


def _explaining_code(letor: str, seed: int, params: Params) -> dict[str, str]:
    """What says again why one document stands above another."""
    i, j = params["rows"]
    above, below = params["called"]
    python = [
        "from rankwise.data import read_letor",
        "from rankwise.ltr import LambdaMART",
        "",
        f"X, y, qid = read_letor({letor!r})",
        f"ranker = LambdaMART(random_state={seed}).fit(X, y, qid=qid)",
        f"documents = X[qid.astype(str) == {params['query']!r}]",
        f"for number, effect in enumerate(ranker.explain(documents, {i}, {j}).effects, 1):",
        "    print(f'feature {number}: {effect:+.3f}')",
        "print(ranker.predict(documents).round(3))",
    ]
    train = ["rankwise", "rank-train", letor, "-o", "model.rankwise", "--hold-out", "0", "--seed", str(seed)]
    explain = ["rankwise", "rank-explain", "model.rankwise", letor, "--query", params["query"]]
    explain += ["--above", above, "--below", below, "--top", str(SHOWN_FEATURES)]
    return {"python": "\n".join(python) + "\n", "command": f"{shlex.join(train)}\n{shlex.join(explain)}"}


def _predicting(person: Mapping[str, Any]) -> str:
    """The command that predicts for one person, whose answers go through a pipe; unknown ones are blank."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows([person, ["" if value is None else value for value in person.values()]])
    return f"printf '%s\\n' {shlex.join(table.getvalue().splitlines())} | rankwise predict model.rankwise -"


def _option(key: str, value: Any, flags: Sequence[str]) -> list[str]:
    """An argument of `read_survey` as words of a command that has these flags."""
    if key == "invalid":
        return ["--drop-bad-rows"]
    if key == "features" and key not in flags:  # they change nothing there
        return []
    if key == "where":
        conditions = [f"{column}={'|'.join(map(str, _listed(answers)))}" for column, answers in value.items()]
        is_plain = _are_plain([*value, *(answer for answers in value.values() for answer in _listed(answers))])
        return ["--read", f"where={','.join(conditions) if is_plain else _literal(value)}"]
    if not isinstance(value, list | tuple):
        text = str(value) if key in flags or not isinstance(value, str) or _is_text(value) else _literal(value)
        return [f"--{key}", text] if key in flags else ["--read", f"{key}={text}"]
    text = ",".join(map(str, value))
    if _are_plain(value) and (key in flags or key in _WITH_COMMAS):
        return [f"--{key}", text] if key in flags else ["--read", f"{key}={text}"]
    return ["--read", f"{key}={_literal(value)}"]


def _literal(value: Any) -> str:
    """A text, or texts, as Python writes them, in double quotes, which shells leave alone between single ones."""
    return json.dumps(value, ensure_ascii=False)


def _are_plain(names: Iterable[Any]) -> bool:
    """Whether names can stand side by side with commas, = and | between them."""
    return all(str(name) == str(name).strip() and not set(str(name)) & set(',=|"[]()') and str(name) for name in names)


def _is_text(word: str) -> bool:
    """Whether the command line takes a word for text, and not for a number."""
    try:
        return isinstance(ast.literal_eval(word), str)
    except (ValueError, SyntaxError):
        return word.lower() not in ("true", "false", "none", "null")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
