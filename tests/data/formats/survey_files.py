"""Survey files for tests: small valid ones, how to write one, and how printed commands read it."""

from __future__ import annotations

import shlex

import pytest

from rankwise import RankwiseFormatError
from rankwise.cli.options import HowToRead
from rankwise.cli.sources import load

VALID = (
    b"rank_tea,rank_milk,age,sex\n1,2,31,f\n2,,47,m\n",
    b"choice_1;choice_2;choice_3\ntea;milk;juice\nmilk;;\n",
    b'id,order\n1,tea>milk~juice\n2,"[""tea"", [""milk"", ""juice""]]"\n3,\n',
    b"id\titem\trank\tage\n1\ttea\t1\t31\n1\tmilk\t2\t31\n2\tmilk\t1\t47\n",
    b"winner|loser|n\ntea|milk|3\njuice|tea|2\n",
    b"wine,Anna,Ben,Cleo\nRioja,1,2,1\nMerlot,3,1,2\nMalbec,2,3,3\n",
    b"item_1,item_2,item_3,best,worst\ntea,milk,juice,milk,tea\nmilk,tea,juice,C,B\n",
    b"option_a,option_b,option_c,x_pos,x_neg,y_pos,y_neg\np,q,r,A,B,,\nq,r,p,B,C,A,B\n",
    b"id,task,item,choice\n1,1,tea,best\n1,1,milk,\n1,1,cola,worst\n",
    b"t,Rank [tea],Rank [milk],sex\n1,1st choice,2nd choice,f\n2,2nd choice,1st choice,m\n",
    b"name,Team A,Team B,Team C\nann,9,7,4\nbob,8,8,3\n",
    b"ID,Please rank,,Age\n,Price,Brand,Response\n118,1,2,31\n119,2,1,47\n",
    b'Q1_1,Q1_2\n"a","b"\n"{""ImportId"":""QID1_1""}","{""ImportId"":""QID1_2""}"\n1,2\n2,1\n',
)


def written(folder, text, name="survey.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def loaded(path, command):
    """The survey that a printed command reads: its options as the command line understands them."""
    words = iter(shlex.split(command)[3:])
    given = {}
    for word in words:
        name = word.removeprefix("--")
        if name in ("read", "ignore"):
            given.setdefault(name, []).append(next(words))
        else:
            given[name] = next(words)
    return load(str(path), **HowToRead(**given).arguments())


def commands(path, **options):
    """The commands that are printed where a file cannot be read without a choice."""
    with pytest.raises(RankwiseFormatError) as caught:
        load(str(path), **options)
    return getattr(caught.value, "commands", [])
