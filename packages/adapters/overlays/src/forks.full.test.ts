/** Ten thousand files changed, made and removed in one fork, and applied. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { testForkHost } from "./fork-host.test.ts";
import { compareFork, dropFork, enteringFork, openFork } from "./forks.ts";
import { keepFork } from "./keep-fork.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-many-")));
after(() => rmSync(folder, { recursive: true, force: true }));
const host = testForkHost(folder);
const count = 10_000;

it("a fork with ten thousand differences is listed and applied completely", async (context) => {
  const base = join(folder, "base");
  for (let at = 0; at < count; at++) {
    mkdirSync(join(base, `d${at % 100}`), { recursive: true });
    writeFileSync(join(base, `d${at % 100}/f${at}`), String(at));
  }
  const fork = await openFork(host, { cwd: base, about: "" });
  if (isFailure(fork)) return context.skip(fork.text);
  const script = `
    for d in d?; do rm -r $d; done
    for f in d[1-4]?/*; do echo new > $f; done
    mkdir made; for i in $(seq 4000); do echo $i > made/$i; done`;
  const words = await enteringFork(host, fork, { program: ["/bin/bash", "-c", script] });
  assert.ok(!isFailure(words));
  const [file, ...args] = words;
  execFileSync(file, args, { stdio: "ignore" });
  const from = performance.now();
  const compared = await compareFork(host, fork);
  assert.ok(!isFailure(compared));
  context.diagnostic(`compared in ${Math.round(performance.now() - from)} ms`);
  assert.equal(compared.differences.length, 10 + 1000 + 4000 + 1 + 4000);
  const began = performance.now();
  const kept = await keepFork(host, fork, { hostRun: false, force: false });
  context.diagnostic(`kept in ${Math.round(performance.now() - began)} ms`);
  assert.ok(!isFailure(kept), isFailure(kept) ? kept.text : "");
  assert.equal(readdirSync(join(base, "made")).length, 4000);
  assert.equal(readFileSync(join(base, "d10/f10"), "utf8"), "new\n");
  assert.equal(readFileSync(join(base, "d50/f50"), "utf8"), "50");
  assert.deepEqual(
    readdirSync(base).filter((name) => /^d\d$/.test(name)),
    [],
  );
  assert.ok(isFailure(await openFork({ ...host, inFork: fork.id }, { cwd: base, about: "" })));
  await dropFork(host, fork);
});
