"""Brings a changed file into the modules that are already loaded from it."""

import os
import sys

from .request import ROOT


class Cold(Exception):
    """The change cannot be brought into loaded modules; a fresh interpreter must load it."""


def transplant(old, new):
    old.__code__ = new.__code__
    old.__defaults__ = new.__defaults__
    old.__kwdefaults__ = new.__kwdefaults__


def fits(old, new):
    plain = type(lambda: 0)
    if type(old) is not plain or type(new) is not plain:
        return False
    return old.__code__.co_freevars == new.__code__.co_freevars and (not old.__closure__ or old.__code__.co_freevars == ("__class__",))


def merge_class(old, new):
    for name, value in list(vars(new).items()):
        before = vars(old).get(name)
        if name in ("__dict__", "__weakref__", "__doc__", "__module__"):
            continue
        if fits(before, value):
            transplant(before, value)
        elif name not in vars(old) or before is not value:
            setattr(old, name, value)
    for name in set(vars(old)) - set(vars(new)):
        delattr(old, name)


OWN = []


def own_modules():
    """Modules loaded from the workspace, their paths made real."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and "site-packages" not in file:
            file = os.path.realpath(file)
            if file.startswith(ROOT) and module not in OWN:
                module.__file__ = file
                OWN.append(module)


def put(module, name, value):
    """Sets a module's name, and wherever it was imported to."""
    missing = object()
    old = vars(module).get(name, missing)
    for other in OWN:
        if old is not missing and other is not module and vars(other).get(name, missing) is old:
            setattr(other, name, value)
    setattr(module, name, value)


def patch(path, text):
    """Brings a changed file into the modules loaded from it."""
    path = os.path.realpath(path)
    loaded = [module for module in OWN if module.__file__ == path]
    code = compile(text.removeprefix("\ufeff"), path, "exec")
    for module in loaded:
        fresh = type(sys)(module.__name__)
        for name in ("__file__", "__package__", "__spec__", "__loader__", "__path__"):
            if hasattr(module, name):
                setattr(fresh, name, getattr(module, name))
        exec(code, vars(fresh))
        for name, value in list(vars(fresh).items()):
            if name.startswith("__") and name.endswith("__"):
                continue
            old = vars(module).get(name)
            if fits(old, value):
                transplant(old, value)
            elif isinstance(old, type) and isinstance(value, type) and value.__module__ == module.__name__:
                merge_class(old, value)
            else:
                put(module, name, value)
