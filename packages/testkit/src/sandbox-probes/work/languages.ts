/** Must work: languages, their package managers and build tools, without a network. */
import type { WorkProbe } from "../probe.ts";
import { python } from "../script-parts.ts";

const work = { group: "languages" } as const;
const strict = (script: string): string => `set -e\n${script}`;

const wheel = python(`
import zipfile
with zipfile.ZipFile("hello_probe-1.0-py3-none-any.whl", "w") as z:
    z.writestr("hello_probe.py", "def hi(): print('hi from the wheel')\\n")
    z.writestr("hello_probe-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: hello-probe\\nVersion: 1.0\\n")
    z.writestr("hello_probe-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: probe\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    z.writestr("hello_probe-1.0.dist-info/RECORD", "")`);

const library = `mkdir -p lib/bin; echo '{"name":"probe-lib","version":"1.0.0","bin":{"probe-hello":"bin/hello.js"}}' > lib/package.json; printf '#!/usr/bin/env node\\nconsole.log("hello from the bin")\\n' > lib/bin/hello.js; chmod 755 lib/bin/hello.js; echo '{"name":"app","version":"1.0.0","scripts":{"greet":"node -p 6*7","test":"probe-hello"}}' > package.json; npm pack --silent ./lib >/dev/null; npm install --offline --silent --no-audit --no-fund ./probe-lib-1.0.0.tgz`;

