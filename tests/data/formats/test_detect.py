from __future__ import annotations

import gzip
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from rankwise import Rankings, RankwiseFormatError
from rankwise.data.formats.detect import read_rankings
from tests.data.formats.mutations import damaged
from tests.data.formats.survey_files import VALID, written

inf, nan = np.inf, np.nan

PREFLIB = "# FILE NAME: x.soi\n# DATA TYPE: soi\n# NUMBER ALTERNATIVES: 2\n# NUMBER VOTERS: 3\n"
PREFLIB += "# NUMBER UNIQUE ORDERS: 2\n# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n2: 1,2\n1: 2\n"
XARFF = "% toy\n@relation toy\n@attribute x real\n@attribute y ranking {tea,milk}\n@data\n1,tea>milk\n2,milk\n"


@pytest.mark.parametrize("name", ["x.soi", "x.txt", "x.csv", "x"])
@pytest.mark.parametrize("packed", [False, True])
def test_preflib_by_extension_and_by_content(tmp_path, name, packed):
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(PREFLIB.encode()) if packed else PREFLIB.encode())
    np.testing.assert_array_equal(read_rankings(path).positions, [[1, 2], [inf, 1]])
    rankings, covariates = read_rankings(path, unlisted="missing", return_covariates=True)
    np.testing.assert_array_equal(rankings.positions, [[1, 2], [nan, 1]])
    assert covariates == {}


def test_columns_named_like_the_items_do_not_give_the_rankings_away(tmp_path):
    """Files of labels in order and, once more, as positions: features, then the ranking, then a column per label."""
    text = "A1,ranking,a,b,c\n0.5,a>b>c,1,2,3\n0.7,b>c>a,3,1,2\n"
    with pytest.warns(UserWarning, match="columns 'a', 'b', 'c' are named like the items"):
        rankings, covariates = read_rankings(written(tmp_path, text), return_covariates=True)
    np.testing.assert_array_equal(rankings.positions, [[1, 2, 3], [3, 1, 2]])
    assert list(covariates) == ["A1"]
    # A single one may mean something else.
    some = "A1,ranking,a\n0.5,a>b>c,1\n0.7,b>c>a,3\n"
    assert list(read_rankings(written(tmp_path, some), return_covariates=True)[1]) == ["A1", "a"]


@pytest.mark.parametrize("name", ["x.xarff", "x.ARFF", "x.dat"])
def test_xarff_by_extension_and_by_content(tmp_path, name):
    path = written(tmp_path, XARFF, name)
    rankings, covariates = read_rankings(path, return_covariates=True)
    np.testing.assert_array_equal(rankings.positions, [[1, 2], [nan, 1]])
    assert covariates["x"].tolist() == [1, 2]
    np.testing.assert_array_equal(read_rankings(path, unlisted="below").positions, [[1, 2], [inf, 1]])


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        ("2 qid:10 1:0.5 2:1 # doc\n0 qid:10 1:0.1\n", "read_letor"),
        ("# comment\n1.0 qid:x 7:3\n", "read_letor"),
        ("301 0 FR940202-2-00150 1\n301 0 FR940202-2-00151 0\n", "read_qrels"),
        ("301 Q0 FR940202 1 12.5 bm25\n301 Q0 FR940203 2 -1e-3 bm25\n", "read_run"),
    ],
)
def test_retrieval_files_are_sent_to_their_reader(tmp_path, text, reader):
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(written(tmp_path, text, "file.txt"))
    assert caught.value.cure == f"Use {reader}."


def test_unknown_layout_and_missing_file(tmp_path):
    with pytest.raises(ValueError, match="choose 'auto', 'positions'"):
        read_rankings(tmp_path / "x.csv", layout="wide")
    with pytest.raises(RankwiseFormatError, match="no such file"):
        read_rankings(tmp_path / "x.csv")


