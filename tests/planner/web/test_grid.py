"""The tag that draws every table writes its region, head and rows, and refuses unknown arguments."""

import re

import pytest
from django.template import Context, Template, TemplateSyntaxError


def drawn(text: str, **given: object) -> str:
    """Return a rendered template with tables, without the white space between its parts."""
    return re.sub(r"\s*\n\s*", "", Template("{% load grids %}" + text).render(Context(given)))


def test_a_table_has_a_region_a_head_and_rows() -> None:
    text = drawn(
        '{% grid "Waits beside " name ", table" kind="narrow" tall=True %}<th>Queue</th>{% body %}'
        "{% for row in rows %}<tr><td>{{ row }}</td></tr>{% endfor %}{% endgrid %}",
        name="a < b",
        rows=["one", "<two>"],
    )
    assert text == (
        '<div class="sheet sheet--tall" tabindex="0" role="region" aria-label="Waits beside a &lt; b, table">'
        '<table class="grid narrow"><thead><tr><th>Queue</th></tr></thead>'
        "<tbody><tr><td>one</td></tr><tr><td>&lt;two&gt;</td></tr></tbody></table></div>"
    )


def test_grouped_rows_bring_their_own_tbody() -> None:
    text = drawn("{% grid name grouped=True %}<th>A</th>{% body %}<tbody></tbody>{% endgrid %}", name="")
    assert text == '<table class="grid"><thead><tr><th>A</th></tr></thead><tbody></tbody></table>'


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TemplateSyntaxError, match="wide"):
        Template('{% load grids %}{% grid "A" wide=True %}{% body %}{% endgrid %}')
