"""Runs the tests of pytest, unittest or a plain script: all of them, traced, or the chosen ones inside a loop over candidates."""

import os
import signal
import sys

from .request import REQUEST


def first_in(tests, name):
    """The tests known to fail, or whose module could not be loaded, first; the others after them, or not at all."""
    focus = set(REQUEST["focus"])
    chosen = [test for test in tests if name(test) in focus or name(test).split("::")[0] in focus]
    if not chosen:
        return tests
    return chosen + ([test for test in tests if test not in chosen] if REQUEST["all"] else [])


def run_pytest(tracer, focus, loop=None):
    import pytest
    failures = []

    class Plugin:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session):
            if loop is None:
                return None
            signal.setitimer(signal.ITIMER_REAL, 0)
            if session.testsfailed or not session.items:
                return True

            def run():
                items = session.items
                for item, following in zip(items, items[1:] + [None]):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if failures:
                        return 1
                return 0

            loop(run)
            return True

        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, items):
            if focus:
                items[:] = first_in(items, lambda item: item.nodeid)

        def pytest_runtest_logreport(self, report):
            if report.failed:
                failures.append(report.nodeid)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_protocol(self, item, nextitem):
            if tracer:
                tracer.begin(item.nodeid)
            yield
            if tracer:
                tracer.end()

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(self, item, call):
            outcome = yield
            if tracer and call.excinfo is not None and outcome.get_result().failed:
                tracer.fail(call.excinfo.value, call.excinfo.tb)

        def pytest_collectreport(self, report):
            if tracer and report.failed:
                tracer.tests.append({"id": report.nodeid, "failed": True, "lines": tracer.loading, "error": str(report.longrepr)[-1500:], "frames": []})

    return int(pytest.main(REQUEST["args"] + ["-q", "-p", "no:cacheprovider"] + ([] if tracer else ["-x", "--tb=no"]), plugins=[Plugin()]))


def flatten(suite):
    import unittest
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def run_unittest(tracer, focus, loop=None):
    import unittest

    class Result(unittest.TestResult):
        def startTest(self, test):
            super().startTest(test)
            if tracer:
                tracer.begin(test.id())

        def stopTest(self, test):
            super().stopTest(test)
            if tracer:
                tracer.end()

        def addError(self, test, err):
            super().addError(test, err)
            if tracer:
                tracer.fail(err[1], err[2])

        addFailure = addError

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if tracer and err is not None:
                tracer.fail(err[1], err[2])

    class Runner:
        def run(self, suite):
            result = Result()
            result.failfast = tracer is None
            chosen = first_in(list(flatten(suite)), lambda test: test.id())

            def run():
                unittest.TestSuite(chosen).run(result)
                return 0 if result.wasSuccessful() and result.testsRun > 0 else 1

            if loop is None:
                run()
            else:
                signal.setitimer(signal.ITIMER_REAL, 0)
                loop(run)
            return result

    program = unittest.main(module=None, argv=["unittest"] + REQUEST["args"], exit=False, testRunner=Runner())
    return 0 if program.result.wasSuccessful() and program.result.testsRun > 0 else 1


def run_script(tracer, focus, loop=None):
    import runpy
    script = REQUEST["args"][0]
    sys.argv = list(REQUEST["args"])
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    if tracer:
        tracer.begin(script)
    try:
        runpy.run_path(script, run_name="__main__")
        return 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else (0 if stop.code is None else 1)
        if tracer and code != 0:
            tracer.fail(stop, stop.__traceback__)
        return code
    except BaseException as error:
        if tracer:
            tracer.fail(error, error.__traceback__)
        return 1
    finally:
        if tracer:
            tracer.end()


RUNNERS = {"pytest": run_pytest, "unittest": run_unittest, "script": run_script}