FOUND = {
    "a known prefix": ("age,rank_tea,rank_milk\n31,1,2\n47,2,1\n", ("tea", "milk"), [[1, 2], [2, 1]]),
    "another prefix, in capitals": ("Y_tea;Y_milk\n1;2\n1;1\n", ("tea", "milk"), [[1, 2], [1, 1]]),
    "a prefix beside numbered covariates": ("x1,x2,y_a,y_b\n3,4,1,2\n4,3,2,1\n", ("a", "b"), [[1, 2], [2, 1]]),
    "the whole table": ("tea,milk,juice\n1,3,2\n,1,2\n", ("tea", "milk", "juice"), [[1, 3, 2], [nan, 1, 2]]),
    "the whole table with ties": (
        "tea,milk,juice\n1.5,3,1.5\n1,2,3\n",
        ("tea", "milk", "juice"),
        [[1, 2, 1], [1, 2, 3]],
    ),
    "numbered columns with ties": ("rank_1,rank_2\n1,1\n1,2\n", ("1", "2"), [[1, 1], [1, 2]]),
    "places": ("id,choice_2,choice_1\n7,milk,tea\n8,,milk\n", ("tea", "milk"), [[1, 2], [inf, 1]]),
    "places in words": ("First choice,Second choice\ntea,milk\nmilk,tea\n", ("tea", "milk"), [[1, 2], [2, 1]]),
    "places in brackets": ("q1[1],q1[2]\ntea,milk\nmilk,tea\n", ("tea", "milk"), [[1, 2], [2, 1]]),
    "strings": ("age,drinks\n31,tea>milk\n47,milk\n", ("tea", "milk"), [[1, 2], [inf, 1]]),
    "JSON": ('drinks\n"[""tea"", ""milk""]"\n"[""milk""]"\n', ("tea", "milk"), [[1, 2], [inf, 1]]),
    "long": ("Person,Item,Rank\n1,tea,1\n1,milk,2\n2,milk,1\n", ("tea", "milk"), [[1, 2], [nan, 1]]),
    "strings where all is tied": ("x,y\n1,tea>milk\n2,tea~milk\n", ("tea", "milk"), [[1, 2], [1, 1]]),
    "strings with braces": ("x;y\n1;a>b>c\n2;a>{b,c}\n", ("a", "b", "c"), [[1, 2, 3], [1, 2, 2]]),
    "left and right": ("left,right,winner\ntea,milk,right\n", ("milk", "tea"), [[1, 2]]),
    "pairwise": ("loser,winner\nmilk,tea\ntea,juice\n", ("tea", "milk", "juice"), [[1, 2, nan], [2, nan, 1]]),
}


@pytest.mark.parametrize("name", sorted(FOUND))
def test_clear_layouts_are_found(tmp_path, name):
    text, items, positions = FOUND[name]
    rankings = read_rankings(written(tmp_path, text))
    assert rankings.items == items
    np.testing.assert_array_equal(rankings.positions, positions)


def test_unlisted_reaches_the_reader(tmp_path):
    path = written(tmp_path, "rank_tea,rank_milk\n1,\n1,2\n")
    np.testing.assert_array_equal(read_rankings(path, unlisted="below").positions, [[1, inf], [1, 2]])
    path = written(tmp_path, "choice_1,choice_2\ntea,milk\nmilk,\n")
    np.testing.assert_array_equal(read_rankings(path, unlisted="missing").positions, [[1, 2], [nan, 1]])


@pytest.mark.parametrize(
    ("text", "options", "positions"),
    [
        ("tea,milk,age\n1,2,31\n2,1,47\n", {"items": ["milk", "tea"]}, [[2, 1], [1, 2]]),
        ("r.tea,r.milk,age\n1,2,31\n2,1,47\n", {"prefix": "r."}, [[1, 2], [2, 1]]),
        ("r.x,r.y,age\ntea,milk,31\nmilk,,47\n", {"prefix": "r."}, [[1, 2], [inf, 1]]),
        ("x,y,age\ntea,milk,31\nmilk,tea,47\n", {"columns": ["x", "y"]}, [[1, 2], [2, 1]]),
        ("x,age\ntea milk,31\nmilk tea,47\n", {"column": "x", "separator": " "}, [[1, 2], [2, 1]]),
        ("x,y,z\n1,tea,1\n1,milk,2\n", {"respondent": "x", "item": "y", "position": "z"}, [[1, 2]]),
        ("x,y\ntea,milk\n", {"winner": "x", "loser": "y"}, [[1, 2]]),
        ("choice_1,choice_2\ntea,milk\nmilk,tea\n", {"items": ["milk", "tea"]}, [[2, 1], [1, 2]]),
    ],
)
def test_options_settle_the_layout(tmp_path, text, options, positions):
    np.testing.assert_array_equal(read_rankings(written(tmp_path, text), **options).positions, positions)


