from __future__ import annotations

import pytest

from rankwise.data.formats.ordinals import ordinal_in_name, place_in_words

FIRST_TO_THIRD = {
    "English": ["1st choice", "Second", "rank 3"],
    "English, numbered": ["no. 1", "#2", "Rank: 3"],
    "English, with endings": ["1st", "2nd", "3rd place"],
    "German": ["Erste Wahl", "Platz 2", "Dritter"],
    "German, with a dot": ["1. Wahl", "2. Platz", "Rang 3"],
    "French": ["Premier choix", "2ème choix", "troisième"],
    "French, shortened": ["1er", "2e choix", "3ème"],
    "Spanish": ["Primera opción", "segundo lugar", "3º"],
    "Italian": ["Prima scelta", "2° posto", "terza scelta"],
    "Portuguese": ["Primeira escolha", "2ª opção", "terceiro lugar"],
    "Dutch": ["Eerste keuze", "2de plaats", "derde keuze"],
}


@pytest.mark.parametrize("language", sorted(FIRST_TO_THIRD))
def test_places_in_words(language):
    assert [place_in_words(text) for text in FIRST_TO_THIRD[language]] == [1, 2, 3]


@pytest.mark.parametrize(
    "text",
    ["", "tea", "12", "1.5", "-1", "3 apples", "second hand", "year 1999", "0th", "1st and 2nd", "٣", "no", "x" * 99],
)
def test_what_is_not_a_place_in_words(text):
    assert place_in_words(text) is None


def test_the_ordinal_of_a_name():
    assert ordinal_in_name("My Second choice") == ("my ", 2, " choice")
    assert ordinal_in_name("Deuxième choix") == ("", 2, " choix")
    assert ordinal_in_name("firstChoice") == ("", 1, "choice")
    assert ordinal_in_name("choice") is None
