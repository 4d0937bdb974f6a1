"""Places written as words: "1st choice", "First", "rank 2", "Erste Wahl", "2º".

Cells of survey exports and names of their columns say places this way. English, German, French, Spanish, Italian,
Portuguese and Dutch are known.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Feminine and neuter forms are the word itself with another ending; all are without accents and in lower case.
_WORDS = (
    "first primary erste erster erstes premier premiere primero primera primer primo prima primeiro primeira eerste",
    "second secondary zweite zweiter zweites deuxieme seconde segundo segunda secondo seconda tweede",
    "third dritte dritter drittes troisieme tercero tercera tercer terzo terza terceiro terceira derde",
    "fourth vierte vierter viertes quatrieme cuarto cuarta quarto quarta vierde",
    "fifth funfte funfter funftes cinquieme quinto quinta vijfde",
    "sixth sechste sechster sechstes sixieme sexto sexta sesto sesta zesde",
    "seventh siebte siebter siebtes septieme septimo septima settimo settima setimo setima zevende",
    "eighth achte achter achtes huitieme octavo octava ottavo ottava oitavo oitava achtste",
    "ninth neunte neunter neuntes neuvieme noveno novena nono nona negende",
    "tenth zehnte zehnter zehntes dixieme decimo decima tiende",
)
_PLACE_OF_WORD = {word: place for place, words in enumerate(_WORDS, start=1) for word in words.split()}
#: whether an ASCII name may hold one of these words
ORDINAL_WORD = re.compile("|".join(_PLACE_OF_WORD), re.IGNORECASE)
_IN_NAMES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
#: what people write beside a place
PLACE_NOUNS = (  # noqa: SIM905
    "rank ranking ranked place placed position choice preference priority pick option vote no nr number "
    "rang platz platzierung stelle wahl prioritat nummer choix priorite numero "
    "puesto lugar opcion eleccion preferencia prioridad posicion posto scelta preferenza priorita posizione "
    "escolha opcao posicao colocacao plaats keuze voorkeur prioriteit positie"
).split()
_NOUN = "|".join(sorted(set(PLACE_NOUNS), key=len, reverse=True))
_ENDING = r"(?:st|nd|rd|th|er|ere|re|eme|ieme|e|nde|de|ste|te|o|a|os|as|ro|ra|do|da|to|ta|\.)?"
_NUMBERED = re.compile(
    rf"(?:(?:{_NOUN})\.?\s*[:#_]?\s*|#\s*)?#?(?P<number>\d{{1,4}})\s?{_ENDING}(?:[\s_]+(?:{_NOUN}))?", re.ASCII
)
_WORDED = re.compile(rf"(?:(?:{_NOUN})[\s_:]+)?(?P<word>[a-z]+)(?:[\s_]+(?:{_NOUN}))?", re.ASCII)
_LONGEST = 40


@lru_cache(maxsize=4096)
def place_in_words(text: str) -> int | None:
    """The place that a text says and nothing else, or None; a bare number is not a word.

    Parameters
    ----------
    text : str
        A cell, or a piece of the name of a column.

    Returns
    -------
    int or None

    Examples
    --------
    >>> [place_in_words(text) for text in ("1st choice", "Zweite Wahl", "rank 3", "4º lugar", "tea", "12")]
    [1, 2, 3, 4, None, None]
    """
    if len(text) > _LONGEST or text.isdigit():
        return None
    plain = without_accents(text)
    if plain.isdigit():
        return None
    numbered = _NUMBERED.fullmatch(plain)
    if numbered is not None:
        return int(numbered["number"]) or None
    worded = _WORDED.fullmatch(plain)
    return _PLACE_OF_WORD.get(worded["word"]) if worded else None


def ordinal_in_name(name: str) -> tuple[str, int, str] | None:
    """What stands before and after the first ordinal word of a name, and its place; None where there is none."""
    for match in re.finditer(r"[^\W\d_]+", name):
        place = _PLACE_OF_WORD.get(without_accents(match[0]))
        if place is not None:
            return name[: match.start()].lower(), place, name[match.end() :].lower()
    for place, word in enumerate(_IN_NAMES, start=1):  # part of a longer word, as in firstChoice
        before, found, after = name.lower().partition(word)
        if found:
            return before, place, after
    return None


def without_accents(text: str) -> str:
    """In lower case, without accents; the raised letters of 1º and 2ª become letters."""
    folded = unicodedata.normalize("NFKD", text.replace("°", "o")).lower().strip()
    return "".join(letter for letter in folded if not unicodedata.combining(letter))
