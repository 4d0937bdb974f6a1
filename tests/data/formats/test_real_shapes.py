"""Real files of many shapes: each is read with at most one option, to what pandas and their sources say."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from rankwise import Rankings, RankwiseFormatError
from rankwise.data.formats.detect import read_rankings, read_with_reading

nan = np.nan

# file: option, layout, kind, number of covariates, the columns of the places
POSITIONS = {
    "gss_job_values": ({}, "full", 20, slice(2, 7)),
    "consrankclass_evs": ({"unlisted": "below"}, "top-k", 7, slice(0, 4)),
    "consrankclass_irish": ({}, "tied", 6, slice(0, 5)),
    "consrankclass_univranks": ({}, "tied", 8, slice(0, 6)),
    "msmix_sports": ({}, "full", 31, slice(0, 8)),
    "msmix_read_genres": ({"unlisted": "below"}, "top-k", 7, slice(0, 11)),
    "msmix_antifragility": ({}, "full", 10, slice(0, 7)),
    "msmix_beers": ({}, "incomplete", 1, slice(0, 20)),
    "msmix_horror": ({}, "full", 0, slice(0, 5)),
    "prefmod_carconf": ({}, "incomplete", 3, slice(0, 6)),
    "prefmod_salad": ({}, "full", 0, slice(0, 4)),
}
# file: option, columns of the items shown, of the best and of the worst
TRIALS = {
    "plackettluce_beans": ({}, ["variety_a", "variety_b", "variety_c"], "best", "worst", (842, 10)),
    "gosset_breadwheat": (
        {"trait": "overall"},
        ["variety_a", "variety_b", "variety_c"],
        "overall_best",
        "overall_worst",
        (493, 16),
    ),
    "gosset_cassava": (
        {"trait": "taste"},
        ["option_a", "option_b", "option_c"],
        "taste_pos",
        "taste_neg",
        (1000, 13),
    ),
}
# The item with the lowest mean place among those that ranked it.
WINNERS = {
    "gss_job_values": "jobmeans",
    "consrankclass_evs": "A",
    "consrankclass_irish": "McAl",
    "consrankclass_univranks": "L",
}


@pytest.fixture
def folder(benchmark_data):
    return benchmark_data / "rankings-with-covariates"


@pytest.mark.parametrize("name", sorted(POSITIONS))
def test_places_are_those_of_the_file(folder, name):
    options, kind, n_covariates, columns = POSITIONS[name]
    rankings, covariates, reading = read_with_reading(folder / f"{name}.csv.gz", **options)
    frame = pandas.read_csv(folder / f"{name}.csv.gz")
    places = frame.iloc[:, columns]
    assert reading.layout == "positions"
    assert rankings.items == tuple(column.removeprefix("rank_") for column in places.columns)
    blank = np.inf if options else nan
    np.testing.assert_array_equal(rankings.positions, Rankings(places.fillna(blank).to_numpy(float)).positions)
    assert rankings.kind == kind
    assert len(covariates) == n_covariates
    assert reading.blanks == {"top-k": "below", "incomplete": "missing"}.get(kind, "no blanks")


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_trials_of_three_items(folder, name):
    options, shown, best, worst, shape = TRIALS[name]
    rankings, covariates, reading = read_with_reading(folder / f"{name}.csv.gz", **options)
    frame = pandas.read_csv(folder / f"{name}.csv.gz", keep_default_na=False)
    assert (reading.layout, rankings.shape) == ("tricot", shape)
    assert not any(column.endswith(("_best", "_worst", "_pos", "_neg")) for column in covariates)
    for row in range(len(frame)):
        items = frame.loc[row, shown].tolist()
        answers = frame.loc[row, best], frame.loc[row, worst]
        expected = dict.fromkeys(items, 2.0) if all(answers) else {}
        for letter, place in zip(answers, (1.0, 3.0), strict=True):
            expected |= {items["ABC".index(letter)]: place} if letter else {}
        found = {
            str(item): place
            for item, place in zip(rankings.items, rankings.positions[row], strict=True)
            if not np.isnan(place)
        }
        assert found == expected


def test_a_trial_in_long_form(folder):
    path = folder / "gosset_nicabean_trial.csv.gz"
    with pytest.raises(RankwiseFormatError, match="has a position on line 2 already") as caught:
        read_rankings(path)
    rankings, covariates = read_rankings(path, return_covariates=True, **caught.value.choices[0])
    frame = pandas.read_csv(path)
    assert len(rankings) == frame.groupby(["id", "trait"]).ngroups
    assert rankings.n_items == frame["item"].nunique()
    assert set(covariates) == {"id", "trait"}
    assert np.nansum(np.isfinite(rankings.positions)) == len(frame)


def test_covariates_alone_are_told(folder):
    with pytest.raises(RankwiseFormatError, match=r"look like items shown .* no columns are named best and worst"):
        read_rankings(folder / "gosset_nicabean_covar.csv.gz")


@pytest.mark.parametrize("name", sorted(WINNERS))
def test_who_leads(folder, name):
    rankings = read_rankings(folder / f"{name}.csv.gz")
    means = np.nanmean(np.where(np.isfinite(rankings.positions), rankings.positions, nan), axis=0)
    assert rankings.items[int(means.argmin())] == WINNERS[name]


def test_every_file_is_looked_at(folder):
    read = {*POSITIONS, *TRIALS, "gosset_nicabean_trial", "gosset_nicabean_covar"}
    assert {path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz")} == read
