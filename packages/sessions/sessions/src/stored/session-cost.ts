/** A session's cost, with the account of the tree it belongs to. */
import { type Failure, fold, isFailure, type TreeAccount } from "@lathe/protocol";
import type { SessionArchive } from "../host/session-archive.ts";
import type { CostReport, TreeCost } from "./cost-report.ts";
import { foldCosts } from "./fold-costs.ts";

export type { CostReport, Place, StepCost, Total } from "./cost-report.ts";

/** *Contract:* reads only; also while the session runs. */
export async function sessionCost(
  { stores: { store, ledgers } }: Pick<SessionArchive, "stores">,
  id: string,
): Promise<CostReport | Failure> {
  const events = await store.read(id);
  if (isFailure(events)) return events;
  const { root = id } = fold(events.slice(0, 1));
  const ledger = ledgers.open(root);
  const account = await ledger.read();
  ledger.close();
  if (isFailure(account)) return account;
  const report = foldCosts(events);
  return account.entries === 0 ? report : { ...report, tree: treeOf(account, { root, id }) };
}

function treeOf(
  { cap, used, sessions, open }: TreeAccount,
  { root, id }: { readonly root: string; readonly id: string },
): TreeCost {
  const others = [...sessions].filter(([session]) => session !== id);
  return {
    root,
    cap,
    tokens: used.tokens,
    cost: used.nanos / 1e9,
    costUnknown: used.costUnknown,
    sessions: others
      .map(([session, { tokens, nanos, costUnknown }]) => ({
        id: session,
        tokens,
        costUnknown,
        cost: nanos / 1e9,
      }))
      .sort((a, b) => b.cost - a.cost || b.tokens - a.tokens),
    open: open.length,
  };
}
