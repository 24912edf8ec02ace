/** The file adapters keep the contracts of the three ports. */
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import {
  blobsConformance,
  inboxConformance,
  ledgerConformance,
  refusesStrangeSessions,
  storeConformance,
} from "@lathe/testkit";
import { createBlobs } from "./blobs.ts";
import { createInbox } from "./inbox.ts";
import { createJsonlLedgers } from "./jsonl-ledger.ts";
import { createJsonlStore } from "./jsonl-store.ts";

const root = mkdtempSync(join(tmpdir(), "lathe-stores-"));
after(() => rmSync(root, { recursive: true }));
let count = 0;
/** Not there yet, and two levels deep: the adapters make it. */
const newFolder = (): string => {
  count += 1;
  return join(root, String(count), "state");
};

storeConformance("JsonlStore", ({ isAlive }) => {
  const folder = newFolder();
  const another = () => createJsonlStore({ folder, isAlive });
  return { store: another(), another };
});
ledgerConformance("The file ledger", hostname(), ({ isAlive }) => {
  const folder = newFolder();
  const another = () => createJsonlLedgers({ folder, isAlive }).open("root");
  return { ledger: another(), another };
});
inboxConformance("The file inbox", () => {
  const folder = newFolder();
  const another = () => createInbox({ folder });
  return { inbox: another(), another };
});
it("The file inbox refuses sessions that are no names", () =>
  refusesStrangeSessions(createInbox({ folder: newFolder() })));
blobsConformance("The file blobs", () => createBlobs({ folder: newFolder() }));
