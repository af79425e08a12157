"""The tag that renders a table, and names that break between their parts."""

from collections.abc import Mapping, Sequence

from django import template
from django.template import Context, Node, NodeList
from django.template.base import FilterExpression, Parser, Token, token_kwargs
from django.template.loader import get_template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()


class GridNode(Node):
    """A table of rows with a header, in a region that scrolls horizontally if it is too wide."""

    child_nodelists = ("columns", "body")

    def __init__(
        self,
        label: Sequence[FilterExpression],
        options: Mapping[str, FilterExpression],
        columns: NodeList,
        body: NodeList,
    ) -> None:
        self.label, self.options, self.columns, self.body = label, options, columns, body

    def render(self, context: Context) -> SafeString:
        """Return the table, rendered by the template `web/_grid.html`."""
        filled = {
            "label": "".join(str(part.resolve(context)) for part in self.label),
            "columns": self.columns.render(context),
            "body": self.body.render(context),
            **{name: value.resolve(context) for name, value in self.options.items()},
        }
        return SafeString(get_template("web/_grid.html").render(filled))


@register.tag
def grid(parser: Parser, token: Token) -> GridNode:
    """Render a table: the headers of its columns, `{% body %}`, its rows, `{% endgrid %}`.

    The arguments are joined to the accessible name of the region around the table. Options are `kind`
    (further classes), `tall` (scrolls under its header) and `grouped` (rows have their own `tbody`).
    """
    words = token.split_contents()[1:]
    label = []
    while words and "=" not in words[0].split('"')[0]:
        label.append(parser.compile_filter(words.pop(0)))
    options = token_kwargs(words, parser)
    if words or not options.keys() <= {"kind", "tall", "grouped"}:
        raise template.TemplateSyntaxError(f"grid does not know {' '.join([*words, *options])}")
    columns = parser.parse(("body",))
    parser.delete_first_token()
    body = parser.parse(("endgrid",))
    parser.delete_first_token()
    return GridNode(label, options, columns, body)


@register.filter
def breakable(name: str) -> SafeString:
    """Return a name that breaks after its slashes where it is too long for its column.

    >>> breakable("nvidia.com/gpu")
    'nvidia.com/<wbr>gpu'
    """
    return format_html_join(SafeString("/<wbr>"), "{}", ((part,) for part in name.split("/")))
