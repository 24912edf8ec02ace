/** Forks of attempts that have not started yet: they are unchanged, but stay. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import type { Fork } from "@lathe/overlays/fork";
import { isFailure } from "@lathe/protocol";
import { processOwner } from "@lathe/stores";
import { createdDraft } from "@lathe/testkit";
import { openState } from "../history/state.ts";
import { makeBench } from "../session-bench.test.ts";
import { localForks } from "./local-forks.ts";

it("keeps the empty forks of attempts until these are settled, and no other empty forks", async (test) => {
  const bench = makeBench("waiting-forks");
  test.after(() => bench.remove());
  const { cwd } = bench;
  const env = { ...bench.env, XDG_CACHE_HOME: process.env.LATHE_TEST_CACHE ?? join(bench.root, "cache") };
  const old = async (session: string): Promise<Fork | undefined> => {
    const fork = await localForks(env).open({ cwd, about: "a test", session });
    if (isFailure(fork)) return undefined;
    const path = join(fork.folder, "fork.json");
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), madeAt: 1 }));
    return fork;
  };
  const [mine] = [await old("s1"), await old("never-begun")];
  if (!mine) return test.skip("no fork can be made here");
  const created = createdDraft("s1", { cwd });
  const log = await openState(env).store.create(created, { owner: processOwner(), at: 0 });
  assert.ok(!isFailure(log));
  const started = { attempts: [], seed: 1, apply: true, keepAll: false };
  await log.append([{ type: "attempts.started", data: started }], { at: 1, durable: true });
  const listed = async (): Promise<readonly string[]> => {
    const found = await localForks(env).list();
    return isFailure(found) ? [found.text] : found.map(({ fork }) => fork.id);
  };
  assert.deepEqual(await listed(), [mine.id]);
  await log.append([{ type: "attempts.settled", data: {} }], { at: 2, durable: true });
  await log.close();
  assert.deepEqual(await listed(), []);
});
