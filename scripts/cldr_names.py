"""Write data_gen/bank/bilingual/cldr.tsv from CLDR: ``python scripts/cldr_names.py``.

Needs Babel (``pip install babel``, 2.18 was used) and nothing of this project.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.core import get_global

OUT = Path(__file__).parents[1] / "data_gen" / "bank" / "bilingual" / "cldr.tsv"
HEAD = """\
# Names in both languages from the Unicode Common Locale Data Repository, through Babel 2.18.
# Copyright (c) 1991-2025 Unicode, Inc.; Unicode License v3 (https://www.unicode.org/license.txt).
# Written by scripts/cldr_names.py. Columns: kind, subject (en, zh), answer (en, zh).
"""
COUNTRIES = (
    "AF AL DZ AD AO AR AM AU AT AZ BS BH BD BB BY BE BZ BJ BT BO BA BW BR BN BG BF BI KH CM CA TD "
    "CL CN CO KM CR CI HR CU CY CZ DK DJ DO EC EG SV EE ET FJ FI FR GA GM GE DE GH GR GT GN GY HT "
    "HN HU IS IN ID IR IQ IE IL IT JM JP JO KZ KE KW KG LA LV LB LS LR LY LI LT LU MG MW MY MV ML "
    "MT MR MU MX MD MC MN ME MA MZ MM NA NP NL NZ NI NE NG NO OM PK PA PG PY PE PH PL PT QA RO RU "
    "RW SA SN RS SC SL SG SK SI SO ZA KR ES LK SD SR SE CH SY TJ TZ TH TG TO TT TN TR TM UG UA AE "
    "GB US UY UZ VE VN YE ZM ZW"
)
UNCLEAR = ("en", "nb", "nd", "nn", "nr", "sh", "zh")
"""Languages that share their own name with another, or in which the questions are asked."""
EN, ZH = Locale("en"), Locale("zh")

Fact = tuple[str, str, str, str, str]


def currencies() -> Iterator[Fact]:
    """The currency of each country, and of each currency code."""
    seen = set()
    for code in COUNTRIES.split():
        now = [c[0] for c in get_global("territory_currencies")[code] if c[2] is None and c[3]]
        if len(now) != 1:
            continue
        (money,) = now
        names = EN.currencies[money], ZH.currencies[money]
        yield "currency", EN.territories[code], ZH.territories[code], *names
        if money not in seen:
            seen.add(money)
            yield "currency_code", money, money, *names


def languages() -> Iterator[Fact]:
    """The official language of a country with only one, and languages by their own names."""
    for code in COUNTRIES.split():
        spoken = get_global("territory_languages")[code].items()
        official = [name for name, of in spoken if of["official_status"] == "official"]
        if len(official) == 1 and official[0] in EN.languages:
            names = EN.languages[official[0]], ZH.languages[official[0]]
            yield "language", EN.territories[code], ZH.territories[code], *names
    for code, name in EN.languages.items():
        if len(code) > 2 or code in UNCLEAR or code not in ZH.languages:
            continue
        try:
            own = Locale(code).languages.get(code)
        except UnknownLocaleError:
            continue
        if own and own.casefold() != name.casefold():
            yield "own_name", own, own, name, ZH.languages[code]


def codes() -> Iterator[Fact]:
    """The country of each ISO code."""
    for code in COUNTRIES.split():
        yield "country_code", code, code, EN.territories[code], ZH.territories[code]


def calendar() -> Iterator[Fact]:
    """What follows each month and each day of the week."""
    for kind, count in (("month", 12), ("day", 7)):
        en, zh = (getattr(place, f"{kind}s")["format"]["wide"] for place in (EN, ZH))
        first = min(en.keys())
        keys = [first + n for n in range(count)]
        for here, after in zip(keys, keys[1:] + keys[:1], strict=True):
            yield f"next_{kind}", en[here], zh[here], en[after], zh[after]


def main() -> None:
    """Write the table."""
    facts = [*currencies(), *languages(), *codes(), *calendar()]
    lines = ("\t".join(fact) + "\n" for fact in dict.fromkeys(facts) if all(fact))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(HEAD + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
