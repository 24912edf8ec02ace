/** Shows an editor how a tool call ended, with the changed files in full. */
import { resolve } from "node:path";
import type { ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { type FileChange, type Outcome, outcomeText } from "@lathe/protocol";

export interface OutcomeView {
  readonly cwd: string;
  /** The text of a file's version; undefined if it is no longer stored. */
  textOf(version: string): Promise<string | undefined>;
  /** The terminal in which the editor already shows the output. */
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
  // A text with a secret is not stored; the redacted, bounded diff is shown instead.
  if (oldText === undefined || newText === undefined)
    return diff === undefined ? [] : [verbatim(`${path}\n${diff}`)];
  return [{ type: "diff", path: resolve(view.cwd, path), oldText, newText: newText ?? "" }];
}

/** Null for a file that did not exist. */
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

/** Shows text verbatim: editors render contents as Markdown. */
export function verbatim(said: string): ToolCallContent {
  return text(codeBlock(said));
}

export function codeBlock(said: string): string {
  const longest = Math.max(2, ...(said.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${said.replace(/\n$/, "")}\n${fence}`;
}

export function text(said: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: said } };
}
