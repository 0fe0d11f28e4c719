"""How much work there is, as a line tells it in a language of Europe other than English. Pure."""

from __future__ import annotations

from onbox.regex import lazy

_WORDS = {
    "epoch": "epoche epochen épocas epocas época epoca époques époque эпох эпохи эпоха epok epoki",
    "step": "schritte schritten pasos passos passi pas étapes шагов шага stappen kroków",
    "iter": "iterationen iteraciones iterações itérations iterazioni итераций итерации iteraties iteracji",
    "round": "runden раундов",
    "generation": "generationen generaciones gerações générations generazioni поколений",
}
_UNITS = {word: unit for unit, words in _WORDS.items() for word in words.split()}
_WORD = rf"({'|'.join(sorted(_UNITS, key=len, reverse=True))})(?!\w)"
_NUMBER = r"(\d{1,9})(?![\w.,]{0,12}\d)"
_FOR = lazy(  # `treinando por 18 épocas`, `entraînement de 40 époques`
    r"(?i)(?<!\w)(?:train\w{0,6}|trein\w{1,8}|entren\w{1,10}|entraîn\w{1,8}|addestr\w{1,8}|apprentissage"
    rf"|обуч\w{{1,8}}|trenow\w{{1,6}})\s"
    rf"(?:por|durante|pendant|sur|über|für|mit|per|di|de|su|met|voor|przez|на|в течение)\s{_NUMBER} {_WORD}"
)
_IN_ALL = lazy(  # `insgesamt 30 Epochen`, `au total 12 époques`, and in Russian the word first: `in all epochs: 24`
    rf"(?i)(?<!\w)(?:всего|итого|insgesamt|gesamt|au total|en total|em total|in totale|total de|totaal|łącznie)\s"
    rf"(?:{_WORD}\s?[:=]?\s?{_NUMBER}|{_NUMBER} {_WORD})"
)
_UNTIL = lazy(  # `hasta la época 30`, `bis Epoche 40`, `jusqu'à l'époque 12`
    r"(?i)(?<!\w)(?:hasta|até|bis|jusqu['\u2019]à|fino|до|tot|aż do)\s"
    r"(?:la |a |el |o |zur |zum |l['\u2019]|all['\u2019]|alla )?"
    rf"{_WORD} {_NUMBER}"
)


def read_maxima_of_west(text: str) -> list[tuple[str, int]]:
    """The exact maxima by unit."""
    maxima = []
    for found in (*_FOR.finditer(text), *_IN_ALL.finditer(text), *_UNTIL.finditer(text)):
        told = [part for part in found.groups() if part]
        number = next(part for part in told if part.isdigit())
        word = next(part for part in told if not part.isdigit())
        maxima.append((_UNITS[word.lower()], int(number)))
    return maxima
