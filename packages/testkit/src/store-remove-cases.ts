/** The part of the store suite about removing sessions. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { createdDraft, failedWith, noticeDraft, succeeded, testOwner } from "./session-drafts.ts";
import type { MakeStore } from "./store-under-test.ts";

const first = testOwner(1);
const second = testOwner(2);
const now = { at: 5, durable: false };

export function removeTests(makeStore: MakeStore): void {
  it("removes a session for every process, and frees its id", async () => {
    const { store, another } = makeStore({ isAlive: () => true });
    const log = succeeded(await store.create(createdDraft("one"), { owner: first, at: 1 }));
    const kept = succeeded(await store.create(createdDraft("two"), { owner: first, at: 2 }));
    await kept.close();
    assert.equal((await another().list({})).length, 2);
    assert.equal(await log.remove(), undefined);
    for (const one of [store, another()]) {
      failedWith("session-unknown", await one.read("one"));
      failedWith("session-unknown", await one.claim("one", { owner: second, at: 3, force: true }));
      assert.deepEqual(
        (await one.list({})).map(({ id }) => id),
        ["two"],
      );
    }
    failedWith("stale-epoch", await log.append([noticeDraft("late")], now));
    await log.close();
    const anew = succeeded(await store.create(createdDraft("one"), { owner: second, at: 4 }));
    assert.equal(anew.events.length, 2);
  });

  it("does not remove a session another owner has taken over, and waits for effects", async () => {
    const { store, another } = makeStore({ isAlive: () => true });
    const log = succeeded(await store.create(createdDraft("one"), { owner: first, at: 1 }));
    const order: string[] = [];
    const effect = log.withLease(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push("effect");
    });
    const other = await effect.then(() => another().claim("one", { owner: second, at: 2, force: true }));
    failedWith("stale-epoch", (await log.remove()) ?? "removed");
    const held = succeeded(other);
    const running = held.withLease(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push("last effect");
    });
    assert.equal(await held.remove(), undefined);
    order.push("gone");
    await running;
    assert.deepEqual(order, ["effect", "last effect", "gone"]);
  });
}
