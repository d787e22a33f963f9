"""Regions that rules may name: groups of countries, by their two letters."""

from __future__ import annotations

_EU = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
_COUNTRIES = {
    "eu": _EU,
    "eea": f"{_EU} IS LI NO",
    "efta": "CH IS LI NO",
    "africa": """AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW IO KE KM LR LS LY MA MG
        ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TF TG TN TZ UG YT ZA ZM ZW""",
    "asia": """AE AF AM AZ BD BH BN BT CC CN CX CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN
        MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE""",
    "europe": """AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU
        LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK""",
    "north-america": """AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX
        NI PA PM PR SV SX TC TT US VC VG VI""",
    "oceania": "AS AU CK FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS",
    "south-america": "AR BO BR CL CO EC FK GF GY PE PY SR UY VE",
}
REGIONS = {name: frozenset(countries.split()) for name, countries in _COUNTRIES.items()}
"""Political unions as of 2026, and continents as the United Nations' statistics list them."""
