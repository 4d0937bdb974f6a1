"""Answers that have an order, such as "18 - 24", "25 - 34" or "never", "sometimes", "often": `ordered_levels`.

`rankwise.data.formats.roles` asks for every column of texts whether its answers are ordered, so that trees split them
in that order instead of into any two sets.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise

# Two answers can be read in either order; three show one.
_FEWEST = 3
_NUMBER = re.compile(r"\d{1,3}(?:[ ,.'\u2019\u00a0]\d{3})+(?!\d)|\d+(?:[.,]\d+)?")
_GROUPED = re.compile(r"\d{1,3}(?:[ ,.'\u2019\u00a0]\d{3})+")
# What an interval without a lower or an upper end says beside its number, in a few languages.
_BELOW = re.compile(
    r"<|≤|\b(?:under|below|less|fewer|lower|younger|up to|at most|before|unter|weniger|jünger|bis zu|höchstens|moins|"
    r"jusqu|au plus|menos|hasta|meno|fino|minder|onder|jonger)\b"
)
_ABOVE = re.compile(
    r">|≥|\+|\b(?:over|above|more|older|greater|higher|at least|after|or up|plus|über|mehr|älter|ab|mindestens|"
    r"au moins|más|mayor|oltre|più|meer|ouder|boven)\b"
)
# All that may stand beside the numbers of an interval; other words mean that the numbers are part of a name.
_WORDS_OF_INTERVALS = frozenset(
    word
    for line in (
        "and or to up than the of is a an age aged year years yr yrs old older younger more less fewer lower higher",
        "greater least most at under over above below before after plus per between from k usd eur dollar dollars euro",
        "euros hours hour hrs minutes minute min days day weeks week months month times time people persons person",
        "employees bis zu und oder unter über ab mehr weniger als jahre jahren jahr älter jünger mindestens",
        "höchstens von stunden tage ans an de à et ou plus moins jusqu au entre del los las años año y o más menos",
        "hasta anni più meno fino oltre jaar meer minder dan onder boven jonger ouder",
    )
    for word in line.split()
)
_LED_BY_NUMBER = re.compile(r"\(?(\d{1,3})\)?\s*(?:[.:=)]|-|\u2013|\s)\s*\D.*|(\d{1,3})")
_NO_ANSWERS = frozenset(
    (
        "prefer not to say",
        "prefer not to answer",
        "prefer not to disclose",
        "rather not say",
        "do not know",
        "don't know",
        "dont know",
        "not sure",
        "no answer",
        "no opinion",
        "not applicable",
        "does not apply",
        "n/a",
        "refused",
        "refused to answer",
        "refusal",
        "unknown",
        "missing",
        "no response",
        "not answered",
        "did not answer",
        "not asked",
        "not ranked",
        "skipped",
        "dk",
        "dk/na",
        "don't know/no answer",
        "don't know / no answer",
        "keine angabe",
        "k.a.",
        "weiß nicht",
        "weiss nicht",
        "nicht beantwortet",
        "verweigert",
        "fehlend",
        "trifft nicht zu / keine angabe",
        "ne sait pas",
        "sans réponse",
        "pas de réponse",
        "refus",
        "no sabe",
        "no contesta",
        "sin respuesta",
        "ns/nc",
        "non so",
        "non risponde",
        "geen antwoord",
        "weet niet",
        "não sabe",
        "não respondeu",
    )
)
_OUT_OF = re.compile(r"(\d{1,3}(?:[.,]\d{1,3})?)\s*(?:/|out of|von|sur)\s*(\d{1,3})")
# Scales from low to high; answers of one place, separated by bars, are never expected together.
# Those of ratings, on which more is better:
_RATINGS = (
    "strongly disagree|completely disagree|totally disagree|disagree strongly < disagree|mostly disagree < "
    "somewhat disagree|slightly disagree|rather disagree|tend to disagree < "
    "neither agree nor disagree|neither agree or disagree|neither|neutral|undecided < "
    "somewhat agree|slightly agree|rather agree|tend to agree < agree|mostly agree < "
    "strongly agree|completely agree|totally agree|agree strongly",
    "never|not at all < almost never|hardly ever|very rarely < rarely|seldom|less often < "
    "sometimes|occasionally|now and then < "
    "often|frequently|about half the time|regularly < most of the time|usually|very often < almost always < always",
    "extremely dissatisfied|completely dissatisfied < very dissatisfied < dissatisfied < "
    "somewhat dissatisfied|slightly dissatisfied < neither satisfied nor dissatisfied|neutral < "
    "somewhat satisfied|slightly satisfied < satisfied < very satisfied < "
    "extremely satisfied|completely satisfied",
    "terrible|awful|very bad|very poor < bad|poor < fair|average|acceptable|sufficient|neutral < good < "
    "very good < excellent",
    "not at all|none|no < a little|slightly|hardly|a bit < somewhat|moderately|a moderate amount|enough < "
    "a lot|much|quite a bit|considerably < very much|a great deal|extremely",
    "extremely unlikely < very unlikely < unlikely < somewhat unlikely < neither likely nor unlikely|neutral < "
    "somewhat likely < likely < very likely < extremely likely",
    "not at all important|unimportant|not important < slightly important|a little important < "
    "somewhat important|moderately important|neutral < important < very important < extremely important",
    "stimme überhaupt nicht zu|stimme gar nicht zu|trifft überhaupt nicht zu|trifft gar nicht zu < "
    "stimme nicht zu|trifft nicht zu < stimme eher nicht zu|trifft eher nicht zu < teils/teils|weder noch < "
    "stimme eher zu|trifft eher zu < stimme zu|trifft zu < stimme voll zu|stimme voll und ganz zu|"
    "stimme vollkommen zu|trifft voll zu|trifft voll und ganz zu",
    "nie|niemals < fast nie < selten < manchmal|gelegentlich < häufig|oft < sehr oft|meistens < immer",
    "sehr unzufrieden < unzufrieden|eher unzufrieden < weder noch|teils/teils|neutral < zufrieden|eher zufrieden < "
    "sehr zufrieden",
    "pas du tout d'accord < pas d'accord|plutôt pas d'accord < ni d'accord ni pas d'accord|neutre < "
    "plutôt d'accord|d'accord < tout à fait d'accord",
    "jamais < rarement < parfois|quelquefois < souvent < toujours",
    "muy en desacuerdo|totalmente en desacuerdo < en desacuerdo < "
    "ni de acuerdo ni en desacuerdo|neutral|indiferente < de acuerdo < muy de acuerdo|totalmente de acuerdo",
    "nunca < casi nunca|rara vez < a veces < a menudo|frecuentemente < casi siempre < siempre",
    "dislike a lot|strongly dislike|dislike very much|hate < dislike < neither like nor dislike|neutral < like < "
    "like a lot|strongly like|like very much|love",
    "ungenügend|sehr schlecht < mangelhaft|schlecht < ausreichend < befriedigend|mittel|mittelmäßig < gut < sehr gut < "
    "ausgezeichnet|hervorragend",
    "très insatisfait|très insatisfaite|pas du tout satisfait < "
    "insatisfait|insatisfaite|plutôt insatisfait|peu satisfait < "
    "neutre|ni satisfait ni insatisfait < satisfait|satisfaite|plutôt satisfait < "
    "très satisfait|très satisfaite|tout à fait satisfait",
    "très mauvais < mauvais|médiocre < moyen|passable|correct < bon < très bon < excellent",
    "muy insatisfecho|muy insatisfecha < insatisfecho|insatisfecha < ni satisfecho ni insatisfecho|neutral < "
    "satisfecho|satisfecha < muy satisfecho|muy satisfecha",
    "muy malo < malo < regular < bueno < muy bueno < excelente",
    "bronze < silver < gold < platinum",
    "molto insoddisfatto|molto insoddisfatta < insoddisfatto|insoddisfatta < neutrale < soddisfatto|soddisfatta < "
    "molto soddisfatto|molto soddisfatta",
)
# And those of other answers.
_LEVELS = (
    "never < less than once a month|rarely < once a month|monthly < several times a month < once a week|weekly < "
    "several times a week < once a day|daily|every day < several times a day",
    "very low|far below average < low|below average < medium|mid|middle|moderate|average < high|above average < "
    "very high|far above average",
    "extra small|xs < small|s < medium|m < large|l < extra large|xl",
    "none|no education < primary|primary school < secondary|secondary school < tertiary|university",
    "beginner|novice < intermediate|medium < advanced < expert",
    "less than high school|lt high school|no schooling < high school|high school graduate|high school diploma < "
    "some college|some college, no degree < junior college|2 year degree|associate degree|associate's degree < "
    "4 year degree|bachelor|bachelor's degree|bachelors degree < graduate|master|master's degree|masters degree < "
    "professional degree < doctorate|doctoral degree|phd",
)
_PLACES: tuple[Mapping[str, int], ...] = tuple(
    {words: place for place, step in enumerate(scale.split(" < ")) for words in step.split("|")}
    for scale in (*_RATINGS, *_LEVELS)
)


def ordered_levels(texts: Collection[str]) -> list[str] | None:
    """The different answers of a column from low to high; None if they have no order that anybody would expect.

    Answers such as "prefer not to say" have no place in the order, and are not among the levels.

    Parameters
    ----------
    texts : collection of str
        The different texts of a column.

    Returns
    -------
    list of str or None

    Examples
    --------
    >>> ordered_levels(["65 or older", "18 - 24", "25 - 64", "Prefer not to say"])
    ['18 - 24', '25 - 64', '65 or older']
    >>> ordered_levels(["often", "never", "sometimes"])
    ['never', 'sometimes', 'often']
    >>> ordered_levels(["tea", "milk", "juice"])
    """
    answers = {text: _plain(text) for text in texts if not is_no_answer(text)}
    if len(answers) < _FEWEST:
        return None
    for places in (*_PLACES, _led_by_numbers(answers)):
        found = {places.get(plain) for plain in answers.values()}
        if None not in found and len(found) == len(answers):
            return sorted(answers, key=lambda text: places[answers[text]])
    intervals = {text: interval for text, plain in answers.items() if (interval := _interval(plain)) is not None}
    if len(intervals) == len(answers) and _are_intervals(list(intervals.values())):
        return sorted(answers, key=lambda text: intervals[text])
    return None


def rating_scores(texts: Collection[str]) -> dict[str, float] | None:
    """The scores of ratings in words, 1 for the worst; None unless all texts are on one scale on which more is better.

    Words that nobody gave do not count; "prefer not to say" and the like have no score, and "8/10" has 8.

    Examples
    --------
    >>> rating_scores(["Good", "poor", "Excellent", "not sure"])
    {'poor': 1, 'Good': 2, 'Excellent': 3}
    >>> rating_scores(["7/10", "10/10"])
    {'7/10': 7, '10/10': 10}
    >>> rating_scores(["small", "medium", "large"])
    """
    answers = {text: _plain(text) for text in texts if not is_no_answer(text)}
    counted = {text: _points(plain) for text, plain in answers.items()}
    points = {text: found[0] for text, found in counted.items() if found}
    if len(points) == len(answers) > 1 and len({found[1] for found in counted.values() if found}) == 1:
        return dict(sorted(points.items(), key=lambda one: one[1]))
    for places in _PLACES[: len(_RATINGS)]:
        if len(answers) > 1 and places.keys() >= set(answers.values()):
            steps = sorted({places[plain] for plain in answers.values()})
            found = {text: steps.index(places[plain]) + 1 for text, plain in answers.items()}
            return dict(sorted(found.items(), key=lambda one: one[1])) if len(steps) > 1 else None
    return None


def is_rating(text: str) -> bool:
    """Whether an answer is on some scale on which more is better."""
    plain = _plain(text)
    return _points(plain) is not None or any(plain in places for places in _PLACES[: len(_RATINGS)])


def _points(plain: str) -> tuple[float, int] | None:
    """The points that a text such as "8/10" says, and the most there are; None if it says none."""
    found = _OUT_OF.fullmatch(plain)
    if found is None:
        return None
    points, most = float(found[1].replace(",", ".")), int(found[2])
    return (int(points) if points.is_integer() else points, most) if points <= most > 2 else None


def is_no_answer(text: str) -> bool:
    """Whether an answer says that there is none, such as "prefer not to say"."""
    return _plain(text) in _NO_ANSWERS


def _plain(text: str) -> str:
    return " ".join(text.lower().replace("\u2019", "'").split()).strip(" .!")


def _led_by_numbers(answers: Mapping[str, str]) -> Mapping[str, int]:
    """Numbers that answers begin with, as in "1 - bad", "2", "3 - good"; empty if they are not a scale."""
    found = {plain: _LED_BY_NUMBER.fullmatch(plain) for plain in answers.values()}
    places = {plain: int(match[1] or match[2]) for plain, match in found.items() if match is not None}
    values = sorted(places.values())
    # Numbers of a scale follow each other; those of streets and models do not.
    is_scale = bool(values) and values[0] < 2 and values[-1] - values[0] < 2 * len(values) and values[-1] <= 100
    return places if is_scale and len(set(values)) == len(values) else {}


def _interval(plain: str) -> tuple[float, float] | None:
    """The ends of an interval of numbers, such as "18 - 24", "under 18" or "65+"; None if the text is not one."""
    words = re.findall(r"[^\W\d_]+", plain)
    if any(word not in _WORDS_OF_INTERVALS for word in words):
        return None
    # In brackets a comma separates the ends.
    between = plain.replace(",", " - ") if plain.startswith(("[", "(", "]")) else plain
    numbers = [_value(digits) for digits in _NUMBER.findall(between)]
    if len(numbers) == 2 and numbers[0] < numbers[1]:
        return numbers[0], numbers[1]
    if len(numbers) != 1:
        return None
    if _ABOVE.search(plain) and not re.match(r"(?:<|≤|less|fewer|lower|under|below|not? more)", plain):
        return numbers[0], float("inf")
    if _BELOW.search(plain):
        return float("-inf"), numbers[0]
    return numbers[0], numbers[0]


def _value(digits: str) -> float:
    if _GROUPED.fullmatch(digits):
        return float(re.sub(r"\D", "", digits))
    return float(digits.replace(",", "."))


def _are_intervals(ends: list[tuple[float, float]]) -> bool:
    """Whether the intervals, some of them longer than a point, follow each other without overlapping."""
    ordered = sorted(ends)
    if len(set(ends)) < len(ends) or sum(low < high for low, high in ends) < 2:
        return False
    return all(before[1] <= after[0] for before, after in pairwise(ordered))
