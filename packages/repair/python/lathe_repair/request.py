"""What to run, where and for how long: the request file named on the command line."""

import json
import os
import sys

REQUEST = json.load(open(sys.argv[1], encoding="utf-8"))
ROOT = os.path.realpath(REQUEST["cwd"]) + os.sep
REPORT = open(REQUEST["report"], "a", encoding="utf-8", buffering=1)
