/** The arguments of a command's line, derived from the data of its help, for completions. */

import type { Flag, Flags, ValueKind } from "@lathe/config";
import type { Command } from "../command-line/command.ts";

/** The shell completes files and folders itself; undefined if there is nothing to suggest. */
export type Completed = ValueKind | "files" | "folders" | undefined;

export interface ShapedFlag {
  readonly name: string;
  readonly short?: string;
  readonly about: string;
  readonly multiple: boolean;
  /** Absent if the flag takes no value. */
  readonly value?: { readonly name: string; readonly completed: Completed };
}

export interface LineShape {
  readonly name: string;
  /** Short enough for a list. */
  readonly about: string;
  readonly actions: readonly { readonly name: string; readonly words: Completed }[];
  /** The kind of its arguments, if it has no actions. */
  readonly words: Completed;
  readonly flags: readonly ShapedFlag[];
}

type Described = Pick<Command, "about" | "usage" | "flags" | "words">;

export function lineShape(name: string, { about, usage, flags, words }: Described): LineShape {
  const forms = usage.map((form) => form.split(/\s+/).map((word) => word.replace(/[[\]]/g, "")));
  const actions = new Map<string, Completed>();
  for (const [, action = "", ...rest] of forms) {
    if (!isAction(action)) continue;
    const first = completedBy(rest[0], words);
    actions.set(action, actions.get(action) ?? first);
  }
  const own = forms.map(([, first]) => completedBy(first, words)).find((one) => one !== undefined);
  return {
    name,
    about: about.replace(/[;.].*$/, ""),
    actions: [...actions].map(([action, completed]) => ({ name: action, words: completed })),
    words: own,
    flags: shapedFlags(flags),
  };
}

/** `options` is a placeholder for all flags. */
function isAction(word: string): boolean {
  return /^[a-z][a-z-]*$/.test(word) && word !== "options";
}

function shapedFlags(flags: Flags): readonly ShapedFlag[] {
  const own = Object.entries(flags).map(([name, flag]) => shapedFlag(name, flag));
  return [...own, shapedFlag("help", { type: "boolean", short: "h", about: "what it takes" })];
}

function shapedFlag(name: string, { type, short, about, multiple = false, value, values }: Flag): ShapedFlag {
  const called = value ?? "VALUE";
  const completed = values ?? completedBy(called, undefined);
  return {
    name,
    about,
    multiple,
    ...(short !== undefined && { short }),
    ...(type === "string" && { value: { name: called, completed } }),
  };
}

/** The values for a placeholder in the usage or in a flag. */
function completedBy(placeholder: string | undefined, words: ValueKind | undefined): Completed {
  const name = placeholder?.replace(/\.\.\.$/, "");
  if (name === "FILE" || name === "PATH") return "files";
  if (name === "DIR") return "folders";
  return name === "ID" || name === "NAME" || name === "SHELL" ? words : undefined;
}
