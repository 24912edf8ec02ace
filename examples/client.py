"""Runs a task from Python with only the standard library: `python3 examples/client.py "make the failing test pass"`.

`lathe rpc` speaks JSON-RPC 2.0, one message per line; `lathe schema rpc` prints the schema of every message.
"""

import itertools
import json
import os
import subprocess
import sys


class LatheError(Exception):
    """An error from lathe: `code` is a JSON-RPC code; `failure`, if present, says what failed."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.failure = error.get("data")


class Lathe:
    """One process; `on_told(method, params)` receives events and text, `on_question(question)` returns the answer."""

    def __init__(self, command=("lathe", "rpc"), on_told=None, on_question=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ids = itertools.count(1)
        self.on_told = on_told or (lambda method, params: None)
        self.on_question = on_question or (lambda question: "deny")
        self.call("initialize", protocolVersion=1, client={"name": "client.py"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def call(self, method, **params):
        """Sends a request; until its response arrives, handles notifications and answers questions."""
        own = next(self.ids)
        self.send(id=own, method=method, params=params)
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" not in message:
                if message["id"] != own:
                    continue
                if "error" in message:
                    raise LatheError(message["error"])
                return message["result"]
            if message["method"] == "session/question":
                answer = self.on_question(message["params"]["question"])
                self.send(id=message["id"], result={"answer": answer})
            else:
                self.on_told(message["method"], message["params"])
        raise EOFError("lathe has ended")


def show(method, params):
    if method == "session/delta" and params["delta"]["type"] == "text":
        print(params["delta"]["text"], end="", flush=True)
    elif method == "session/event" and params["event"]["type"] == "tool.completed":
        print(f"[{params['event']['data']['outcome']['type']}]", file=sys.stderr)


def ask(question):
    """Asks the person at the terminal; without a terminal, denies every question."""
    if not sys.stdin.isatty():
        return "deny"
    print(f"\n{question['text']}", *question["options"], sep="\n  ")
    return input("> ")


if __name__ == "__main__":
    with Lathe(on_told=show, on_question=ask) as lathe:
        session = lathe.call("session/new", cwd=os.getcwd())["session"]
        turn = lathe.call("session/prompt", session=session, text=" ".join(sys.argv[1:]) or "make the failing test pass")
        print(f"\n{turn['end']['type']} in {turn['steps']} steps; changed: {', '.join(turn['changed']) or 'nothing'}")
        sys.exit(0 if turn["end"]["type"] == "done" else 1)