@pytest.mark.parametrize(
    "text", ["rank_a,rank_b,age\n1,2,31\n2,1,47\n", "rank_a,rank_b\n1,2\n2,1\n", "rank_a,rank_b,x\n3,2,y\n7,2,z\n"]
)
@pytest.mark.parametrize("items", [["rank_a", "rank_x"], ["rank_x", "rank_b"]])
@pytest.mark.parametrize("options", [{}, {"layout": "positions"}])
def test_mistyped_columns_are_named(tmp_path, text, items, options):
    with pytest.raises(RankwiseFormatError, match=r"no column 'rank_x'\. The columns are 'rank_a', 'rank_b'"):
        read_rankings(written(tmp_path, text), items=items, **options)


def test_columns_that_are_all_mistyped(tmp_path):
    path = written(tmp_path, "rank_a,rank_b,age\n1,2,31\n2,1,47\n")
    with pytest.raises(RankwiseFormatError, match="there is no column 'a'"):
        read_rankings(path, items=["a", "b"])


def test_items_come_in_any_kind_of_list(tmp_path):
    import pandas

    path = written(tmp_path, "tea,milk,age\n1,2,31\n2,1,47\n")
    names = pandas.read_csv(path).columns[:2]
    for items in (names, names.to_numpy(), iter(names), tuple(names)):
        assert read_rankings(path, items=items).items == ("tea", "milk")
    path = written(tmp_path, "choice_1,choice_2\ntea,milk\nmilk,tea\n")
    assert read_rankings(path, items=(name for name in ("milk", "tea"))).items == ("milk", "tea")
    with pytest.raises(TypeError, match="items is 'tea'; give a list of names"):
        read_rankings(path, items="tea")


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        (
            "x.csv",
            "rank_a,rank_b\n1,2\n",
            {"foo": 1},
            "no option 'foo' for the layout 'positions'; the options are items, ",
        ),
        ("x.csv", "a,b\n1,2\n", {"layout": "positions", "tie": "="}, "no option 'tie' for the layout 'positions'"),
        ("x.csv", "winner,loser\na,b\n", {"unlisted": "below"}, "no option 'unlisted' for the layout 'pairwise'"),
        ("x.soi", PREFLIB, {"encoding": "cp1252"}, "no option 'encoding' for PrefLib files; the options are unlisted"),
        ("x.xarff", XARFF, {"items": ["tea"]}, "no option 'items' for xarff files; the options are unlisted"),
    ],
)
def test_unknown_options_are_named_beside_the_known_ones(tmp_path, name, text, options, message):
    with pytest.raises(TypeError, match=message):
        read_rankings(written(tmp_path, text, name), **options)


def test_strings_with_another_tie_are_refused_with_the_cure(tmp_path):
    path = written(tmp_path, "id,pref\n1,a>b=c\n2,b>a>c\n3,a=b=c\n")
    with pytest.raises(RankwiseFormatError, match=r"line 2, column 2: 'b=c' may be several tied items\. .*tie='='"):
        read_rankings(path)
    assert read_rankings(path, tie="=").positions.tolist() == [[1, 2, 2], [2, 1, 3], [1, 1, 1]]


def test_delimiter_is_handed_on(tmp_path):
    assert read_rankings(written(tmp_path, "rank_a:rank_b\n1:2\n"), delimiter=":").items == ("a", "b")


