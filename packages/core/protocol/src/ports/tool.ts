/** The tool port: a name the model knows, and a prepared call that says its effects before it runs. */
import type { Decision, Effect, Rule } from "../decision.ts";
import type { Delta } from "../delta.ts";
import type { EditPart, ProposedFile } from "../edit-part.ts";
import type { Failure } from "../failure.ts";
import type { JudgedFiles } from "../judged-files.ts";
import type { Outcome, ShownLines, Todo } from "../outcome.ts";
import type { ToolSpec } from "../prompt.ts";
import type { RedactionStream } from "../secrets/redaction-stream.ts";
import type { Counterpart } from "./hooks.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Search } from "./search.ts";
import type { Blobs } from "./store.ts";
import type { Syntax } from "./syntax.ts";
import type { Workspace } from "./workspace.ts";

/** The texts of file versions that the session has shown or changed. */
export interface Texts {
  /** *Contract:* returns at once; storing it may fail later, and then it is not there. */
  keep(version: string, text: string): void;
  /** *Contract:* undefined when it is not known any more. */
  recall(version: string): Promise<string | undefined>;
}

type OfCall<D> = D extends unknown ? Omit<D, "call"> : never;

/** What is asked in the middle of a run; its answer is one of the options, or what to do instead. */
export interface CallQuestion extends Question {
  readonly kind: "permission" | "question";
  /** What an answer that holds for more than this once would allow from then on. */
  readonly rules?: readonly Rule[];
}

/** The ports that tools see. */
export interface ToolPorts {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly search: Search;
  readonly syntax: Syntax;
  readonly blobs: Blobs;
  readonly texts: Texts;
  /** *Contract:* never rejects; the text with a placeholder for each key and password in it. */
  redact(text: string): Promise<string>;
  /** *Contract:* never rejects; the same for a text that comes in pieces. */
  redaction(): Promise<RedactionStream>;
}

/** What a running call may reach: the ports of tools, and what belongs to this one call. */
export interface ToolContext extends ToolPorts {
  readonly signal: AbortSignal;
  /** What a person took of it, of an edit that was not taken whole. */
  readonly part?: EditPart;
  /** The session that the call opens, of a call that opens one. */
  readonly child?: string;
  /** *Contract:* asks a person through the session; undefined when the turn ended before the answer. Absent where no person can be asked. */
  ask?(question: CallQuestion): Promise<string | undefined>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Shows text of the running call to listeners. */
  delta(delta: OfCall<Extract<Delta, { call: string }>>): void;
  /** The versions and lines of a file that the model has seen, oldest first. */
  shown(path: string): readonly ShownLines[];
  readonly todos: readonly Todo[];
  /** What its commands may do beyond the sandbox's spec. */
  readonly grants: readonly Effect[];
  /** Real paths that the call was judged to read, where the workspace does not know them by the name that was asked. */
  readonly reads: readonly string[];
  /** *Contract:* pure; whether rules grant reading a real absolute path, and what a person is to be asked for: `needs`, or less. */
  judgeReading(path: string, needs: Effect): Decision & { readonly wanted: Effect };
  /** What its commands may not delete, move or change: paths from the workspace or absolute, or globs of them. */
  readonly sealed: readonly string[];
  /** The files that its verdict depended on: its command starts only while they are as they were. */
  readonly judged?: JudgedFiles;
  /**
   * *Contract:* never rejects and asks no person; the files that a script depends on as they are now, where it may still run
   * without another question. Absent outside sessions.
   */
  judgeAgain?(script: ShellScript): Promise<JudgedFiles | undefined>;
  /** *Contract:* never rejects and asks no person; what is said of a script that the call runs beside its own effects. Absent outside sessions. */
  judge?(script: ShellScript): Promise<Decision>;
  /** *Contract:* never rejects; whether all that a script does is among what this call was allowed. Absent outside sessions. */
  isAllowed?(script: ShellScript): Promise<boolean>;
  /** Who reads some lines of a file is shown the whole definition around them. */
  readonly widensReads?: true;
  /** *Contract:* pure; globs of what rules keep from being read, but for those that `path` itself was allowed against. */
  unreadable(path: string): readonly string[];
}

/** A question for a person; the answer is the call's result. */
export interface Question {
  readonly text: string;
  readonly options: readonly string[];
}

/** What a call hands to a shell. */
export interface ShellScript {
  readonly text: string;
  /** Where it starts, from the workspace; empty for the workspace itself. */
  readonly folder: string;
}

/** A call once its arguments are mended, and what stands for another tool is that tool. */
export interface TakenCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A call with valid arguments, not yet allowed to run. */
export interface PreparedCall {
  /** In doubt, the graver. Empty when it touches nothing outside the session. */
  readonly effects: readonly Effect[];
  /** Its effects are more than `effects`: policy has to read these first. */
  readonly script?: ShellScript;
  /** What is called with which arguments, as they are taken; absent where that is what the model wrote. */
  readonly taken?: TakenCall;
  /** When present the call is answered by a person instead of being run. */
  readonly question?: Question;
  /** *Contract:* what its files would say, of a call that can be taken in part; nothing is changed. */
  propose?(context: ToolContext): Promise<readonly ProposedFile[] | Failure>;
  /** What hooks see of it; absent where they see the tool itself, or the files that it changes. */
  readonly counterpart?: Counterpart;
  /** Characters of the longest result that is shown whole; 20,000 when absent. */
  readonly wholeChars?: number;
  /** Behind its result: what of its arguments was not heeded. */
  readonly note?: string;
  /** It asks a person in the middle of its run. */
  readonly asks?: true;
  /** It opens a session, whose id is in the log before it runs: one in doubt runs again and goes on with that session. */
  readonly opensSession?: true;
  /** *Contract:* runs once; expected failures are outcomes; a throw is a bug. */
  run(context: ToolContext): Promise<Outcome>;
}

/** What the calls of a tool do, for who shows them, stands around them, or tells others about them. */
export type ToolKind = "read" | "search" | "edit" | "delete" | "move" | "execute" | "fetch";

/** What is known of a tool before there is one: some exist in some sessions only. */
export interface ToolIdentity {
  readonly name: string;
  /** Absent for what is none of these. */
  readonly kind?: ToolKind;
  /** What other agents call tools like it, in lower case: their definitions of subagents mean it. */
  readonly knownAs?: readonly string[];
  /** The tool that does the same by other means: who is not to have that has not this either. */
  readonly standsInFor?: string;
}

export interface Tool extends ToolSpec, ToolIdentity {
  /** *Contract:* pure; validates arguments parsed from JSON; a failure (`invalid-arguments`) names what to mend. */
  prepare(input: unknown): PreparedCall | Failure;
}

/** A call is a barrier when it writes or deletes files by itself: the calls of one answer run together between barriers. */
export function isBarrier(effects: readonly Effect[]): boolean {
  const isChange = ({ kind, traits }: Effect): boolean =>
    (kind === "write" || kind === "delete") && !traits?.includes("possible");
  return effects.some(isChange);
}

/** A call that reads files, and does nothing else; one without effects may look at what a command does. */
export function onlyReads(effects: readonly Effect[]): boolean {
  return effects.length > 0 && !mayChange(effects);
}

/** A call that may change anything: its start must be durable before it runs. */
export function mayChange(effects: readonly Effect[]): boolean {
  return effects.some((effect) => effect.kind !== "read");
}