export const languageWork: readonly WorkProbe[] = [
  {
    ...work,
    id: "work-npm-run",
    what: "runs a script of package.json",
    tools: ["npm"],
    steps: strict(`echo '{"scripts":{"greet":"node -p 6*7"}}' > package.json; npm run --silent greet`),
    says: "42",
  },
  {
    ...work,
    id: "work-npm-ci",
    what: "installs a local package afresh, without a network",
    tools: ["npm"],
    steps: strict(
      `${library}; rm -rf node_modules; npm ci --offline --no-audit --no-fund; npm test --silent`,
    ),
    says: "hello from the bin",
  },
  {
    ...work,
    id: "work-npx",
    what: "runs the program of an installed package by npx",
    tools: ["npx"],
    steps: strict(`${library}; npx --no-install probe-hello`),
    says: "hello from the bin",
  },
  {
    ...work,
    id: "work-npm-cache",
    what: "keeps npm's cache from command to command",
    tools: ["npm"],
    steps: () => [
      { script: strict(`${library}; npm cache ls | head -1 | wc -l`) },
      { script: 'c=$(npm config get cache); test -d "$c/_cacache" && echo kept' },
    ],
    says: "kept",
  },
  {
    ...work,
    id: "work-node-children",
    what: "node starts children with pipes, a fork and a worker",
    tools: ["node"],
    steps: `node -e 'const c = require("child_process"); if (process.argv[1] === "child") { process.send("sent"); process.disconnect() } else { console.log(c.execSync("echo by exec").toString().trim()); const { Worker } = require("worker_threads"); new Worker("require(\\"worker_threads\\").parentPort.postMessage(\\"worked\\")", { eval: true }).on("message", console.log); require("fs").writeFileSync("child.js", "process.send(\\"sent\\"); process.disconnect()"); c.fork("child.js").on("message", console.log); c.spawn("sh", ["-c", "cat; echo by spawn >&2"], { stdio: ["pipe", "inherit", "inherit"] }).stdin.end("piped\\n") }'`,
    says: /by exec[\s\S]*/,
    broken: ({ output }) => ["worked", "sent", "piped", "by spawn"].find((word) => !output.includes(word)),
  },
  {
    ...work,
    id: "work-node-test",
    what: "runs node's own tests",
    tools: ["node"],
    steps: strict(`echo 'require("node:test").test("x", () => {})' > x.test.js; node --test x.test.js`),
    says: "pass 1",
  },
  {
    ...work,
    id: "work-node-watch",
    what: "is told by node of changes to files",
    tools: ["node"],
    steps: `echo a > f; node -e 'const fs = require("fs"); const w = fs.watch(".", () => { console.log("changed"); w.close(); clearInterval(t) }); const t = setInterval(() => fs.appendFileSync("f", "x"), 20)'`,
    says: "changed",
  },
  {
    ...work,
    id: "work-python-venv",
    what: "makes a virtual environment and runs its python",
    tools: ["python3"],
    steps: strict(
      `python3 -m venv v; . v/bin/activate; python -c 'import sys; print(sys.prefix)'; pip --version`,
    ),
    says: "/v\n",
  },
  {
    ...work,
    id: "work-pip-wheel",
    what: "installs a local wheel without a network",
    tools: ["python3"],
    steps: strict(
      `python3 -m venv v\n${wheel}v/bin/pip install --quiet --no-index --disable-pip-version-check ./hello_probe-1.0-py3-none-any.whl; v/bin/python -c 'import hello_probe; hello_probe.hi()'`,
    ),
    says: "hi from the wheel",
  },
  {
    ...work,
    id: "work-python-multiprocessing",
    what: "python uses pools, semaphores and shared memory",
    tools: ["python3"],
    steps: `cat > m.py <<'END'\nfrom multiprocessing import Pool, Semaphore, shared_memory, Queue, Process\ndef square(x): return x * x\ndef put(q): q.put("queued")\nif __name__ == "__main__":\n    with Pool(2) as p: print(p.map(square, [1, 2, 3]))\n    with Semaphore(1): print("semaphore")\n    s = shared_memory.SharedMemory(create=True, size=100); s.buf[0] = 7; print(s.buf[0]); s.close(); s.unlink()\n    q = Queue(); p = Process(target=put, args=(q,)); p.start(); print(q.get()); p.join()\nEND\npython3 m.py`,
    says: /\[1, 4, 9\]\nsemaphore\n7\nqueued/,
  },
  {
    ...work,
    id: "work-python-sqlite",
    what: "python keeps a database on disk, with its log",
    tools: ["python3"],
    steps: python(`
import sqlite3
try: d = sqlite3.connect("x.db")
except Exception as e: raise SystemExit(e)
d.execute("pragma journal_mode=wal"); d.execute("create table t(a)"); d.execute("insert into t values (5)"); d.commit(); print(d.execute("select a from t").fetchone())`),
    says: "(5,)",
  },
  {
    ...work,
    id: "work-python-subprocess",
    what: "python starts processes with pipes and a temporary folder",
    tools: ["python3"],
    steps: python(`
import subprocess, tempfile, asyncio
print(subprocess.run(["cat"], input=b"through", capture_output=True).stdout)
with tempfile.TemporaryDirectory() as d: open(d + "/x", "w").write("x"); print("temporary")
async def go():
    p = await asyncio.create_subprocess_exec("echo", "async", stdout=-1); print(await p.stdout.read())
asyncio.run(go())`),
    says: /through[\s\S]*temporary[\s\S]*async/,
  },
  {
    ...work,
    id: "work-make",
    what: "builds with make on several processors",
    tools: ["make"],
    steps: strict(`printf 'all: a b c d\\na b c d:\\n\\techo $@ > $@\\n' > Makefile; make -j4; cat a b c d`),
    says: /a\nb\nc\nd/,
  },
  {
    ...work,
    id: "work-gcc",
    what: "compiles and runs a program in C",
    tools: ["gcc"],
    steps: strict(
      `printf '#include <stdio.h>\\n#include <pthread.h>\\nvoid *f(void *p) { return p; }\\nint main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); puts("compiled"); }\\n' > x.c; gcc -O2 -pthread x.c -o x; ./x`,
    ),
    says: "compiled",
  },
  {
    ...work,
    id: "work-go",
    what: "builds and runs a program in Go, twice, with its cache",
    tools: ["go"],
    steps: () => [
      {
        script: strict(
          `printf 'package main\\nimport "fmt"\\nfunc main() { fmt.Println("gone") }\\n' > main.go; printf 'module probe\\n\\ngo 1.20\\n' > go.mod; GOFLAGS=-mod=mod GOTOOLCHAIN=local go build -o x .; ./x`,
        ),
        timeoutMs: 120_000,
      },
      {
        script: 'GOTOOLCHAIN=local go run . && test -d "$(go env GOCACHE)" && echo cached',
        timeoutMs: 60_000,
      },
    ],
    says: /gone\ngone\ncached/,
  },
  {
    ...work,
    id: "work-cargo",
    what: "builds and runs a program in Rust",
    tools: ["cargo"],
    steps: () => [
      {
        script: strict(
          `mkdir src; printf '[package]\\nname = "probe"\\nversion = "0.1.0"\\nedition = "2021"\\n' > Cargo.toml; echo 'fn main() { println!("rusted"); }' > src/main.rs; cargo run --offline --quiet`,
        ),
        timeoutMs: 60_000,
      },
    ],
    says: "rusted",
  },
  {
    ...work,
    id: "work-java",
    what: "compiles and runs a program in Java",
    tools: ["javac", "java"],
    steps: () => [
      {
        script: strict(
          `echo 'public class X { public static void main(String[] a) { System.out.println("brewed"); } }' > X.java; javac X.java; java X`,
        ),
        timeoutMs: 60_000,
      },
    ],
    says: "brewed",
  },
  {
    ...work,
    id: "work-perl-awk",
    what: "runs perl, awk, sed and the other tools of the trade",
    tools: ["perl"],
    steps: strict(
      `perl -e 'print "perl\\n"'; echo 1 2 | awk '{print $1 + $2}'; echo abc > f; sed -i s/b/B/ f; cat f; sort -R f | head -1; printf 'b\\na\\n' | sort | tr '\\n' ' '; diff f f && echo same; find . -name f -print0 | xargs -0 -P2 wc -c`,
    ),
    says: /perl\n3\naBc[\s\S]*a b same/,
  },
  {
    ...work,
    id: "work-tar",
    what: "packs and unpacks archives, also with other owners in them",
    tools: ["tar", "gzip"],
    steps: strict(
      `mkdir d; echo x > d/f; tar czf d.tgz d; tar --owner=4321 --group=4321 -cf o.tar d; rm -r d; tar xzf d.tgz; cat d/f; rm -r d; tar xf o.tar; cat d/f; cp -a d e; cat e/f`,
    ),
    says: /x\nx\nx/,
  },
  {
    ...work,
    id: "work-strace",
    what: "traces its own program",
    tools: ["strace"],
    steps: "strace -f -e trace=execve true 2>&1 | head -3",
    says: "execve(",
  },
  {
    ...work,
    id: "work-gdb",
    what: "debugs its own program",
    tools: ["gdb", "gcc"],
    steps: () => [
      {
        script: strict(
          `printf 'int main(void) { return 3; }\\n' > x.c; gcc -g x.c -o x; gdb -q -nx -batch -ex 'break main' -ex run -ex next -ex continue ./x 2>&1`,
        ),
        timeoutMs: 60_000,
      },
    ],
    says: "exited with code 03",
  },
];