UNCLEAR = {
    "numbers in numbered columns": (
        "Rank_1,Rank_2,Rank_3\n1,3,2\n2,1,3\n",
        ["may be positions", "layout='positions', prefix='Rank_')", "layout='orders', prefix='Rank_')"],
    ),
    "with zeros": ("Rank_1,Rank_2\n1,0\n2,1\n", ["prefix='Rank_', missing_values=['0'])"]),
    "without a joint": ("P1,P2\n1,2\n2,1\n", ["items=['P1', 'P2'])", "columns=['P1', 'P2'])"]),
    "covariates among numbers": (
        "price,brand,sex\n1,2,1\n2,1,2\n",
        ["no layout fits the columns 'price', 'brand', 'sex'", "layout='positions', items=['price', 'brand'])"],
    ),
    "a count": ("a,b,n\n1,2,13\n2,1,4\n", ["column 'n' may say how often", "weights='n'); or weights=None"]),
    "a count beside a prefix": ("rank_a,rank_b,freq\n1,2,1\n2,1,4\n", ["prefix='rank_', weights='freq')"]),
    "a count beside duels": ("winner,loser,count\na,b,3\n", ["winner='winner', loser='loser', weights='count')"]),
    "two prefixes": ("rank_a,rank_b,y_c,y_d\n1,2,1,2\n2,1,2,1\n", ["2 groups", "prefix='rank_'", "prefix='y_'"]),
    "positions and a string": ("rank_a,rank_b,s\n1,2,a>b\n2,1,b>a\n", ["prefix='rank_'", "column='s'"]),
    "numbers for a header": ("3,1,2\n2,1,3\n", ["If the first line is a ranking itself"]),
    "an order for a header": ("tea>milk\nmilk>tea\n", ["no layout fits"]),
    "items for a header": ("tea,milk,juice\nmilk,tea,juice\n", ["no layout fits"]),
    "covariates alone": (
        "age,sex\n31,f\n47,m\n",
        ["no layout fits", "best-worst and tricot: see help(read_rankings)"],
    ),
    "best and worst in words": (
        "worst,middle,best\na,b,c\nb,c,a\nc,a,b\n",
        ["layout='orders', columns=['worst', 'middle', 'best']), the places best first"],
    ),
    "scale points": (
        "Most preferred,Neutral,Least preferred\na,b,c\nb,c,a\nc,a,b\n",
        ["layout='orders', columns=['Most preferred', 'Neutral', 'Least preferred'])"],
    ),
    "places with a gap": (
        "choice_4,choice_2,choice_1\nc,b,a\nb,a,c\na,c,b\n",
        ["no layout fits", "layout='orders', prefix='choice_')"],
    ),
    "places with a gap and no joint": ("P4,P2,P1\nc,b,a\nb,a,c\n", ["layout='orders', columns=['P1', 'P2', 'P4'])"]),
    "a unanimous committee": (
        "choice_1,choice_2,choice_3\na,b,c\na,b,c\n",
        ["layout='orders', prefix='choice_')"],
    ),
    "places with one item each": ("id,choice_1,choice_2\n7,a,\n8,b,\n", ["layout='orders', prefix='choice_')"]),
    "numbers and a word below numbers": (
        "choice_1,choice_2\n1,2\n2,none\n",
        ["layout='positions', prefix='choice_') or", "layout='orders', prefix='choice_')"],
    ),
    "numbers and a word below numbered ranks": (
        "rank_1,rank_2\n1,2\n2,none\n",
        ["layout='positions', prefix='rank_') or", "layout='orders', prefix='rank_')"],
    ),
    "full ties": ("age,rank_a,rank_b\n30,1,1\n31,1,1\n", ["layout='positions', prefix='rank_')"]),
    "positions with one item each": ("age,rank_a,rank_b\n3,1,\n1,,1\n", ["layout='positions', prefix='rank_')"]),
    "two shown items, not an order": ("variety_a,variety_b,best\nx,y,0\ny,x,1\n", ["no layout fits"]),
}


@pytest.mark.parametrize("name", sorted(UNCLEAR))
def test_unclear_layouts_are_refused_with_the_call_to_write(tmp_path, name):
    text, fragments = UNCLEAR[name]
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(written(tmp_path, text))
    assert caught.value.line == 1
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_the_calls_shown_do_read_the_file(tmp_path):
    path = written(tmp_path, "Rank_1,Rank_2,Rank_3\n2,3,1\n1,0,0\n")
    as_positions = read_rankings(path, layout="positions", prefix="Rank_", missing_values=["0"])
    as_orders = read_rankings(path, layout="orders", prefix="Rank_", missing_values=["0"])
    np.testing.assert_array_equal(as_positions.positions, [[2, 3, 1], [1, nan, nan]])
    np.testing.assert_array_equal(as_orders.positions, [[3, 1, 2], [1, inf, inf]])
    assert read_rankings(path, layout="orders", missing_values=["0"]) == as_orders
    with pytest.raises(RankwiseFormatError, match="may be positions"):
        read_rankings(path, prefix="Rank_")


