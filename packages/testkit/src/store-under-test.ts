/** A store under test, and its factory. */
import type { Owner, Store } from "@lathe/protocol";

/** An empty store; `another` is a second process's view of the same state. */
export interface StoreUnderTest {
  readonly store: Store;
  readonly another: () => Store;
}

/** *Contract:* calls `isAlive` to learn whether an owner's process runs. */
export type MakeStore = (options: { readonly isAlive: (owner: Owner) => boolean }) => StoreUnderTest;
