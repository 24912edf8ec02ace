/** Decisions: effects of a call, and whether policy lets them happen. */
import * as v from "valibot";
import type { Failure } from "./failure.ts";

export const effectKinds = [
  "read",
  "write",
  "delete",
  "execute",
  "network",
  "vcs",
  "process",
  "mcp",
] as const;

export type EffectKind = (typeof effectKinds)[number];

/** What a shell has still to make of a path: names from a glob, or something that only it can tell. */
export type Expansion = "glob" | "unknown";

/**
 * What more is known of an effect. `read-only`: a command that changes nothing, whatever the project says;
 * `project-code`: it runs what the project holds; `local`, `shared`, `history`: version control here, what others see, commits made anew;
 * `privilege`: with more rights, or on the machine itself; `irreversible`: nothing brings back what it was; `destroys`:
 * what was there is gone unless something keeps it; `replaces`: nothing of a file's text may be left in it; `discards`: it throws away what is in no commit; `named`: a host that
 * the command itself names; `secrets`: it prints keys or logins; `possible`: code of the project may do it;
 * `unfollowed`: it runs code of this machine that was not read to its end.
 */
const traits = [
  "read-only",
  "project-code",
  "local",
  "shared",
  "history",
  "privilege",
  "irreversible",
  "destroys",
  "replaces",
  "discards",
  "named",
  "secrets",
  "possible",
  "unfollowed",
] as const;

export type Trait = (typeof traits)[number];

/** One thing a call does; `target` is a path (workspace-relative where inside), a command, a host, a process id, or a server and its tool. */
export interface Effect {
  readonly kind: EffectKind;
  readonly target: string;
  /** Absent when the target is meant as it stands. */
  readonly expansion?: Expansion;
  /** Of a command: globs of the paths that its words may name; the rules on reading speak of them too. */
  readonly names?: readonly string[];
  readonly traits?: readonly Trait[];
}

/** Whether who was granted the one may do the other: what may be written may be read, and a place is all that lies below. */
export function coversGrant(grant: Effect, { kind, target }: Effect): boolean {
  if (grant.kind !== kind && !(grant.kind === "write" && kind === "read")) return false;
  return target === grant.target || (kind !== "network" && target.startsWith(`${grant.target}/`));
}

/** How much the user lets happen without being asked. */
export type Mode = "ask" | "auto" | "plan" | "read-only";

export const modes = ["ask", "auto", "plan", "read-only"] as const;

const strictness: Readonly<Record<Mode, number>> = { auto: 0, ask: 1, plan: 2, "read-only": 3 };

/** The one of the two that lets less happen. */
export function stricterMode(one: Mode, other: Mode | undefined): Mode {
  return other && strictness[other] > strictness[one] ? other : one;
}

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
  /** A glob over the paths it does not speak of. */
  readonly except?: string;
  /** Of paths: capitals and small letters are the same. */
  readonly ignoreCase?: boolean;
  readonly why?: string;
}

/** What policy needs to know of the world to judge a call, gathered by `perform`. */
export interface Facts {
  readonly mode: Mode;
  /** What contains a command: nothing, or a sandbox of this tier. */
  readonly containment: "none" | "reduced" | "full";
  /** The user runs without a sandbox by choice (`--no-sandbox`). */
  readonly uncontainedAllowed: boolean;
  /** Of each path that `factsNeeded` names. */
  readonly paths: Readonly<Record<string, PathFact>>;
  /** What the next checkpoint will not hold: folders and files, relative to the workspace; absent when there will be none. */
  readonly uncovered?: readonly string[];
  /** Whether the workspace holds work that is in no commit; absent when that was not checked. */
  readonly unsaved?: boolean;
  /** What was refused in this session and not allowed since. */
  readonly refusals?: readonly Refusal[];
  /** Rules that a person made for the rest of this session. */
  readonly allowed?: readonly Rule[];
}

/** An effect that a person did not let happen. */
export interface Refusal {
  readonly kind: EffectKind;
  readonly target: string;
  /** The path with links followed, of an effect on a path. */
  readonly real?: string;
  /** A person has spoken since: what may be the same is asked about, not refused. */
  readonly isOld?: boolean;
}

export interface PathFact {
  /** The path with links followed. */
  readonly real: string;
  /** Whether it lies in the workspace. */
  readonly inside: boolean;
  /** Why it is not inside: it leads out, or cannot be followed to its end. */
  readonly failure?: Failure;
  /** Nothing is there. */
  readonly absent?: boolean;
  /** The folder that git takes, or would take, for a repository with it. */
  readonly repository?: string;
  /** Why a program of the user's runs or obeys it, though its name does not say so. */
  readonly obeyed?: string;
}

export const effectSchema: v.GenericSchema<unknown, Effect> = v.object({
  kind: v.picklist(effectKinds),
  target: v.string(),
  expansion: v.exactOptional(v.picklist(["glob", "unknown"])),
  names: v.exactOptional(v.array(v.string())),
  traits: v.exactOptional(v.array(v.picklist(traits))),
});

export const refusalSchema: v.GenericSchema<unknown, Refusal> = v.object({
  kind: v.picklist(effectKinds),
  target: v.string(),
  real: v.exactOptional(v.string()),
  isOld: v.exactOptional(v.boolean()),
});

export const ruleSchema: v.GenericSchema<unknown, Rule> = v.object({
  name: v.string(),
  verdict: v.picklist(["allow", "ask", "deny"]),
  kinds: v.exactOptional(v.array(v.picklist(effectKinds))),
  target: v.exactOptional(v.string()),
  except: v.exactOptional(v.string()),
  ignoreCase: v.exactOptional(v.boolean()),
  why: v.exactOptional(v.string()),
});

export const modeSchema: v.GenericSchema<unknown, Mode> = v.picklist(modes);
export const verdictSchema: v.GenericSchema<unknown, Verdict> = v.picklist(["allow", "ask", "deny"]);

/** What a second model says about a call that the rules leave open. */
export interface Opinion {
  /** The model that gave it. */
  readonly model: string;
  readonly isHarmless: boolean;
  /** One sentence. */
  readonly why: string;
}

export const opinionSchema: v.GenericSchema<unknown, Opinion> = v.object({
  model: v.string(),
  isHarmless: v.boolean(),
  why: v.string(),
});
