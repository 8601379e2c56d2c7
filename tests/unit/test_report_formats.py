"""Tables and pictures in every format: a name from outside stays text in each of them."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from engine.analysis.document import (
    Curve,
    Document,
    Heat,
    Ranks,
    Section,
    Shown,
    Strip,
    count,
    counted,
    interval,
    missing,
    number,
    share,
    table,
    words,
)
from engine.analysis.formats import TEXTS, in_latex, in_markdown
from engine.analysis.page import Look, page
from engine.analysis.plots import bump_chart, heat_map, p_curves, strips

HOSTILE = [
    "[bold red]x[/] [link=file:///etc/passwd]y[/link]",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    '"></td></tr></table></svg><script>alert(2)</script>',
    r"\input{/etc/passwd} \end{tabular} $x^2$ 100% a_b & c # ~",
    "a | b\n\n# heading\n```\n![x](http://evil/x.png)",
    "\x1b]0;title\x07\x1b[31mred\x1b[0m\x9b2J",
    '=HYPERLINK("http://evil","x")',
    "@SUM(A1), +1, -1",
    "\u202eevil \ud800lone \ufeff",
    "]]> <!-- & &amp; &#60;",
]

SIGNS = {"buildability": "✗", "passed": "✓"}
COLOURS = dict.fromkeys(("background", "foreground", "surface", "panel", "primary", "quiet"), "#101010")
LOOK = Look(SIGNS, COLOURS | {"category-passed": "#00aa00"}, COLOURS | {"category-passed": "#00ff00"})


def document(names: list[str]) -> Document:
    rows = [[words(name), share(0.25), missing(name)] for name in names]
    return Document(
        title=names[0],
        facts={names[-1]: names[0]},
        sections=(
            Section(
                names[0],
                tables=(table("one", names[0], ("fixer", names[1], "n/a"), rows, note=names[0]),),
                curves=tuple(Curve(name, ((0.0, 0.5), (0.7, 0.25)), ((0.4, 0.6), (0.2, 0.3))) for name in names),
                strips=tuple(Strip(name, name, ("buildability", name, "passed"), name) for name in names),
                heat=Heat(tuple(names[:2]), ((0.25, 0.75), (None, None)), (4, 0)),
                ranks=Ranks(tuple(names[:2]), dict.fromkeys(names, (1.0, 2.0))),
                note=names[0],
            ),
        ),
    )


class Elements(HTMLParser):
    """The elements and attributes of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(text: str) -> Elements:
    found = Elements()
    found.feed(text)
    return found


def test_hostile_names_add_no_element_and_no_attribute_to_the_page():
    plain, hostile = parsed(page(document(["plain"] * len(HOSTILE)), LOOK)), parsed(page(document(HOSTILE), LOOK))
    assert hostile.tags == plain.tags and "script" not in hostile.tags and "img" not in hostile.tags
    assert hostile.attributes == plain.attributes
    assert "<script>alert(1)</script>" in hostile.text


def test_the_page_fetches_nothing_and_runs_nothing():
    text = page(document(["plain", "other"]), LOOK)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<script|<link|@import|url\(", text)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("form", [*TEXTS, "html"])
def test_no_format_passes_a_control_sequence_on(form: str):
    text = page(document(HOSTILE), LOOK) if form == "html" else TEXTS[form](document(HOSTILE))
    assert text.encode().decode() == text
    assert not re.search("[\u202a-\u202e\ufeff]", text)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)


def test_every_latex_special_of_a_name_is_escaped():
    assert in_latex(r"\a{b}$c_d^e~f#g%h&i") == (
        r"\textbackslash{}a\{b\}\$c\_d\textasciicircum{}e\textasciitilde{}f\#g\%h\&i"
    )
    lines = [line for line in TEXTS["latex"](document(HOSTILE)).splitlines() if not line.startswith("%")]
    own = re.compile(
        r"\\(begin|end)\{(table|tabular)\}(\{[lr]+\})?|\\(centering|hline|caption)|\\text[a-z]+\{\}|\\[\\{}$&#%_]|\{-\}"
    )
    left = own.sub("", "\n".join(lines)).replace(" & ", " ")
    assert not re.search(r"[\\$#%^~&_]", left), left


def test_a_latex_table_has_the_cells_of_its_header_in_every_row():
    lines = [line for line in TEXTS["latex"](document(HOSTILE)).splitlines() if line.endswith(r" \\")]
    assert len(lines) == 1 + len(HOSTILE)
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {2}


def test_csv_is_rfc_4180_and_no_field_is_a_formula():
    text = TEXTS["csv"](document(HOSTILE))
    assert text.endswith("\r\n") and "\n" not in text.replace("\r\n", "")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert {len(row) for row in rows} == {5}
    assert len(rows) == 1 + 3 * len(HOSTILE)
    assert not [field for row in rows for field in row if field.startswith(("=", "+", "-", "@"))]
    assert rows[2][3:] == ["0.25", "25.0 %"]


def test_json_has_a_version_and_reasons_instead_of_numbers_that_are_not_there():
    content = json.loads(TEXTS["json"](document(["a", "b"])))
    assert content["schema_version"] == 1
    assert content["tables"]["one"]["rows"][0] == ["a", 0.25, {"not_available": "a"}]


def test_markdown_of_hostile_names_keeps_the_shape_of_the_table():
    plain, hostile = TEXTS["md"](document(["plain"] * len(HOSTILE))), TEXTS["md"](document(HOSTILE))
    bars = [[len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines()] for text in (plain, hostile)]
    assert bars[0] == bars[1]
    assert "<" not in hostile and not re.search(r"(?<!\\)[\[\]]", hostile)
    assert in_markdown("a_b*c* _d_ (e)") == r"a_b\*c\* \_d\_ (e)"


@pytest.mark.parametrize("name", ["plain", *HOSTILE])
def test_every_picture_is_sound_xml_whatever_the_names(name: str):
    whole = document([name, "other"]).sections[0]
    assert whole.heat is not None and whole.ranks is not None
    for picture in (
        p_curves(whole.curves, name, name),
        strips(whole.strips, SIGNS),
        heat_map(whole.heat, SIGNS),
        bump_chart(whole.ranks),
    ):
        root = ElementTree.fromstring(picture)
        assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
            *("svg", "title", "text", "line", "polyline", "polygon", "rect", "circle")
        }


def test_nothing_to_draw_is_no_picture():
    assert p_curves([Curve("a", ())], "x", "y") == strips([], SIGNS) == bump_chart(Ranks(("one",), {"a": (1.0,)})) == ""


def test_one_setting_and_equal_shares_can_be_drawn():
    picture = p_curves([Curve("a", ((0.7, 0.0),)), Curve("b", ((0.7, 0.0),))], "x", "y")
    places = [float(y) for y in re.findall(r'y="([\d.]+)">[●■] [ab]<', picture)]
    assert len(places) == 2 and abs(places[0] - places[1]) >= 15


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_does_not_exist_is_a_reason(value: float | None):
    assert share(value, "no tasks") == Shown("n/a (no tasks)", None, "no tasks")
    assert number(value, why="no times").text == "n/a (no times)"
    assert interval(value, 0.5).value is None


def test_cells_know_their_words():
    assert share(0.291).text == "29.1 %"
    assert count(3) == Shown("3", 3)
    assert counted({"a": 1, "b": 2}).text == "2 b, 1 a"
    assert interval(0.1, 0.25).text == "10.0 to 25.0 %"
    with pytest.raises(ValueError, match="another number of cells"):
        table("t", "t", ("a", "b"), [[words("x")]])
