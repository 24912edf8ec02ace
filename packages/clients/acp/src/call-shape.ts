/** Describes a tool call for an editor: kind, title, locations and planned changes. */
import { resolve } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { Effect, ToolCallPart } from "@lathe/protocol";
import { callTarget, fit } from "@lathe/terminal";
import { knownTools } from "@lathe/tools/known";

/** A log may name tools that no longer exist. */
const kinds: ReadonlyMap<string, ToolKind | undefined> = new Map(
  knownTools.map(({ name, kind }) => [name, kind]),
);

export interface CallShape {
  readonly toolCallId: string;
  readonly title: string;
  readonly name: string;
  readonly kind: ToolKind;
  readonly rawInput: unknown;
  readonly locations: ToolCallLocation[];
  readonly content: ToolCallContent[];
}

const titleLength = 200;

export function callShape({ id, tool, input }: ToolCallPart, cwd: string): CallShape {
  const rawInput = parsed(input);
  const target = fit(callTarget(input, []).replace(/\s+/g, " "), titleLength);
  return {
    toolCallId: id,
    title: target === "" ? tool : `${tool}: ${target}`,
    name: tool,
    kind: kinds.get(tool) ?? "other",
    rawInput,
    locations: placesOf(rawInput, cwd),
    content: changesOf(rawInput, cwd),
  };
}

const pathKinds: ReadonlySet<Effect["kind"]> = new Set(["read", "write", "delete"]);

/** The absolute paths in the effects that the policy found. */
export function placesOfEffects(effects: readonly Effect[], cwd: string): ToolCallLocation[] {
  const named = effects.filter(({ kind, expansion }) => pathKinds.has(kind) && expansion === undefined);
  return [...new Set(named.map(({ target }) => resolve(cwd, target)))].map((path) => ({ path }));
}

type Fields = Readonly<Record<string, unknown>>;

function placesOf(input: unknown, cwd: string): ToolCallLocation[] {
  const { path, ranges } = Object(input) as Fields;
  if (typeof path !== "string" || path.startsWith("blob:")) return [];
  const [first] = Array.isArray(ranges) ? (ranges as readonly unknown[]) : [];
  const [line] = Array.isArray(first) ? (first as readonly unknown[]) : [];
  return [{ path: resolve(cwd, path), ...(typeof line === "number" && line > 0 && { line }) }];
}

/** Reads the changes from the arguments of `edit` and `write`; the outcome has the complete files. */
function changesOf(input: unknown, cwd: string): ToolCallContent[] {
  const { path, edits, content } = Object(input) as Fields;
  if (typeof path !== "string") return [];
  const file = resolve(cwd, path);
  if (typeof content === "string") return [{ type: "diff", path: file, newText: content }];
  if (!Array.isArray(edits)) return [];
  return (edits as readonly unknown[]).flatMap((edit): ToolCallContent[] => {
    const { old, new: replacement } = Object(edit) as Fields;
    if (typeof old !== "string" || typeof replacement !== "string") return [];
    return [{ type: "diff", path: file, oldText: old, newText: replacement }];
  });
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return { input };
  }
}
