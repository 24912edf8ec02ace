/** After a power cut at any moment nothing that was reported durable is lost, and everything still works. */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type Event, fold, isFailure, type SessionLog } from "@lathe/protocol";
import {
  type CrashState,
  createdDraft,
  failedWith,
  noticeDraft,
  recordFiles,
  succeeded,
  testOwner,
} from "@lathe/testkit";
import { createBlobs } from "./blobs.ts";
import { type Files, nodeFiles } from "./files.ts";
import { createInbox } from "./inbox.ts";
import { createJsonlStore } from "./jsonl-store.ts";

// In memory if possible: the power cuts are only recorded ones.
const temporary = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "lathe-crash-"));
after(() => rmSync(temporary, { recursive: true, force: true }));
let count = 0;
function newFolder(): string {
  count += 1;
  const folder = join(temporary, String(count));
  mkdirSync(folder);
  return folder;
}

/** Materialises every state, passes its state folder to `check`, and returns the number of states. */
async function eachState(
  states: Iterable<CrashState>,
  root: string,
  check: (folder: string, state: CrashState) => Promise<void>,
): Promise<number> {
  let checked = 0;
  for (const state of states) {
    const folder = newFolder();
    state.materialise(root, folder);
    await check(join(folder, "state"), state).catch((cause: unknown) => {
      throw new Error(`${state.text}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    });
    rmSync(folder, { recursive: true });
    checked += 1;
  }
  return checked;
}

/** A script's result: the whole log, and the number of durable events after each number of operations. */
interface Script {
  readonly root: string;
  readonly states: Iterable<CrashState>;
  readonly events: readonly Event[];
  readonly durable: readonly { readonly after: number; readonly length: number }[];
}

const isDead = (): boolean => false;
/** The checks after the power cut need no real syncs. */
const quick: Files = { ...nodeFiles, sync: () => undefined, syncFolder: () => undefined };

async function checkLog(script: Script, folder: string, { done }: CrashState): Promise<void> {
  const { events, durable } = script;
  const least = durable.filter((one) => one.after <= done).at(-1)?.length ?? 0;
  const store = createJsonlStore({ folder, files: quick, isAlive: isDead });
  const read = await store.read("one");
  const found = isFailure(read) ? [] : read;
  if (isFailure(read)) failedWith("session-unknown", read);
  assert.ok(found.length >= least, `${found.length} events, of ${least} that were durable`);
  assert.deepEqual(found, events.slice(0, found.length));
  assert.equal((await store.list({})).length, found.length > 0 ? 1 : 0);
  const claimed = await store.claim("one", { owner: testOwner(9), at: 9 });
  if (found.length === 0) {
    failedWith("session-unknown", claimed);
    const begun = succeeded(await store.create(createdDraft("one"), { owner: testOwner(9), at: 9 }));
    assert.deepEqual(succeeded(await store.read("one")), begun.events);
    return begun.close();
  }
  const log = succeeded(claimed);
  const appended = succeeded(await log.append([noticeDraft("after")], { at: 9, durable: false }));
  const again = succeeded(await store.read("one"));
  assert.deepEqual(again, [...log.events, ...appended]);
  assert.deepEqual(again.slice(0, found.length), found);
  fold(again);
  await log.close();
}

describe("a power cut", () => {
  it("leaves a prefix of the log, with everything durable", async (t) => {
    const root = newFolder();
    const recording = recordFiles<Files>(nodeFiles);
    const folder = join(root, "state");
    const store = createJsonlStore({ folder, files: recording.files, isAlive: isDead });
    const events: Event[] = [];
    const durable: { after: number; length: number }[] = [];
    const note = (log: SessionLog, at: number) => async (texts: readonly string[], isDurable: boolean) => {
      const appended = succeeded(await log.append(texts.map(noticeDraft), { at, durable: isDurable }));
      events.push(...appended);
      if (isDurable) durable.push({ after: recording.count(), length: events.length });
    };
    const created = await store.create(createdDraft("one"), { owner: testOwner(1), at: 1 });
    const log = succeeded(created);
    events.push(...log.events);
    const first = note(log, 2);
    await first(["a"], false);
    await first(["b", "ü"], false);
    await first(["c"], true);
    await first(["d", "e", "f"], true);
    await first(["g"], false);
    await log.withLease(async () => undefined);
    const taken = succeeded(await store.claim("one", { owner: testOwner(2), at: 3 }));
    events.push(...taken.events.slice(events.length));
    const second = note(taken, 4);
    await second(["h", "i"], false);
    await second([], true);
    await second(["j"], false);
    await taken.close();
    durable.push({ after: recording.count(), length: events.length });

    const script: Script = { root, states: recording.states(), events, durable };
    const states = await eachState(script.states, root, (at, state) => checkLog(script, at, state));
    t.diagnostic(`${states} states`);
    assert.ok(states > 1000);
  });
  it("during the recovery from another leaves the same as the first one", async (t) => {
    const root = newFolder();
    const folder = join(root, "state");
    const torn = '{"e":1,"more":1,"v":1,"session":"one","seq":4,"parent":3,"at":2,"type":"notice.po';
    const store = createJsonlStore({ folder, isAlive: isDead });
    const log = succeeded(await store.create(createdDraft("one"), { owner: testOwner(1), at: 1 }));
    const appended = succeeded(await log.append([noticeDraft("a")], { at: 2, durable: true }));
    appendFileSync(join(folder, "sessions", "one.jsonl"), torn);

    const recording = recordFiles<Files>(nodeFiles);
    const later = createJsonlStore({ folder, files: recording.files, isAlive: isDead });
    const taken = succeeded(await later.claim("one", { owner: testOwner(2), at: 3 }));
    assert.equal(taken.repairs.length, 1);
    const found = recording.count() - 1;
    const before = [...log.events, ...appended];
    const durable = [{ after: found, length: before.length }];
    const more = succeeded(
      await taken.append([noticeDraft("b"), noticeDraft("c")], { at: 4, durable: true }),
    );
    const events = [...taken.events, ...more];
    durable.push({ after: recording.count(), length: events.length });
    const script: Script = { root: folder, states: recording.states(), events, durable };
    const states = await eachState(script.states, root, (at, state) => checkLog(script, at, state));
    t.diagnostic(`${states} states`);
    assert.ok(states > 300);
  });

  it("loses no inbox message and no blob that was reported", async (t) => {
    const root = newFolder();
    const recording = recordFiles<Files>(nodeFiles);
    const options = { folder: join(root, "state"), files: recording.files };
    const inbox = createInbox(options);
    const blobs = createBlobs(options);
    const offers = new Map<string, number>();
    const texts = new Map<string, { hash: string; after: number }>();
    for (const text of ["a", "b", "c"]) {
      assert.equal(await inbox.offer("one", { type: "message", text }), undefined);
      offers.set(text, recording.count());
      const hash = succeeded(await blobs.put(text));
      texts.set(text, { hash, after: recording.count() });
    }
    const states = await eachState(recording.states(), root, async (folder, { done }) => {
      const pending = await createInbox({ folder, files: quick }).pending("one");
      const found = pending.map(({ offer }) => offer.type === "message" && offer.text);
      assert.deepEqual(found, [...offers.keys()].slice(0, found.length));
      for (const [text, at] of offers) assert.ok(at > done || found.includes(text), `offer ${text}`);
      for (const [text, { hash, after: at }] of texts) {
        const got = await createBlobs({ folder, files: quick }).get(hash);
        if (at <= done) assert.equal(got, text);
        else if (isFailure(got)) failedWith("not-found", got);
        assert.equal(await createBlobs({ folder, files: quick }).put(text), hash);
        assert.equal(await createBlobs({ folder, files: quick }).get(hash), text);
      }
    });
    t.diagnostic(`${states} states`);
    assert.ok(states > 100);
  });
});
