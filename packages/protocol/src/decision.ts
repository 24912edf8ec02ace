/** Decisions: effects of a call, and whether policy lets them happen. */
import * as v from "valibot";

export type EffectKind = "read" | "write" | "delete" | "execute" | "network" | "vcs" | "process";

/** One thing a call does; `target` is a path (workspace-relative where inside), a command, a host, or a process id. */
export interface Effect {
  readonly kind: EffectKind;
  readonly target: string;
}

/** How much the user lets happen without being asked. */
export type Mode = "ask" | "auto" | "plan" | "read-only";

export const modes = ["ask", "auto", "plan", "read-only"] as const;

export type Verdict = "allow" | "ask" | "deny";

export interface Decision {
  readonly verdict: Verdict;
  /** The name of the rule that decided. */
  readonly rule: string;
  /** Why, in one line for the user and the model. */
  readonly why: string;
}

/** A rule as data: the first matching one of the gravest verdict wins (deny beats ask beats allow). */
export interface Rule {
  readonly name: string;
  readonly verdict: Verdict;
  /** Effects it speaks of; absent means every kind. */
  readonly kinds?: readonly EffectKind[];
  /** A glob over the target: `*` any run of characters within, `**` across `/`; absent means every target. */
  readonly target?: string;
  readonly why?: string;
}

/** What policy needs to know of the world to judge a call, gathered by `perform`. */
export interface Facts {
  readonly mode: Mode;
  /** What contains a command: nothing, or a sandbox of this tier. */
  readonly containment: "none" | "reduced" | "full";
  /** The user runs without a sandbox by choice (`--no-sandbox`). */
  readonly uncontainedAllowed: boolean;
  /** For each path among the targets: the real path, and whether it lies in the workspace. */
  readonly paths: Readonly<Record<string, { readonly real: string; readonly inside: boolean }>>;
}

export const effectSchema: v.GenericSchema<unknown, Effect> = v.object({
  kind: v.picklist(["read", "write", "delete", "execute", "network", "vcs", "process"]),
  target: v.string(),
});

export const modeSchema: v.GenericSchema<unknown, Mode> = v.picklist(modes);
export const verdictSchema: v.GenericSchema<unknown, Verdict> = v.picklist(["allow", "ask", "deny"]);
