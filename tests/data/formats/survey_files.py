"""Survey files for tests: small valid ones, and how to write one."""

from __future__ import annotations

VALID = (
    b"rank_tea,rank_milk,age,sex\n1,2,31,f\n2,,47,m\n",
    b"choice_1;choice_2;choice_3\ntea;milk;juice\nmilk;;\n",
    b'id,order\n1,tea>milk~juice\n2,"[""tea"", [""milk"", ""juice""]]"\n3,\n',
    b"id\titem\trank\tage\n1\ttea\t1\t31\n1\tmilk\t2\t31\n2\tmilk\t1\t47\n",
    b"winner|loser|n\ntea|milk|3\njuice|tea|2\n",
    b'Q1_1,Q1_2\n"a","b"\n"{""ImportId"":""QID1_1""}","{""ImportId"":""QID1_2""}"\n1,2\n2,1\n',
)


def written(folder, text, name="survey.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path
