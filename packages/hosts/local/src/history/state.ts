/** State: this user's sessions on this machine, with their inboxes and blobs. */
import { join } from "node:path";
import type { Blobs, Inbox, Ledgers, Store } from "@lathe/protocol";
import { createBlobs, createInbox, createJsonlLedgers, createJsonlStore, pruneBlobs } from "@lathe/stores";
import { stateFolder } from "../places/state-folder.ts";

export interface State {
  readonly store: Store;
  readonly inbox: Inbox;
  readonly ledgers: Ledgers;
  readonly blobs: Blobs;
  /** File contents that a model saw or changed; stored separately, because they may be discarded. */
  readonly texts: Blobs;
}

/** The name of the folder of texts in the state folder. */
const textsName = "texts";

/** The names of all blob folders in the state folder. */
export const blobFolders: readonly string[] = ["blobs", textsName];

/** *Contract:* at most once a day, best effort: removes texts that are old or exceed the limit. */
export function pruneTexts(env: Readonly<Record<string, string | undefined>>, now: number): void {
  pruneBlobs({ folder: join(stateFolder(env), textsName), now });
}

export function openState(env: Readonly<Record<string, string | undefined>>): State {
  const folder = stateFolder(env);
  return {
    store: createJsonlStore({ folder }),
    inbox: createInbox({ folder }),
    ledgers: createJsonlLedgers({ folder }),
    blobs: createBlobs({ folder }),
    texts: createBlobs({ folder, name: textsName }),
  };
}
