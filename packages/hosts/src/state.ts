/** State: the sessions of this user on this machine, with their inboxes and blobs. */
import type { Blobs, Inbox, Store } from "@lathe/protocol";
import { createBlobs, createInbox, createJsonlStore } from "@lathe/stores";
import { stateFolder } from "./state-folder.ts";

export interface State {
  readonly store: Store;
  readonly inbox: Inbox;
  readonly blobs: Blobs;
}

export function openState(env: Readonly<Record<string, string | undefined>>): State {
  const folder = stateFolder(env);
  return {
    store: createJsonlStore({ folder }),
    inbox: createInbox({ folder }),
    blobs: createBlobs({ folder }),
  };
}
