"""Runs the tests of a plan with pytest, writes the outcome of each one, and the reward if the plan lists
expected outcomes."""

import json
import sys

import pytest


class Outcomes:
    """Worst outcome of each test, and its message if it failed."""

    def __init__(self):
        self.tests = {}
        self.said = {}

    def note(self, name, outcome, text=""):
        order = ["passed", "skipped", "failed"]
        known = self.tests.get(name, "passed")
        self.tests[name] = max(known, outcome, key=order.index)
        if outcome == "failed" and name not in self.said:
            self.said[name] = text[-4000:]

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.note(report.nodeid, "failed", report.longreprtext)
        elif report.skipped:
            self.note(report.nodeid, "skipped")
        elif report.when == "call":
            self.note(report.nodeid, "passed")

    def pytest_collectreport(self, report):
        if report.failed:
            self.note(report.nodeid, "failed", report.longreprtext)


def reward(due, tests):
    names = due.get("failToPass", []) + due.get("passToPass", [])
    return 1 if names and all(tests.get(name) == "passed" for name in names) else 0


def main(plan_path, results_path, reward_path=None):
    with open(plan_path) as file:
        plan = json.load(file)
    outcomes = Outcomes()
    # Options that the project adds to the command line may need missing plugins.
    args = ["-q", "--color=no", "--tb=short", "-p", "no:cacheprovider", "-o", "addopts="]
    code = int(pytest.main(args + plan.get("args", []) + plan.get("files", []), plugins=[outcomes]))
    with open(results_path, "w") as file:
        json.dump({"code": code, "tests": outcomes.tests, "said": outcomes.said}, file)
    if reward_path:
        with open(reward_path, "w") as file:
            file.write(str(reward(plan.get("due", {}), outcomes.tests)))


main(*sys.argv[1:])
