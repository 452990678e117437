"""The smallest program with typer: one command, its help printed."""

import typer

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def nothing(*, name: str = "") -> None:
    """Do nothing."""
    del name


if __name__ == "__main__":
    app(prog_name="nothing")
