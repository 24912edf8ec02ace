/** A store under test, and how it is made. */
import type { Owner, Store } from "@lathe/protocol";

/** An empty store; `another` is the same state as another process sees it. */
export interface StoreUnderTest {
  readonly store: Store;
  readonly another: () => Store;
}

/** *Contract:* asks `isAlive` whether the process behind an owner runs. */
export type MakeStore = (options: { readonly isAlive: (owner: Owner) => boolean }) => StoreUnderTest;
