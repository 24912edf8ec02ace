/** Types of sandbox probes: a script that tries to escape, or one that must simply work. */
import type { CommandResult, Failure, Sandbox, SandboxSpec } from "@lathe/protocol";
import type { Ground } from "./ground.ts";

/** One command of a probe; the working folder is absolute or relative to the workspace. */
export interface Step {
  readonly script: string;
  readonly cwd?: string;
  readonly timeoutMs?: number;
  /** Runs in the background; the next step begins once it has written this. */
  readonly background?: string;
}

export type Steps = string | ((ground: Ground) => string | readonly Step[]);

/** Requirements on the machine beyond tools. */
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
  /** One sentence: the script's aim. */
  readonly what: string;
  /** Programs the script uses; if one is missing, the probe is reported as skipped. */
  readonly tools?: readonly string[];
  readonly needs?: readonly Need[];
  /** Prepares the workspace and its surroundings on the host. */
  readonly setup?: (ground: Ground) => void;
  readonly steps: Steps;
  /** Folders outside the workspace that commands may change, such as the surrounding repository. */
  readonly writable?: (ground: Ground) => readonly string[];
  /** Undoes the probe's changes to the machine. */
  readonly restore?: (ground: Ground) => void;
}

/** Facts that the host knows after the commands have ended and before the sandbox is closed. */
export interface Facts {
  readonly ground: Ground;
  readonly sandbox: Sandbox;
  readonly results: readonly (CommandResult | Failure)[];
  /** All output of the commands, in order. */
  readonly output: string;
  /** Changes, secrets and requests that the host observed: any of them is an escape. */
  readonly breaches: readonly string[];
}

export interface EscapeProbe extends AnyProbe {
  /** Success would run code on the host or write outside. */
  readonly isGrave: boolean;
  /** The user's later actions on the host; planted code that they start writes `outside/executed`. */
  readonly afterwards?: (ground: Ground) => void;
  /** Detects an escape specific to this probe, in a few words; the breaches are checked anyway. */
  readonly escaped?: (facts: Facts) => string | undefined | Promise<string | undefined>;
  /** Checked again once the sandbox is closed. */
  readonly escapedAfterClose?: (ground: Ground) => string | undefined;
  /** Why it never runs without a sandbox: it would harm the machine, or has no meaning there. */
  readonly noControl?: string;
  /** Why it need not succeed without a sandbox. */
  readonly weakControl?: string;
  /** What the machine needs for it to visibly succeed without a sandbox. */
  readonly controlNeeds?: readonly Need[];
}

export interface WorkProbe extends AnyProbe {
  /** The combined output of all steps must contain it. */
  readonly says?: string | RegExp;
  /** Explains a failure that the output does not show. */
  readonly broken?: (facts: Facts) => string | undefined;
  /** Expected exit codes, without background steps; all zero if absent. 128 and more: a signal. */
  readonly codes?: readonly number[];
  /** Another name for the workspace folder, for example one with spaces. */
  readonly workspaceName?: string;
  /** Overrides of the usual spec. */
  readonly spec?: (ground: Ground) => Partial<SandboxSpec>;
}

export type Probe = ({ readonly kind: "escape" } & EscapeProbe) | ({ readonly kind: "work" } & WorkProbe);

/** `broken`: no verdict, and the probe itself is at fault. `absent`: this tier lacks it by design. */
export type Outcome = "absent" | "contained" | "escaped" | "worked" | "failed" | "skipped" | "broken";

export interface ProbeResult {
  readonly id: string;
  readonly group: string;
  readonly kind: Probe["kind"];
  readonly isGrave: boolean;
  readonly outcome: Outcome;
  /** The observation, or why it was skipped. */
  readonly why: string;
  readonly ms: number;
}

/** Judges by the script's output: for calls whose result only the script can see. */
export function told(pattern: RegExp): (facts: Facts) => string | undefined {
  return ({ output }) => pattern.exec(output)?.[0];
}
