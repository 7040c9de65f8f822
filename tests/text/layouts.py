"""Small documents of many kinds, invented, with units that must be there: (kind, beginning of its text)."""

from typing import NamedTuple

from discorag.schema.document import UnitKind as K

LINE = "The harbour office keeps a record of every vessel that enters, and of the cargo which it declares on arrival, "


class Sample(NamedTuple):
    """A document; ``kinds`` are beginnings of units and what they are."""

    text: str
    kinds: dict[str, K]
    markdown: bool = False


SAMPLES: dict[str, Sample] = {
    "man page": Sample(
        "NAME\n       weld - join two files\n\nSYNOPSIS\n       weld [OPTION]... FILE...\n\n"
        "OPTIONS\n       -f, --force\n"
        "              join them though their heads differ\n\n       -q     say nothing, whatever\n"
        "              happens\n\nSEE ALSO\n       rivet(1)\n",
        {"NAME": K.HEADING, "weld [": K.CODE, "-f, --force": K.HEADING, "join them": K.ITEM, "say nothing": K.ITEM},
    ),
    "changelog": Sample(
        "# Changes\n\n## 3.0.0 (2024-02-01)\n\n- Drop support for old rivets.\n"
        "- Faster `weld`:\n  - twice on iron\n\n---\n",
        {"## 3.0.0": K.HEADING, "- Drop": K.ITEM, "- twice": K.ITEM, "---": K.FURNITURE},
        markdown=True,
    ),
    "plain changelog": Sample(
        "v1.5.0 (May 11, 2021)\n- Faster rivets.\n- Drop tongs.\n\nweld 1.4.9 / 2020-01-01\nperf: less smoke\n"
        "cli: new flags\nlib: no tin\n",
        {"v1.5.0": K.HEADING, "- Faster": K.ITEM, "weld 1.4.9": K.HEADING, "perf": K.ROW},
    ),
    "changelog in reStructuredText": Sample(
        "Changes\n=======\n\n2.2.0 (2024-01-30)\n==================\n\n- Faster rivets.\n\n2.1\n---\n\n- Drop tongs.\n",
        {"Changes": K.HEADING, "2.2.0": K.HEADING, "- Faster": K.ITEM, "2.1": K.HEADING},
    ),
    "manual page with tabs": Sample(
        "DESCRIPTION\n       weld\tjoins  two\t files,  and  then\tit\n"
        "       cools\tthem  down\t in  water,  unless\tyou\n"
        "       forbid\tit  with\t an  option  of\tweld.\n",
        {"DESCRIPTION": K.HEADING, "weld\tjoins": K.PROSE},
    ),
    "contents": Sample(
        "Contents\n\nHow to join files . . . . . . 12\nCooling ........ 13\n\n"
        "The first chapter tells how files are joined.\n",
        {"How to": K.FURNITURE, "Cooling": K.FURNITURE, "The first": K.PROSE},
    ),
    "readme": Sample(
        "# Weld\n\n[![build](a.svg)](b) [![docs](c.svg)](d)\n\n[Docs](e) | [Chat](f)\n\n"
        "Weld joins files. ![logo](x.png)\n\n"
        "## Install\n\nInstall it with pip:\n\n```sh\npip install weld\n\nweld --version\n```\n",
        {"[![build]": K.FURNITURE, "[Docs]": K.FURNITURE, "Weld joins": K.PROSE, "```sh": K.CODE},
        markdown=True,
    ),
    "API": Sample(
        "### `weld(a, b)`\n\nJoins `a` to `b`.\n\n**Example**\n\n    >>> weld(1, 2)\n    12\n\nReturns a number.\n",
        {"### `weld": K.HEADING, "**Example**": K.HEADING, ">>> weld": K.CODE, "Returns": K.PROSE},
        markdown=True,
    ),
    "meeting": Sample(
        "Ada Berg: So the casing will be made of cork.\nBo Lind: Yeah.\n"
        "Ada Berg: Cork costs eleven euros a piece {pause} "
        "at most. Plastic costs four.\nBo Lind: Then we should ask the board about it.\nAda Berg: Okay.\n",
        {"Ada Berg: So": K.TURN, "Bo Lind: Yeah.": K.FURNITURE, "Plastic": K.TURN, "Ada Berg: Okay": K.FURNITURE},
    ),
    "filing": Sample(
        "The table shows results.\n\n                          2023      2022\n\n"
        "Revenue                $ 2,018   $ 1,900\n\n"
        "Net income                 518       490\n\n"
        "Total assets             9,999    10,001\n\n12\n\nThe end of it.\n",
        {"2023": K.HEADER, "Revenue": K.ROW, "Total": K.ROW, "12": K.FURNITURE, "The end": K.PROSE},
    ),
    "table": Sample(
        "Heights:\n\n| Name | Height |\n| -- | -- |\n| Ada | 170 |\n| Bo | 181 |\n\nBoth grew.\n",
        {"| Name": K.HEADER, "| --": K.FURNITURE, "| Ada": K.ROW, "Both": K.PROSE},
        markdown=True,
    ),
    "FAQ": Sample(
        "# Questions\n\n## Can I weld wood?\n\nNo, wood burns.\n\n## And glass?\n\nWith care.\n",
        {"## Can": K.HEADING, "No, wood": K.PROSE, "With care": K.PROSE},
        markdown=True,
    ),
    "recipe": Sample(
        "Oat cakes\n=========\n\nIngredients\n-----------\n* 200 g oats\n* butter\n\n"
        "1. Melt the butter.\n2. Stir in the oats.\n",
        {"Oat cakes": K.HEADING, "====": K.FURNITURE, "* 200": K.ITEM, "1. Melt": K.ITEM},
    ),
    "references": Sample(
        "It is known [2].\n\nWorks cited\n\n[1] A. Berg. Cork. Journal of Bark, 2001.\n"
        "[2] B. Lind. Glass.\nPress, 2003.\n",
        {"It is": K.PROSE, "Works": K.HEADING, "[1] A": K.REFERENCE, "[2] B": K.REFERENCE},
    ),
    "LaTeX": Sample(
        "\\section{Tides}\n\nThe \\emph{moon} pulls~\\cite{n87}.\n\n\\begin{equation}\nF = m a\n\\end{equation}\n\n"
        "\\begin{itemize}\n\\item It rises.\n\\item It falls.\n\\end{itemize}\n",
        {"\\section": K.HEADING, "The \\emph": K.PROSE, "\\begin{eq": K.FORMULA, "\\item It r": K.ITEM},
    ),
    "Chinese report": Sample(
        "一、经营情况\n公司全年的收入比上一年有明显的增长，主要来自海外的订单。\n单位：元\n|项目|本期|上期|\n|---|---|---|\n|收入|20|18|\n"
        "（二）风险\n汇率的变化可能影响利润。\n",
        {"一、": K.HEADING, "公司": K.PROSE, "|项目": K.HEADER, "|收入": K.ROW, "（二）": K.HEADING, "汇率": K.PROSE},
    ),
    "e-mail": Sample(
        "From: ada@example.org\nTo: bo@example.org\nSubject: Cork\n\nDear Bo,\n\n"
        "the cork is here.\n\n> Is it dry?\n> I hope so.\n\nAda\n",
        {"From:": K.ROW, "Subject:": K.ROW, "the cork": K.PROSE, "> Is": K.PROSE},
    ),
    "poem": Sample(
        "The gull is up before the sun,\nThe sea is grey and wide,\n"
        "And all the little boats that run\nGo out upon the tide.\n",
        {"The gull": K.PROSE},
    ),
    "wide lines": Sample(
        f"{LINE}with\nthe name of its owner. {LINE[:100]}as was said\nbefore, {LINE}and\n"
        "so on for ever. It closes at noon.\n",
        {"The harbour": K.PROSE, "It closes": K.PROSE},
    ),
    "PDF": Sample(
        "- 3 -\n\nThe results were exam-\n"
        "ined by two groups in the year after the first trial had been\ncompleted.\n\n4\n",
        {"- 3 -": K.FURNITURE, "The results": K.PROSE, "4": K.FURNITURE},
    ),
    "nested lists": Sample(
        "Bring:\n\n1. food\n   - bread\n   - cheese, which\n     keeps\n\n   Wrap it well.\n2. water\n\n> - quoted\n",
        {"Bring": K.PROSE, "1. food": K.ITEM, "- cheese": K.ITEM, "Wrap": K.ITEM, "2. water": K.ITEM, "> - q": K.ITEM},
        markdown=True,
    ),
    "HTML": Sample(
        '<nav><a href="a">Home</a>\n<a href="b">About</a></nav>\n\n# Home\n\n<!-- draft -->\n'
        "\n<p>Tides <b>rise</b>.</p>\n",
        {"<nav>": K.FURNITURE, "<!--": K.FURNITURE, "<p>Tides": K.PROSE},
        markdown=True,
    ),
    "CSV": Sample(
        "city,year,people\nOslo,2020,697010\nBergen,2020,283929\nTromsø,2020,76974\n", {"city": K.HEADER, "Oslo": K.ROW}
    ),
    "log": Sample(
        "2024-03-01 10:00:02 start\n2024-03-01 10:00:05 Disk is full.\n2024-03-01 10:00:09 stop\n",
        {"2024-03-01 10:00:05": K.ROW},
    ),
}
