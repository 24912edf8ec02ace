"""The Python side of the search: `python run.py request.json` writes JSON lines to the request's `report`.

It traces each test once, and tries many candidates by forking a warm interpreter.
"""

import os
import sys

from lathe_repair.attempting import attempts
from lathe_repair.request import REQUEST
from lathe_repair.tracing_run import trace

sys.dont_write_bytecode = True
sys.argv = [sys.argv[0]]
sys.path[0] = REQUEST["cwd"]
if REQUEST["kind"] == "pytest" and not REQUEST["module"]:
    sys.path.pop(0)
os.chdir(REQUEST["cwd"])

if REQUEST["mode"] == "trace":
    trace()
else:
    attempts()
sys.stdout.flush()
os._exit(0)