def test_weights_can_be_declined(tmp_path):
    path = written(tmp_path, "rank_a,rank_b,n\n1,2,13\n")
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(path)
    assert [choice["weights"] for choice in caught.value.choices] == ["n", None]
    assert read_rankings(path, weights="n").weights.tolist() == [13]
    rankings, covariates = read_rankings(path, weights=None, return_covariates=True)
    assert rankings.weights.tolist() == [1]
    assert covariates["n"].tolist() == [13]


def test_a_named_layout_that_does_not_fit_says_what_it_misses(tmp_path):
    path = written(tmp_path, "age,sex\n31,f\n47,m\n")
    with pytest.raises(RankwiseFormatError, match="Name it: respondent="):
        read_rankings(path, layout="long")
    with pytest.raises(RankwiseFormatError, match="Name the columns"):
        read_rankings(path, layout="positions")


@pytest.mark.parametrize(
    ("layout", "text", "call"),
    [
        ("orders", "worst,middle,best\na,b,c\nb,c,a\nc,a,b\n", "columns=['worst', 'middle', 'best'])"),
        ("orders", "choice_3,choice_1\na,b\nb,c\n", "prefix='choice_')"),
        ("positions", "age,rank_a,rank_b\n30,1,1\n31,1,1\n", "prefix='rank_')"),
    ],
)
def test_a_named_layout_that_is_not_clear_shows_the_call(tmp_path, layout, text, call):
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(written(tmp_path, text), layout=layout)
    assert f"read_rankings(path, layout={layout!r}, {call}" in str(caught.value)


