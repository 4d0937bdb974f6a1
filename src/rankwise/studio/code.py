"""The same numbers without the page: each view as Python code and as a command.

The options of a project are those of `rankwise.data.read_survey`, and the views call the functions that stand here.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rankwise.studio.blocks import Params
from rankwise.studio.search_views import METRICS, SearchFile
from rankwise.studio.surveys import arguments

# The command of each view, and the call in Python.
_COMMANDS = {
    "data": "describe",
    "consensus": "consensus",
    "pairs": "describe",
    "groups": "compare",
    "segments": "segments",
    "drivers": "drivers",
    "raters": "raters",
    "robustness": "robustness",
    "downloads": "report",
}
_CALLS = {
    "data": "print(survey)",
    "consensus": "print(analysis.consensus(survey, {method!r}, n_resamples={n_resamples}, random_state={seed}))\n"
    "print(analysis.consensus(survey, {methods!r}, random_state={seed}))",
    "pairs": "facts = analysis.summary(survey)\nprint(facts.pairs.to_frame())\nprint(facts.marginals_frame())",
    "groups": "print(analysis.compare_groups(survey, random_state={seed}))",
    "segments": "print(analysis.segments(survey, n={n!r}, model={model!r}, max_segments={max_segments}, n_init=3, "
    "n_bootstrap=10, random_state={seed}))",
    "drivers": "print(analysis.drivers(survey, random_state={seed}))\n"
    "print(analysis.drivers_tree(survey).export_text())",
    "raters": "print(analysis.raters(survey, random_state={seed}))",
    "robustness": "print(analysis.robustness(survey))",
    "downloads": "result = rankwise.analyze(survey, random_state={seed})\n"
    'result.save_html("report.html")\nresult.to_excel("tables.xlsx")',
}
# Options with a flag of their own; others go through --read. Some commands have no use for some of them.
_FLAGS = ("layout", "target", "id", "weight", "by", "features", "ignore")
_UNKNOWN = {
    "consensus": ("features", "ignore"),
    "groups": ("features", "ignore"),
    "segments": ("by", "ignore"),
    "drivers": ("by",),
    "raters": ("by", "features", "ignore"),
    "robustness": ("features", "ignore"),
}
_DEFAULTS: Params = {
    "method": "kemeny",
    "methods": ["kemeny", "borda"],
    "n": "bic",
    "model": "mallows",
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
        ``python`` and ``command``.

    Examples
    --------
    >>> code = code_of("consensus", "drinks.csv", {"layout": "scores", "target": ["tea", "milk"]}, {})
    >>> print(code["command"])
    rankwise consensus drinks.csv --layout scores --target tea,milk --method kemeny --bootstrap 200 --seed 0
    >>> print(code["python"].splitlines()[3])
    survey = read_survey('drinks.csv', layout='scores', target=['tea', 'milk'])
    """
    given = arguments(options)
    seed = int(options.get("seed") or 0)
    if view == "groups" and params.get("by"):
        given["by"] = params["by"]
    called = "".join(f", {key}={value!r}" for key, value in given.items())
    used = {**_DEFAULTS, **{key: value for key, value in params.items() if value}}
    call = _CALLS.get(view, _CALLS["data"]).format(**used, seed=seed)
    python = "\n".join(
        [
            "import rankwise" if view == "downloads" else "from rankwise import analysis",
            "from rankwise.data import read_survey",
            "",
            f"survey = read_survey({name!r}{called})",
            call,
        ]
    )
    words = ["rankwise", _COMMANDS.get(view, "describe"), name]
    for key, value in given.items():
        words += [] if key in _UNKNOWN.get(view, ()) else _option(key, value)
    if view == "consensus":
        words += ["--method", used["method"], "--bootstrap", str(used["n_resamples"])]
    elif view == "segments":
        words += ["-n", str(used["n"]), "--model", used["model"], "--max-segments", str(used["max_segments"])]
        words += ["--starts", "3", "--bootstrap", "10"]
    words += [] if view in ("data", "pairs", "robustness") else ["--seed", str(seed)]
    return {"python": f"{python}\n", "command": shlex.join(words)}


def search_code_of(files: Sequence[SearchFile], options: Mapping[str, Any], params: Params) -> dict[str, str]:
    """What measures search results again.

    Parameters
    ----------
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
    if letor is not None:
        python = [
            "from rankwise.data import read_letor",
            "from rankwise.ltr import LambdaMART, LinearRanker",
            "from rankwise.model_selection import evaluate_scores, train_test_split_by_query",
            "",
            f"X, y, qid = read_letor({letor!r})",
            "X_train, X_test, y_train, y_test, qid_train, qid_test = train_test_split_by_query(",
            f"    X, y, qid=qid, test_size=0.2, random_state={seed}",
            ")",
            f"rankers = {{'linear': LinearRanker(random_state={seed})}}",
            f"rankers['lambdamart'] = LambdaMART(100, random_state={seed})",
            "scores = {}",
            "for name, ranker in rankers.items():",
            "    scores[name] = ranker.fit(X_train, y_train, qid=qid_train).predict(X_test)",
            f"print(evaluate_scores(y_test, scores, qid_test, {metrics!r}, random_state={seed}))",
        ]
        words = ["rankwise", "rank-train", letor, "-o", "model.rankwise", "--seed", str(seed)]
        return {"python": "\n".join(python) + "\n", "command": shlex.join(words)}
    qrels = next((file.name for file in files if file.role == "qrels"), None)
    runs = [file.name for file in files if file.role == "run"]
    if qrels is None or not runs:
        return {"python": "", "command": ""}
    python = [
        "from rankwise.data import read_qrels, read_run",
        "from rankwise.model_selection import evaluate_runs",
        "",
        f"runs = {{name: read_run(name) for name in {runs!r}}}",
        f"print(evaluate_runs(read_qrels({qrels!r}), runs, {metrics!r}, random_state={seed}))",
    ]
    words = ["rankwise", "rank-evaluate", qrels, *runs]
    words += [word for metric in metrics for word in ("-m", metric)] + ["--seed", str(seed)]
    return {"python": "\n".join(python) + "\n", "command": shlex.join(words)}


def _option(key: str, value: Any) -> list[str]:
    """An argument of `read_survey` as words of the command line."""
    if key == "where":
        conditions = [f"{column}={'|'.join(map(str, _listed(answers)))}" for column, answers in value.items()]
        return ["--read", f"where={','.join(conditions)}"]
    if key == "invalid":
        return ["--drop-bad-rows"]
    text = ",".join(map(str, _listed(value)))
    if key in ("items", "columns") or key not in _FLAGS:
        return ["--read", f"{key}={text}"]
    return [f"--{key}", text]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
