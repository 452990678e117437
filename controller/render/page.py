"""`toban status --html`: one self-contained page. It runs no script and loads nothing.

Called by `controller.cli`. Pure; every text is made safe and escaped.
"""

from collections.abc import Iterable, Sequence
from html import escape

from controller.domain.conditions import ItemStatus, Standing
from controller.render.lines import foreign, moment
from controller.render.status import HEADS, Frame, cells, limits

STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8886; padding: .4rem .7rem .4rem 0; text-align: left;
  vertical-align: top; }
th { font-size: .8rem; letter-spacing: .04em; }
.what { opacity: .75; }
.ready { color: #18794e; } .stalled { color: #cd2b31; } .unknown { color: #ad5700; }
@media (prefers-color-scheme: dark) {
  .ready { color: #4cc38a; } .stalled { color: #ff6369; } .unknown { color: #f1a10d; } }
"""
CLASSES: dict[Standing, str] = {
    Standing.READY: "ready",
    Standing.PROGRESSING: "progressing",
    Standing.STALLED: "stalled",
    Standing.UNKNOWN: "unknown",
}


def status_page(items: Sequence[ItemStatus], frame: Frame) -> str:
    """The whole document."""
    body = [
        f"<h1>toban</h1><p>{moment(frame.now)}</p>",
        _table(items, frame),
        _unseen(frame),
        *(f"<p class=what>{_text(each)}</p>" for each in limits(frame)),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>toban status</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(each for each in body if each)
        + "\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return escape(foreign(text))


def _table(items: Iterable[ItemStatus], frame: Frame) -> str:
    heads = "".join(f"<th>{head.capitalize()}</th>" for head in HEADS)
    rows = "\n".join(_row(item, frame) for item in items)
    if not rows:
        return "<p>No item carries a label of toban's.</p>" if not frame.unseen else ""
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _row(item: ItemStatus, frame: Frame) -> str:
    row = cells(item, now=frame.now)
    until = f" (until {moment(item.until)})" if item.until else ""
    condition = f'<td class="{CLASSES[item.standing]}">{_text(row[2])}</td>'
    texts = [f"<td>{_text(cell)}</td>" for cell in row]
    texts[2] = condition
    message = f"<br><span class=what>{_text(item.message)}{until}</span>"
    texts[-1] = texts[-1].removesuffix("</td>") + message + "</td>"
    return f"<tr>{''.join(texts)}</tr>"


def _unseen(frame: Frame) -> str:
    entries = "".join(
        f"<li>{_text(each.source)}: {_text(each.reason)}</li>" for each in frame.unseen
    )
    return f'<h2 class="unknown">Not seen</h2><ul>{entries}</ul>' if entries else ""
