"""reStructuredText is read as the structure that its rendered form shows."""

from pathlib import Path

import pytest

from discorag.ingest.loaders import load, unknown_format
from discorag.schema.errors import UnknownFormatError
from tests.ingest.kinds.quotes import LIMIT, quotes, read, units

GRID = "+-------+----------+\n| Model | Flow     |\n+=======+==========+\n| P1    | 20 l/min |\n+-------+----------+\n"
SIMPLE = "======  ======\nPart    Torque\n======  ======\nBolt A  12 Nm\nBolt B  30 Nm\n======  ======\n"


def rows(rst: str) -> list[str]:
    """The rows of a file's tables, each with its own header."""
    return [unit.body for unit in units("a.rst", rst) if unit.kind == "row"]


def test_each_table_is_read_with_its_own_header() -> None:
    """The header of the grid table is not read over the simple table below it."""
    assert rows(f"Pumps\n=====\n\n{GRID}\n{SIMPLE}") == [
        "P1, Flow: 20 l/min.",
        "Bolt A, Torque: 12 Nm.",
        "Bolt B, Torque: 30 Nm.",
    ]


@pytest.mark.parametrize(
    "table",
    [
        ".. list-table:: Limits\n   :header-rows: 1\n\n   * - Model\n     - Pressure\n   * - P2\n     - 9 bar\n",
        '.. csv-table:: Limits\n   :header: Model, Pressure\n\n   P2, "9 bar"\n',
        ".. table:: Limits\n   :widths: auto\n\n   =====  ========\n   Model  Pressure\n   =====  ========\n"
        "   P2     9 bar\n   =====  ========\n",
    ],
    ids=["list", "csv", "simple"],
)
def test_the_rows_of_table_directives_are_rows(table: str) -> None:
    """However the table is written, its caption stands above it."""
    assert rows(table) == ["P2, Pressure: 9 bar."]
    assert read("a.rst", table).text.startswith("Limits\n\n|")


def test_a_table_with_an_error_is_quoted_as_it_stands() -> None:
    """The line is too short for the frame, so the cells cannot be told apart."""
    broken = "+---+----+\n| a | 12\n+---+----+"
    assert read("a.rst", broken).text == f"```\n{broken}\n```"


@pytest.mark.parametrize(
    "hidden",
    [
        ".. The discount is 40 percent.",
        "..\n   The discount is 40 percent.",
        ".. comment: The discount is 40 percent.",
        ".. index:: The discount is 40 percent.",
        ".. raw:: html\n\n   <p>The discount is 40 percent.</p>",
        ":orphan: The discount is 40 percent.",
    ],
)
def test_what_no_reader_sees_is_not_quoted(hidden: str) -> None:
    """Comments, entries of an index, raw markup, and fields for the program."""
    assert read("a.rst", f"{hidden}\n\nIt costs 900 euros.\n").text == "It costs 900 euros."


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("Replaced every |years| years.\n\n.. |years| replace:: four\n", "Replaced every four years."),
        ("Version |release| is out.\n", "Version |release| is out."),
        ("See :ref:`the guide <guide>`, :doc:`/install` and `x <http://e.org>`_.", "See the guide, /install and x."),
        ("Use :py:meth:`~a.b.close` or :func:`!open`.", "Use a.b.close or open."),
        ("H\\ :sub:`2`\\ O, 10\\ :sup:`6`, :math:`\\frac{1}{2}`", "H2O, 10^6, 1/2"),
        (".. warning:: Do not run the pump dry.", "Warning: Do not run the pump dry."),
        (".. note::\n\n   - one\n   - two", "Note:\n\n- one\n- two"),
        (".. versionchanged:: 2.0 It is *faster*.", "Changed in version 2.0: It is faster."),
        (".. deprecated:: 3.1\n\n   Use the pump.", "Deprecated since version 3.1: Use the pump."),
        ("Term : type\n   It moves water.\n\n   And oil.", "- Term : type: It moves water.\n  \n  And oil."),
        (":Author: Ann\n:Date: May", "- Author: Ann\n- Date: May"),
        ("-a, --all  Show all.\n--size=N   The size.", "- -a, --all: Show all.\n- --size=N: The size."),
        (".. py:function:: get(url, *args)\n\n   Sends it.", "- get(url, *args): Sends it."),
        (".. code-block:: sh\n   :caption: x\n   :linenos:\n\n   pumpctl --start", "```\npumpctl --start\n```"),
        (".. only:: html\n\n   Seen.", "Seen."),
        ("The fee [#a]_ is due.\n\n.. [#a] Not for members.", "The fee [^1] is due.\n\n[^1]: Not for members."),
        ("See [Lee]_.\n\n.. [Lee] A book on pumps.", "See [Lee].\n\n[Lee] A book on pumps."),
    ],
)
def test_markup_of_docutils_and_sphinx_keeps_its_text(source: str, seen: str) -> None:
    """What the rendered file says, no more and no less."""
    assert read("a.rst", source).text == seen


def test_what_is_taken_from_elsewhere_is_counted_and_not_read(tmp_path: Path) -> None:
    """A file is never read because another one names it."""
    (tmp_path / "secret.txt").write_text("Secret.")
    path = tmp_path / "a.rst"
    path.write_text(
        "Text.\n\n.. include:: secret.txt\n.. literalinclude:: secret.txt\n.. csv-table::\n   :file: secret.txt\n"
        ".. image:: p.svg\n   :loading: embed\n.. automodule:: os\n.. |b| image:: b.png\n\n.. raw:: html\n"
        "   :file: secret.txt\n"
    )
    assert load(path, max_bytes=LIMIT).text.count("ecret.") == 1, "the directive with an error stays as it is written"
    assert read("a.rst", path.read_bytes()).unread == {
        "included file": 2,
        "image": 1,
        "generated section": 1,
        "raw block": 1,
    }


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (".. _top:\n\n.. A comment.\n\nPump manual\n===========\n\nText.\n\nParts\n-----\n\nMore.", "Pump manual"),
        ("======\nManual\n======\n\nUse\n---\n\nText.", "Manual"),
        (".. title:: Pumps\n\nOne\n===\n\nText.\n\nTwo\n===\n\nText.", "Pumps"),
        ("One\n===\n\nText.\n\nTwo\n===\n\nText.", "a"),
    ],
)
def test_the_heading_above_all_others_is_the_title(tmp_path: Path, source: str, title: str) -> None:
    """As in Markdown; the directive that gives a title wins."""
    path = tmp_path / "a.rst"
    path.write_text(source)
    assert load(path, max_bytes=LIMIT).title == title


def test_text_files_are_read_as_they_stand() -> None:
    """Only the suffix makes reStructuredText of a file."""
    assert quotes("a.txt", "The seal is replaced every |years| years.") == ["The seal is replaced every |years| years."]


def test_asciidoc_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """No Python library reads it well enough."""
    path = tmp_path / "manual.adoc"
    path.write_text("= Pumps\n")
    assert "asciidoctor FILE.adoc" in unknown_format(".adoc")
    with pytest.raises(UnknownFormatError, match=r"asciidoctor FILE\.adoc"):
        load(path, max_bytes=LIMIT)
