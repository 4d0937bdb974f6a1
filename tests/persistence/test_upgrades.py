"""Files of earlier formats are brought up to date by tables of what was renamed."""

from __future__ import annotations

import json

import pytest

import rankwise
from rankwise import RankwiseFormatError
from rankwise.label_ranking import DummyRanker, LabelwiseRanker, RankingTree
from rankwise.persistence import upgrades
from rankwise.persistence.object_graph import decode
from rankwise.persistence.upgrades import CHANGES, FORMAT_VERSION, Change, upgraded
from tests.persistence.damage import with_manifest
from tests.persistence.make_golden import GOLDEN


def manifest_of(*objects):
    return {"class": objects[-1]["class"], "objects": list(objects)}


def record_of(name, parameters=None, state=None):
    return {"class": name, "parameters": parameters or {}, "state": state or {}}


@pytest.fixture
def next_step(monkeypatch):
    """A step after the last one, as a function from changes and objects to the objects of the new format."""

    def step(changes, *objects):
        monkeypatch.setattr(upgrades, "FORMAT_VERSION", FORMAT_VERSION + 1)
        monkeypatch.setitem(CHANGES, FORMAT_VERSION, changes)
        return upgraded(manifest_of(*objects), FORMAT_VERSION)

    return step


PARAMETERS = json.loads((GOLDEN / "1-parameters.json").read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_all_parameters_of_format_1_are_understood(name):
    defaults = {parameter: values[0] for parameter, values in PARAMETERS[name].items()}
    for parameter, values in PARAMETERS[name].items():
        for value in values:
            new = upgraded(manifest_of(record_of(name, {**defaults, parameter: value})), 1)
            decode(new["objects"], [], 2**20, new["class"])  # checks parameters as fit does


def test_there_is_a_table_for_every_step():
    assert list(CHANGES) == list(range(1, FORMAT_VERSION))


def test_parameters_values_attributes_and_classes_are_renamed(next_step):
    change = Change(
        parameters={"rule": "decode", "verbose": None},
        values={"decode": {"median": "kemeny"}, "depth": {"deep": 5}},
        state={"_centre": "_center", "_cache": None},
        name="New",
    )
    old = record_of("Old", {"rule": "median", "verbose": 1, "depth": 3}, {"_centre": {"array": 0}, "_cache": 1, "b": 2})
    new = next_step({"Old": change}, record_of("Other", {"rule": "median"}), old)
    assert new["class"] == "New"
    assert new["objects"] == [
        record_of("Other", {"rule": "median"}),
        record_of("New", {"decode": "kemeny", "depth": 3}, {"_center": {"array": 0}, "b": 2}),
    ]


def test_functions_may_change_a_record_and_wrap_what_it_refers_to(next_step):
    def wrap(record, before):
        assert before[record["state"]["trees"]["object"]]["class"] == "Trees"
        before.append(record_of("Wrapped", state={"inner": record["state"]["trees"]}))
        record["state"]["trees"] = {"object": len(before) - 1}

    boosted = record_of("Boosted", state={"trees": {"object": 0}})
    last = record_of("Two", state={"both": [{"object": 1}, {"tuple": [{"object": 0}, {"object": 1}]}]})
    new = next_step({"Boosted": Change(then=wrap)}, record_of("Trees"), boosted, last)
    assert new["objects"] == [
        record_of("Trees"),
        record_of("Wrapped", state={"inner": {"object": 0}}),
        record_of("Boosted", state={"trees": {"object": 1}}),
        record_of("Two", state={"both": [{"object": 2}, {"tuple": [{"object": 0}, {"object": 2}]}]}),
    ]


def test_steps_are_taken_one_after_the_other_when_a_file_is_loaded(tmp_path, monkeypatch):
    path = tmp_path / "model.rankwise"
    rankwise.save(LabelwiseRanker(RankingTree(max_depth=3)), path)

    def rename(manifest):
        tree = manifest["objects"][0]
        tree["parameters"]["deepest"] = tree["parameters"].pop("max_depth")

    with_manifest(path, rename)
    monkeypatch.setattr(upgrades, "FORMAT_VERSION", FORMAT_VERSION + 2)
    monkeypatch.setattr("rankwise.persistence.files.FORMAT_VERSION", FORMAT_VERSION + 2)
    monkeypatch.setitem(CHANGES, FORMAT_VERSION, {"RankingTree": Change({"deepest": "depth"})})
    monkeypatch.setitem(CHANGES, FORMAT_VERSION + 1, {"RankingTree": Change({"depth": "max_depth"})})
    assert rankwise.load(path).regressor.max_depth == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest.update(objects=7),
        lambda manifest: manifest.update(objects=[7]),
        lambda manifest: manifest["objects"].insert(0, {}),
        lambda manifest: manifest["objects"][-1].update({"class": ["DummyRanker"]}),
        lambda manifest: manifest["objects"][-1]["parameters"].update(random_state={"object": 0}),
        lambda manifest: manifest["objects"][-1]["parameters"].update(random_state={"object": -1}),
        lambda manifest: manifest.pop("class"),
    ],
)
def test_damaged_files_of_earlier_formats_are_refused(change, tmp_path):
    path = tmp_path / "model.rankwise"
    rankwise.save(DummyRanker(), path)
    with_manifest(path, lambda manifest: manifest.update(format_version=1))
    with_manifest(path, change)
    with pytest.raises(RankwiseFormatError):
        rankwise.load(path)
