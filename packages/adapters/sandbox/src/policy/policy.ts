/** What a policy is made of: what is seen inside, what may be written there, and how much of everything. */
import type { SandboxSpec } from "@lathe/protocol";

/** One step of making the root; later ones lie on top of earlier ones. */
export type Mount =
  | { readonly kind: "read-only" | "writable"; readonly from: string; readonly to: string }
  /** A folder as a copy-on-write view: what is written goes to `upper`. */
  | {
      readonly kind: "overlay";
      readonly from: string;
      readonly upper: string;
      readonly work: string;
      readonly to: string;
    }
  | { readonly kind: "link"; readonly target: string; readonly at: string }
  /** What is writable already, mounted on itself: it cannot be moved away, nor anything else come to be in its place. */
  | { readonly kind: "pinned"; readonly at: string }
  /** An empty folder, or one that hides what is below it. */
  | { readonly kind: "folder" | "hidden"; readonly at: string };

export interface Limits {
  /** Processes and threads at once. */
  readonly processes: number;
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Bytes of memory: of all sandboxes of one launcher where there are control groups, else of each process. */
  readonly memoryBytes: number;
}

/** What sandboxes see of the machine. */
export interface System {
  readonly mounts: readonly Mount[];
  /** Another one when what the mounts name is not what it was. */
  readonly stamp: string;
}

export interface Policy {
  /** Lies below all else, also below what is granted. */
  readonly below: readonly Mount[];
  readonly mounts: readonly Mount[];
  /** What the first of them are: the same for every sandbox of this user with this PATH. */
  readonly system: System;
  readonly network: SandboxSpec["network"];
  readonly limits: Limits;
}
