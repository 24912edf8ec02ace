/** What a sandbox probe is: a script that tries to get out, or one that must simply work. */
import type { CommandResult, Failure, Sandbox, SandboxSpec } from "@lathe/protocol";
import type { Ground } from "./ground.ts";

/** One command of a probe; the working folder is relative to the workspace, or absolute. */
export interface Step {
  readonly script: string;
  readonly cwd?: string;
  readonly timeoutMs?: number;
  /** Started in the background; the next step begins when it has written this. */
  readonly background?: string;
}

export type Steps = string | ((ground: Ground) => string | readonly Step[]);

/** What a probe needs of the machine beyond its tools. */
export type Need =
  | "shared-loopback"
  | "root"
  | "ordinary-user"
  | "terminal"
  | "inherited"
  | "x64"
  | "ipv6"
  | "second-address";

interface AnyProbe {
  /** Short and unique, in kebab-case. */
  readonly id: string;
  readonly group: string;
  /** One sentence: what the script tries. */
  readonly what: string;
  /** Programs the script uses; where one is missing the probe is skipped, and says so. */
  readonly tools?: readonly string[];
  readonly needs?: readonly Need[];
  /** Prepares the workspace and its surroundings, on the host. */
  readonly setup?: (ground: Ground) => void;
  readonly steps: Steps;
  /** Folders outside the workspace that commands may change all the same, as the repository around it. */
  readonly writable?: (ground: Ground) => readonly string[];
  /** Takes back what the probe did to the machine. */
  readonly restore?: (ground: Ground) => void;
}

/** What the host knows after the commands have ended and before the sandbox is closed. */
export interface Facts {
  readonly ground: Ground;
  readonly sandbox: Sandbox;
  readonly results: readonly (CommandResult | Failure)[];
  /** Everything the commands wrote, in order. */
  readonly output: string;
  /** What the host saw change, was told or was asked: any of it is an escape. */
  readonly breaches: readonly string[];
}

export interface EscapeProbe extends AnyProbe {
  /** Success would be code running on the host or a write outside. */
  readonly isGrave: boolean;
  /** What the user does on the host afterwards; planted code that it starts makes `outside/executed`. */
  readonly afterwards?: (ground: Ground) => void;
  /** Whether it got out in a way of its own, told in a few words; the breaches are looked at anyway. */
  readonly escaped?: (facts: Facts) => string | undefined | Promise<string | undefined>;
  /** Looked at again once the sandbox is closed. */
  readonly escapedAfterClose?: (ground: Ground) => string | undefined;
  /** Why it is never run without a sandbox: it would harm the machine, or means nothing there. */
  readonly noControl?: string;
  /** Why it need not succeed without a sandbox. */
  readonly weakControl?: string;
  /** What it must be to be seen to succeed without one. */
  readonly controlNeeds?: readonly Need[];
}

export interface WorkProbe extends AnyProbe {
  /** The output of all steps together must hold it. */
  readonly says?: string | RegExp;
  /** Why it did not work, when the output does not tell. */
  readonly broken?: (facts: Facts) => string | undefined;
  /** The exit codes expected, background steps left out; all zero when absent. 128 and more: a signal. */
  readonly codes?: readonly number[];
  /** Another name of the workspace folder, for spaces and the like. */
  readonly workspaceName?: string;
  /** What the spec says beyond the usual. */
  readonly spec?: (ground: Ground) => Partial<SandboxSpec>;
}

export type Probe = ({ readonly kind: "escape" } & EscapeProbe) | ({ readonly kind: "work" } & WorkProbe);

/** `broken`: nothing can be said, and it is the probe's own fault. `absent`: by design not in this tier. */
export type Outcome = "absent" | "contained" | "escaped" | "worked" | "failed" | "skipped" | "broken";

export interface ProbeResult {
  readonly id: string;
  readonly group: string;
  readonly kind: Probe["kind"];
  readonly isGrave: boolean;
  readonly outcome: Outcome;
  /** What was seen, or why it was skipped. */
  readonly why: string;
  readonly ms: number;
}

/** Judges by what a script wrote: for calls whose answer only the script can see. */
export function told(pattern: RegExp): (facts: Facts) => string | undefined {
  return ({ output }) => pattern.exec(output)?.[0];
}
