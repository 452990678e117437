"""`python -m controller.demo.model --script FILE --port-file F --log FILE`: the model as a program.

Started by the demo as a child process; ends on SIGTERM or SIGINT.
"""

import argparse
import signal
import sys
from pathlib import Path

from pydantic import ValidationError

from controller.demo.model.script import Script
from controller.demo.model.server import ScriptedModel


def main() -> int:
    """Serve until told to end; 64 when the script file cannot be used."""
    parser = argparse.ArgumentParser(prog="controller.demo.model", description=__doc__)
    parser.add_argument("--script", type=Path, required=True, help="JSON: {'scenarios': [...]}")
    parser.add_argument("--port", type=int, default=0, help="0 = any free port")
    parser.add_argument("--port-file", type=Path, help="gets the port once it answers")
    parser.add_argument("--log", type=Path, help="gets one JSON line per request")
    options = parser.parse_args()
    try:
        script = Script.model_validate_json(options.script.read_bytes())
    except (OSError, ValidationError) as error:
        print(f"{options.script}: {error}", file=sys.stderr)
        return 64
    model = ScriptedModel(script, log=options.log, port=options.port).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: model.request_stop())
    print(model.url, flush=True)
    if options.port_file is not None:
        temporary = options.port_file.with_name(options.port_file.name + ".new")
        temporary.write_text(model.url.rsplit(":", 1)[1].removesuffix("/v1"), encoding="ascii")
        temporary.replace(options.port_file)
    model.wait_for_stop()
    model.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
