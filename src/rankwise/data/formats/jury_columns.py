"""Columns of a jury's sheet that hold no votes: start numbers, results, prices, years and the like.

`rankwise.data.formats.survey_judges` leaves them out. Where the sheet has a column of sums, the columns that it sums up
are the judges; else names say what a column is, and cells where these leave no doubt.
"""

from __future__ import annotations

import re

import numpy as np

from rankwise.data.formats.tables import Table

# Names in lower case, without what stands in brackets.
_NUMBERING = (
    r"(?:(?:start(?:ing)?|running|draw|entry|sample|glass|bottle|lane|row|line|lfd\.?|laufende|item|team|wine|project|"
    r"product|contestant|participant)[ _.-]*)?(?:no|nr|num|number|nummer|numéro|numero|número|n°|nº|#|id|code|order|"
    r"pos)|start|startnummer|startnr|bib|seed|lane|heat|flight|table|tisch|booth|stand|column|index|"
    r"case|box|crate|flask|plate|tray|slot|room|probe|kiste|glas"
)
_SUMMED_UP = (
    r"(?:(?:final|overall|total|end|official|jury|team|weighted|unweighted|gewichtete[rs]?|adjusted|grand|mean|average|"
    r"avg|median|sum of|gesamt)[ _.-]*)*(?:rank(?:ing|s)?|place(?:ment)?|placing|position|standing|results?|final|"
    r"ergebnis|platz(?:ierung)?|rang|endrang|endplatz|classement|rango|puesto|posición|posicion|posizione|plaats|"
    r"scores?|points?|pts|punkte|totals?|sum|means?|averages?|avg|median|gesamt\w*|summe|mittel(?:wert)?|durchschnitt|"
    r"schnitt|somme|moyenne|suma|promedio|media|totale|somma|std|sd|stdev|spread|range|medal|prize|award)"
)
_ABOUT = (
    r"(?:(?:retail|unit|bottle|list)[ _])?(?:price|preis|prix|precio|prezzo|prijs|costs?|kosten|budget|year|jahr|année|"
    r"año|anno|vintage|jahrgang|millésime|age|alter|âge|edad|grade|class|klasse|abv|alcohol|alkohol|proof|quantity|"
    r"stock|weight|gewicht|poids|peso|size|height|length|distance|date|time|duration|votes|count|n)"
    r"(?:[ _]+(?:in[ _]+)?(?:eur|euros?|usd|dollars?|chf|gbp|pounds?|group|per \w+))?"
)
_NO_JUDGE = re.compile(rf"(?:{_NUMBERING}|{_SUMMED_UP}|{_ABOUT})[.:]?")
_IN_BRACKETS = re.compile(r"\s*[(\[][^)\]]*[)\]]\s*")
_CURRENCIES = ("€", "$", "£")
_YEARS = (1900, 2100)


def holds_no_votes(table: Table, name: str) -> bool:
    """Whether a column tells of the items rather than what a judge thinks of them, by its name or its cells."""
    bare = _IN_BRACKETS.sub(" ", name.lower()).strip()
    if _NO_JUDGE.fullmatch(bare) or any(sign in name for sign in _CURRENCIES):
        return True
    values = table.values(name)
    if values is None or np.isnan(values).all():
        return False
    least, most = np.nanmin(values), np.nanmax(values)
    are_years = _YEARS[0] <= least and most <= _YEARS[1] and np.nanmax(values % 1) == 0
    return bool(are_years)


def counts_rows(table: Table, name: str) -> bool:
    """Whether a column counts 1, 2, 3, ... down the sheet."""
    values = table.values(name)
    return values is not None and bool(np.array_equal(values, np.arange(1.0, len(table) + 1)))


def column_of_items(table: Table) -> str:
    """The first column; but the second if the first only numbers the rows, or says their places, and it names them."""
    first, *others = table.header[:2]
    if not others or table.values(first) is None or table.values(others[0]) is not None:
        return first
    return others[0] if counts_rows(table, first) or holds_no_votes(table, first) else first
