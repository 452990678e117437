"""Start one command from a small process and write what it used: `launcher.py FD COMMAND...`.

Started by `tests.bench.measure` with `-I -S`. A child begins with its parent's memory as its own
largest size, and the bench with its servers is large: so the parent has to be a small one.
"""

import os
import sys
import time

if __name__ == "__main__":
    answer, argv = int(sys.argv[1]), sys.argv[2:]
    begun = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, os.environ)
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - begun
    cpu = used.ru_utime + used.ru_stime
    os.write(answer, f"{wall} {cpu} {used.ru_maxrss * 1024}".encode())
    sys.exit(os.waitstatus_to_exitcode(status))
