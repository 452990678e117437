"""Ask the forge the same questions again, as bare as can be: one connection, If-None-Match, 304.

`conditional.py HOST:PORT TOKEN FILE`: FILE has a JSON object of path to ETag. With `null` for an
ETag the question is asked in full and the ETag is kept there.
"""

import http.client
import json
import sys
from pathlib import Path

if __name__ == "__main__":
    address, token, name = sys.argv[1:]
    known = json.loads(Path(name).read_text(encoding="utf-8"))
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "floor"}
    connection = http.client.HTTPConnection(address)
    full = False
    for path, etag in known.items():
        asked = headers if etag is None else headers | {"If-None-Match": etag}
        connection.request("GET", path, headers=asked)
        answer = connection.getresponse()
        answer.read()
        if answer.status not in {200, 304}:
            sys.exit(f"{path}: {answer.status}")
        if answer.status == 200:
            full, known[path] = True, answer.getheader("ETag")
    if full:
        Path(name).write_text(json.dumps(known), encoding="utf-8")
