/** Outcome update: how a tool call ended, with the changed files whole, as an editor shows it. */
import { resolve } from "node:path";
import type { ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { type FileChange, type Outcome, outcomeText } from "@lathe/protocol";

export interface OutcomeView {
  readonly cwd: string;
  /** The text of a file's version; undefined when it is not known any more. */
  textOf(version: string): Promise<string | undefined>;
  /** The terminal in which the editor has shown the output already. */
  readonly terminal?: string;
}

export async function outcomeUpdate(
  call: string,
  outcome: Outcome,
  view: OutcomeView,
): Promise<ToolCallUpdate> {
  const changed = (outcome.type === "ok" && outcome.facts?.changed) || [];
  const diffs = (await Promise.all(changed.map((change) => diffOf(change, view)))).flat();
  const locations = changed.map(({ path }) => ({ path: resolve(view.cwd, path) }));
  return {
    toolCallId: call,
    status: wentWell(outcome) ? "completed" : "failed",
    content: [...diffs, ...saidOf(outcome, diffs.length > 0, view)],
    ...(locations.length > 0 && { locations }),
  };
}

function wentWell(outcome: Outcome): boolean {
  return outcome.type === "ok" && (outcome.facts?.exitCode ?? 0) === 0;
}

async function diffOf(
  { path, before, after, diff }: FileChange,
  view: OutcomeView,
): Promise<ToolCallContent[]> {
  const [oldText, newText] = await Promise.all([known(before, view), known(after, view)]);
  // A text with a secret in it is not kept: the bounded difference, in which it is taken out, stands for it.
  if (oldText === undefined || newText === undefined)
    return diff === undefined ? [] : [verbatim(`${path}\n${diff}`)];
  return [{ type: "diff", path: resolve(view.cwd, path), oldText, newText: newText ?? "" }];
}

/** Null for a file that was not there. */
async function known(version: string | undefined, view: OutcomeView): Promise<string | null | undefined> {
  return version === undefined ? null : view.textOf(version);
}

function saidOf(outcome: Outcome, hasDiffs: boolean, { terminal }: OutcomeView): ToolCallContent[] {
  if (terminal !== undefined) return [{ type: "terminal", terminalId: terminal }];
  if (hasDiffs) return [];
  const images = (outcome.type === "ok" && outcome.images) || [];
  const said = outcomeText(outcome);
  return [
    verbatim(said),
    ...images.map(({ base64, mediaType }): ToolCallContent => {
      return { type: "content", content: { type: "image", data: base64, mimeType: mediaType } };
    }),
  ];
}

/** As it stands: editors read contents as Markdown. */
export function verbatim(said: string): ToolCallContent {
  return text(fenced(said));
}

export function fenced(said: string): string {
  const longest = Math.max(2, ...(said.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${said.replace(/\n$/, "")}\n${fence}`;
}

export function text(said: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: said } };
}