@given(data=damaged(*VALID, PREFLIB.encode(), XARFF.encode(), b"1 qid:1 1:2\n", b"1 0 d 1\n", b"1 Q0 d 1 2.5 x\n"))
@settings(max_examples=300)
def test_any_bytes_give_rankings_or_a_format_error(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                rankings, covariates = read_rankings(path, return_covariates=True)
            except RankwiseFormatError:
                return
    assert isinstance(rankings, Rankings)
    assert all(len(column) == len(rankings) for column in covariates.values())


CROON = ["0", "1", "2", "3"]

# file: options (none = the plain call reads it), shape, kind, number of covariates
REAL = {
    "rankings-with-covariates/gss_job_values": ({}, (20568, 5), "full", 20),
    "rankings-with-covariates/consrankclass_evs": ({}, (1911, 4), "incomplete", 7),
    "rankings-with-covariates/consrankclass_irish": ({}, (1083, 5), "tied", 6),
    "rankings-with-covariates/consrankclass_univranks": ({}, (212, 6), "tied", 8),
    "rankings-with-covariates/msmix_horror": ({}, (421, 5), "full", 0),
    "rankings-with-covariates/msmix_sports": ({}, (647, 8), "full", 31),
    "rankings-with-covariates/msmix_read_genres": ({}, (507, 11), "incomplete", 7),
    "rankings-with-covariates/msmix_antifragility": ({}, (99, 7), "full", 10),
    "rankings-with-covariates/msmix_beers": ({"unlisted": "below"}, (105, 20), "top-k", 1),
    "rankings-with-covariates/prefmod_carconf": ({}, (435, 6), "incomplete", 3),
    "rankings-with-covariates/plackettluce_beans": ({}, (842, 10), "incomplete", 9),
    "rankings-with-covariates/gosset_breadwheat": ({"trait": "overall"}, (493, 16), "incomplete", 6),
    "rankings-with-covariates/gosset_cassava": ({"trait": "overall"}, (1000, 13), "incomplete", 8),
    "rankings-with-covariates/prefmod_salad": ({}, (32, 4), "full", 0),
    "rankings-with-covariates/gosset_nicabean_trial": ({"respondent": ["id", "trait"]}, None, "incomplete", 2),
    "preflib/classic/apa1980_full": ({"unlisted": "below"}, (15449, 5), "top-k", 0),
    "preflib/classic/beach_pairwise": ({}, (1442, 15), "incomplete", 1),
    "preflib/classic/big4": ({"weights": "n"}, None, "full", 0),
    "preflib/classic/brook_upton": ({"weights": "Wk"}, None, None, 0),
    "preflib/classic/croon": ({"layout": "orders", "columns": CROON, "weights": "4"}, (24, 4), "full", 0),
    "preflib/classic/emond_mason_15items": (
        {"layout": "positions", "items": list("ABCDEFGHIJKLMNO"), "weights": "Wk"},
        None,
        "incomplete",
        0,
    ),
    "preflib/classic/german_political_goals": ({}, (2262, 4), "full", 0),
    "preflib/classic/idea": ({}, (98, 5), "full", 0),
    "preflib/classic/sports_130x7": ({}, (130, 7), "full", 0),
    "preflib/classic/leisure_black": ({"layout": "positions", "weights": "n"}, (6, 3), "full", 0),
    "preflib/classic/leisure_white": ({"layout": "positions", "weights": "n"}, (6, 3), "full", 0),
    "preflib/classic/song": ({"layout": "positions", "weights": "n"}, None, "full", 0),
    "preflib/classic/potato_true": ({"layout": "positions"}, (1, 20), "full", 0),
    "preflib/classic/potato_visual": ({"layout": "positions"}, (12, 20), "full", 0),
    "preflib/classic/potato_weighing": ({"layout": "positions"}, (12, 20), "full", 0),
    "preflib/classic/gaming_orderings": ({"layout": "orders"}, None, "full", 0),
    "preflib/classic/occup_orderings": ({"layout": "orders"}, None, "full", 0),
    "preflib/classic/nascar2002_orderings": ({"layout": "orders", "missing_values": ["0"]}, None, "top-k", 0),
    "preflib/classic/rice_orderings": ({"layout": "orders", "missing_values": ["0"]}, None, "top-k", 0),
}


@pytest.mark.parametrize("name", sorted(REAL))
def test_real_tables(benchmark_data, name):
    options, shape, kind, n_covariates = REAL[name]
    rankings, covariates = read_rankings(benchmark_data / f"{name}.csv.gz", return_covariates=True, **options)
    assert shape in (None, rankings.shape)
    assert kind in (None, rankings.kind)
    assert len(covariates) == n_covariates
    assert all(len(column) == len(rankings) for column in covariates.values())


@pytest.mark.parametrize("name", sorted(name for name, expected in REAL.items() if expected[0].keys() - {"unlisted"}))
def test_plain_calls_that_fail_show_the_way(benchmark_data, name):
    options = {option: value for option, value in REAL[name][0].items() if option != "unlisted"}
    if name.endswith("croon"):
        del options["weights"]  # its column is named 4
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(benchmark_data / f"{name}.csv.gz")
    for option, value in options.items():
        assert f"{option}={value!r}" in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "rankings-with-covariates/gosset_nicabean_covar.csv.gz",
        "preflib/classic/sushi10_pairwise_counts.csv",
    ],
)
def test_tables_of_other_kinds_are_refused(benchmark_data, name):
    with pytest.raises(RankwiseFormatError, match="no layout fits"):
        read_rankings(benchmark_data / name)


def test_label_ranking_files_read_as_pandas_reads_them(benchmark_data):
    import pandas

    paths = sorted((benchmark_data / "label-ranking").glob("*.csv.gz"))
    assert paths
    for path in paths:
        rankings, covariates = read_rankings(path, return_covariates=True)
        frame = pandas.read_csv(path)
        places = frame.filter(regex="^y_")
        assert rankings.items == tuple(name[2:] for name in places.columns)
        np.testing.assert_array_equal(rankings.positions, places.to_numpy(float))
        pandas.testing.assert_frame_equal(
            pandas.DataFrame(covariates), frame.drop(columns=places.columns).astype(float)
        )


def test_a_table_with_odd_ties_and_zeros_is_read_when_the_call_says_so(benchmark_data):
    path = benchmark_data / "preflib" / "classic" / "usaranks_50items.csv.gz"
    with gzip.open(path, "rt") as file:
        states = [name.strip('"') for name in file.readline().strip().split(",")]
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(path)
    assert f"layout='positions', items={states!r}, missing_values=['0'])" in str(caught.value)
    with pytest.raises(RankwiseFormatError, match="'0' is not a position"):
        read_rankings(path, layout="positions", items=states)
    with pytest.raises(RankwiseFormatError, match="24 of 104 rows are not rankings"):
        read_rankings(path, items=states, missing_values=["0"])
    assert read_rankings(path, layout="positions", items=states, missing_values=["0"]).shape == (104, 50)
    assert read_rankings(path, items=states, missing_values=["0"], invalid="drop").shape == (80, 50)


