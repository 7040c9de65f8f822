"""Closed classes of English words: negations, and what numbers, units and bounds are written with."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEGATORS = _set(
    "no not never nor neither without nobody none nothing nowhere cannot hardly scarcely barely rarely seldom"
)

# Numbers.
_UP_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
CARDINALS = {w: n for n, w in enumerate(_UP_TO_NINETEEN.split())} | {
    w: 10 * n for n, w in enumerate(_TENS.split(), start=2)
}
SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0}
FRACTIONS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
SIGNS = {"$": "dollar", "€": "euro", "£": "pound"}
# Unit -> dimension and size in the dimension's base unit.
UNITS: dict[str, tuple[str, float]] = {
    "minute": ("time", 1 / 1440), "hour": ("time", 1 / 24), "day": ("time", 1),
    "week": ("time", 7), "fortnight": ("time", 14), "month": ("time", 30.4375), "year": ("time", 365.25),
    "decade": ("time", 3652.5), "century": ("time", 36525), "millennium": ("time", 365250),
    "microgram": ("mass", 1e-6), "milligram": ("mass", 1e-3), "gram": ("mass", 1), "kilogram": ("mass", 1e3),
    "kilo": ("mass", 1e3), "tonne": ("mass", 1e6), "ton": ("mass", 1e6), "mg": ("mass", 1e-3), "kg": ("mass", 1e3),
    "µg": ("mass", 1e-6), "mcg": ("mass", 1e-6), "ounce": ("mass", 28.35),
    "nanometre": ("length", 1e-9), "micrometre": ("length", 1e-6), "millimetre": ("length", 1e-3),
    "centimetre": ("length", 1e-2), "metre": ("length", 1), "kilometre": ("length", 1e3), "mile": ("length", 1609.34),
    "inch": ("length", 0.0254), "foot": ("length", 0.3048), "yard": ("length", 0.9144), "km": ("length", 1e3),
    "cm": ("length", 1e-2), "mm": ("length", 1e-3), "nm": ("length", 1e-9), "league": ("length", 4828),
    "millilitre": ("volume", 1e-3), "litre": ("volume", 1), "ml": ("volume", 1e-3), "gallon": ("volume", 4.546),
    "hectare": ("area", 1e4), "acre": ("area", 4046.86),
    "byte": ("data", 1), "kilobyte": ("data", 1e3), "megabyte": ("data", 1e6), "gigabyte": ("data", 1e9),
    "terabyte": ("data", 1e12), "mb": ("data", 1e6), "gb": ("data", 1e9), "tb": ("data", 1e12),
    "watt": ("power", 1), "kilowatt": ("power", 1e3), "megawatt": ("power", 1e6), "gigawatt": ("power", 1e9),
    "kw": ("power", 1e3), "mw": ("power", 1e6), "gw": ("power", 1e9),
    "volt": ("tension", 1), "millivolt": ("tension", 1e-3), "kilovolt": ("tension", 1e3),
    "hertz": ("frequency", 1), "kilohertz": ("frequency", 1e3), "megahertz": ("frequency", 1e6),
    "dollar": ("dollar", 1), "euro": ("euro", 1), "pound": ("pound", 1), "crown": ("crown", 1), "franc": ("franc", 1),
    "cent": ("dollar", 0.01), "penny": ("pound", 0.01),
    "degree": ("degree", 1), "°": ("degree", 1), "percent": ("share", 0.01), "%": ("share", 0.01),
    "point": ("points", 1), "times": ("times", 1), "fold": ("times", 1),
}  # fmt: skip
