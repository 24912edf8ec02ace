/** Tests that every adapter of the ledger port must pass. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Ledger, LedgerEntry, Owner, TreeAccount } from "@lathe/protocol";
import { fc } from "#properties";
import { succeeded } from "./session-drafts.ts";

/** An empty ledger; `another` is a second process's view of the same one. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  readonly another: () => Ledger;
}

export type MakeLedger = (options: { readonly isAlive: (owner: Owner) => boolean }) => LedgerUnderTest;

const owner = (pid: number): Owner => ({ host: "here", pid, startedAt: 1 });
const reserved = (attempt: string, cost: number, session = "s"): LedgerEntry => {
  return { type: "budget.reserved", session, attempt, owner: owner(1), tokens: 10, cost };
};
const settled = (attempt: string, cost: number, session = "s"): LedgerEntry => {
  return { type: "budget.settled", session, attempt, tokens: 1, cost };
};
const soon = { durable: false };

export function ledgerConformance(name: string, host: string, make: MakeLedger): void {
  const isAlive = () => true;
  const openOf = ({ open }: TreeAccount): readonly string[] => open.map(({ attempt }) => attempt);

  describe(`${name} is a ledger`, () => {
    it("reserves what fits under the cap in order of entry, and releases the unused rest", async () => {
      const { ledger, another } = make({ isAlive });
      await ledger.enter([{ type: "budget.capped", cost: 1 }], soon);
      assert.deepEqual(openOf(succeeded(await ledger.enter([reserved("a", 0.6)], soon))), ["a"]);
      assert.deepEqual(openOf(succeeded(await another().enter([reserved("b", 0.5)], soon))), ["a"]);
      assert.deepEqual(openOf(succeeded(await ledger.enter([settled("a", 0.5)], { durable: true }))), []);
      assert.deepEqual(openOf(succeeded(await another().enter([reserved("b", 0.5)], soon))), ["b"]);
      const { used, sessions } = succeeded(await ledger.read());
      assert.deepEqual([used.nanos, sessions.get("s")?.nanos], [5e8, 5e8]);
    });

    it("counts no entry twice, and money spent before the ledger only as its first entry", async () => {
      const { ledger } = make({ isAlive });
      const before = { type: "budget.opened", tokens: 5, cost: 0.2, costUnknown: false } as const;
      const entries = [before, before, settled("a", 9), reserved("a", 0.1), reserved("a", 0.1)];
      await ledger.enter([...entries, settled("a", 0.1), settled("a", 0.1)], soon);
      assert.deepEqual(succeeded(await ledger.read()).used, { tokens: 6, nanos: 3e8, costUnknown: false });
    });

    it("charges a dead process its whole reservation, and leaves running and unknown ones alone", async () => {
      const { ledger, another } = make({ isAlive: ({ pid }) => pid !== 2 });
      const of = (attempt: string, by: Owner): LedgerEntry =>
        ({ ...reserved(attempt, 0.3), owner: by }) as LedgerEntry;
      const alive = of("alive", { ...owner(3), host });
      const entries = [alive, of("dead", { ...owner(2), host }), of("far", { ...owner(3), host: "far" })];
      await ledger.enter(entries, soon);
      assert.equal(await another().settleDead(), 1);
      const account = succeeded(await ledger.read());
      assert.deepEqual([openOf(account), account.used.nanos], [["alive", "far"], 3e8]);
      assert.equal(await ledger.settleDead(), 0);
    });

    it("notifies soon after another process made an entry", async () => {
      const { ledger, another } = make({ isAlive });
      await ledger.enter([reserved("a", 1)], soon);
      const told = ledger.changed(new AbortController().signal);
      await another().enter([settled("a", 1)], soon);
      await told;
      await ledger.changed(AbortSignal.abort());
    });

    it("never reserves more than the cap, whichever process makes entries in whatever order", () =>
      fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) => play(make({ isAlive }), steps)),
        { numRuns: 50 },
      ));
  });
}

const step = fc.record({
  who: fc.nat(3),
  attempt: fc.nat(9),
  cost: fc.double({ min: 0, max: 0.7, noNaN: true }),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  settles: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Four processes make their entries, and settle no more than they reserved. */
async function play({ ledger, another }: LedgerUnderTest, steps: readonly Step[]): Promise<void> {
  const all = [ledger, another(), another(), another()] as const;
  await ledger.enter([{ type: "budget.capped", cost: 1 }], soon);
  const held = new Map<string, number>();
  for (const { who, attempt, cost, share, settles } of steps) {
    const id = `${who}.${attempt}`;
    const entry = settles ? settled(id, (held.get(id) ?? 0) * share) : reserved(id, cost);
    const { open, used } = succeeded(await (all[who] ?? ledger).enter([entry], soon));
    const mine = open.find((one) => one.attempt === id);
    if (mine) held.set(id, mine.cost ?? 0);
    const inAll = open.reduce((sum, one) => sum + (one.cost ?? 0), used.nanos / 1e9);
    assert.ok(inAll <= 1 + 1e-6, `${inAll}`);
  }
  const accounts = await Promise.all(all.map((one) => one.read()));
  for (const account of accounts) assert.deepEqual(account, accounts[0]);
  for (const one of all) one.close();
}