def test_real_values(benchmark_data):
    classic = benchmark_data / "preflib" / "classic"
    nascar = read_rankings(classic / "nascar2002_orderings.csv.gz", layout="orders", missing_values=["0"])
    assert nascar.items[nascar.positions[0].argmin()] == "83"
    assert nascar.n_items == 87
    potato = read_rankings(classic / "potato_true.csv.gz", layout="positions")
    assert potato.items[potato.positions[0].argmin()] == "P12"
    croon = read_rankings(classic / "croon.csv.gz", columns=CROON, weights="4")
    assert croon.weights[:3].tolist() == [137, 29, 309]
    apa = read_rankings(classic / "apa1980_full.csv.gz")
    assert np.sum(np.isfinite(apa.positions).all(axis=1)) == 5738
    beach = read_rankings(classic / "beach_pairwise.csv.gz")
    assert beach.positions[0, beach.items.index("15")] == 1
    assert beach.positions[0, beach.items.index("2")] == 2


def test_long_form_of_a_real_trial(benchmark_data):
    import pandas

    path = benchmark_data / "rankings-with-covariates" / "gosset_nicabean_trial.csv.gz"
    rankings, covariates = read_rankings(path, respondent=["id", "trait"], return_covariates=True)
    frame = pandas.read_csv(path)
    wide = frame.pivot_table(index=["id", "trait"], columns="item", values="rank", sort=False)
    assert rankings.shape == wide.shape
    expected = Rankings(wide[list(rankings.items)].to_numpy())
    keys = list(zip(covariates["id"], covariates["trait"], strict=True))
    np.testing.assert_array_equal(rankings.positions, expected.positions[[wide.index.get_loc(key) for key in keys]])


def test_numbered_columns_of_names_need_not_share_every_name(tmp_path):
    path = tmp_path / "drinks.csv"
    path.write_text("age,choice_1,choice_2,choice_3\n31,tea,milk,juice\n47,milk,tea,\n")
    assert read_rankings(path) == Rankings.from_orders([["tea", "milk", "juice"], ["milk", "tea"]])


def test_one_bad_cell_among_positions_is_named(tmp_path):
    path = tmp_path / "drinks.csv"
    path.write_text("age,rank_tea,rank_milk\n31,1,2\n47,2,best\n")
    with pytest.raises(RankwiseFormatError, match="line 3, column 3"):
        read_rankings(path)


@pytest.mark.parametrize("cell", ["-1", "1e400", "TRUE", "99", "10", "1.3", "don't know"])
@pytest.mark.parametrize("options", [{}, {"layout": "positions"}])
def test_the_first_cell_that_does_not_fit_is_named(tmp_path, cell, options):
    path = written(tmp_path, f"age,rank_a,rank_b,rank_c\n30,1,2,3\n31,2,{cell},3\n32,x,1,2\n")
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(path, **options)
    assert (caught.value.line, caught.value.column) == (3, 3)
    what = "is not a place among 3 items" if cell in ("99", "10", "1.3") else "is not a position"
    assert f"{cell!r} {what} (2 of 3 rows are not rankings)" in str(caught.value)
    assert f"read_rankings(path, layout='positions', prefix='rank_', missing_values=[{cell!r}])" in str(caught.value)


def test_a_place_far_below_is_read_when_the_call_says_so(tmp_path):
    path = written(tmp_path, "age,rank_a,rank_b\n30,1,2\n31,99,1\n")
    with pytest.raises(
        RankwiseFormatError, match=r"if it is a place, write read_rankings\(.*prefix='rank_'\); to drop"
    ):
        read_rankings(path)
    assert read_rankings(path, layout="positions", prefix="rank_").positions.tolist() == [[1, 2], [2, 1]]


@pytest.mark.parametrize("prefix", ["rank_", "q."])
def test_a_prefix_does_not_make_orders_of_positions_with_a_slip(tmp_path, prefix):
    text = "age,rank_tea,rank_milk,rank_juice\n30,1,2,3\n40,2,don't know,3\n41,1,3,2\n".replace("rank_", prefix)
    with pytest.raises(RankwiseFormatError, match='line 3, column 3: "don\'t know" is not a position'):
        read_rankings(written(tmp_path, text), prefix=prefix)


def test_a_known_prefix_of_words_is_never_an_order(tmp_path):
    path = written(tmp_path, "rank_tea,rank_milk\nhigh,low\nlow,high\n")
    with pytest.raises(RankwiseFormatError, match="line 2, column 1: 'high' is not a position"):
        read_rankings(path, prefix="rank_")


@pytest.mark.parametrize("cell", ["none", "-1"])
def test_numbered_columns_with_a_slip_stay_unclear(tmp_path, cell):
    path = written(tmp_path, f"q_1,q_2,q_3\n1,2,3\n2,{cell},3\n")
    with pytest.raises(RankwiseFormatError, match="may be positions"):
        read_rankings(path, prefix="q_")


def test_places_with_a_gap_are_read_by_number(tmp_path):
    path = written(tmp_path, "choice_4,choice_2,choice_1\nc,b,a\nb,a,c\n")
    expected = Rankings.from_orders([["a", "b", "c"], ["c", "a", "b"]])
    assert read_rankings(path, layout="orders", prefix="choice_") == expected
    assert read_rankings(path, prefix="choice_") == expected
    path = written(tmp_path, "choice_third,choice_second,choice_first\nc,b,a\nb,a,c\n")
    assert read_rankings(path, prefix="choice_") == expected


def test_missing_values_are_blank_for_the_detection_too(tmp_path):
    path = written(tmp_path, "age,rank_tea,rank_milk\n30,1,2\n41,2,1\n99,1,99\n")
    rankings, covariates = read_rankings(path, missing_values=["99"], return_covariates=True)
    np.testing.assert_array_equal(rankings.positions, [[1, 2], [2, 1], [1, nan]])
    assert covariates["age"].tolist() == [30, 41, 99]
    path = written(tmp_path, "choice_1,choice_2\ntea,milk\nmilk,tea\nnone,none\n")
    assert read_rankings(path, missing_values=["none"]).items == ("tea", "milk")
    path = written(tmp_path, "Rank_1,Rank_2\n1,2\n2,99\n")
    with pytest.raises(RankwiseFormatError, match=r"layout='orders', prefix='Rank_', missing_values=\['99'\]\)"):
        read_rankings(path, missing_values=["99"])


def test_many_columns_are_not_all_listed(tmp_path):
    numbers = range(1, 301)
    rows = (",".join(map(str, numbers)) + "\n") * 2
    with pytest.raises(RankwiseFormatError, match=r"layout='positions', prefix='q'\) or .*'orders', prefix='q'\)\.$"):
        read_rankings(written(tmp_path, ",".join(f"q{i}" for i in numbers) + "\n" + rows))
    with pytest.raises(RankwiseFormatError) as caught:
        read_rankings(written(tmp_path, ",".join(f"q{i}" for i in numbers) + ",quality\n" + rows.replace("\n", ",1\n")))
    assert str(caught.value).count("'q12'") == 3
    assert "'q13'" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "age,rank_tea,rank_milk\n31,1,2\n47,2,1\n",
        "winner,loser\ntea,milk\n",
        "# FILE NAME: x\n# NUMBER ALTERNATIVES: 2\n# NUMBER VOTERS: 1\n# NUMBER UNIQUE ORDERS: 1\n"
        "# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n1: 1,2\n",
        "@relation r\n@attribute y ranking {tea,milk}\n@data\ntea>milk\n",
    ],
)
def test_a_file_is_read_once(tmp_path, monkeypatch, text):
    (tmp_path / "file").write_text(text)
    reads = []

    def counted(path):
        reads.append(path)
        return Path(path).read_bytes()

    monkeypatch.setattr("rankwise.data.formats.detect.read_bytes", counted)
    assert set(read_rankings(tmp_path / "file").items) == {"tea", "milk"}
    assert len(reads) == 1
