/** Expands a slash command: words that name a file of the project or the user, or what is built in, stand for what is in it. */
import { existsSync } from "node:fs";
import { type Failure, failure } from "@lathe/protocol";
import { builtinCommands } from "./builtin-commands.ts";
import { type CustomFile, type CustomPlace, readCustomFiles } from "./custom-files.ts";
import { textOf } from "./fields.ts";

export interface SlashCommand {
  readonly name: string;
  readonly about: string;
  /** What it takes, for people. */
  readonly hint?: string;
}

interface Command extends SlashCommand {
  readonly body: string;
}

/** Commands, then skills, which can be called like them, then what is built in: the first of a name. */
async function commandsOf(place: CustomPlace): Promise<readonly Command[]> {
  const [{ files: commands }, { files: skills }] = await Promise.all([
    readCustomFiles(place, { folder: "commands" }),
    readCustomFiles(place, { folder: "skills", file: "SKILL.md" }),
  ]);
  const byName = new Map<string, Command>();
  for (const one of [...commands.map(fromFile), ...skills.map(fromFile), ...builtinCommands]) {
    if (!byName.has(one.name)) byName.set(one.name, one);
  }
  return [...byName.values()];
}

function fromFile({ name, fields, body }: CustomFile): Command {
  const given = fields["argument-hint"];
  // `[issue]` is a list in YAML.
  const hint = Array.isArray(given) ? `[${given.join(", ")}]` : textOf(fields, "argument-hint");
  const about = textOf(fields, "description") ?? body.trim().split("\n", 1)[0] ?? "";
  return { name, about, body, ...(hint !== undefined && { hint }) };
}

export async function listCommands(place: CustomPlace): Promise<readonly SlashCommand[]> {
  return (await commandsOf(place)).map(({ body: _, ...command }) => command);
}

/** The words as they are where they name no command; a failure where they seem to mean one that is not there. */
export async function expandCommand(text: string, place: CustomPlace): Promise<string | Failure> {
  const [, name = "", rest = ""] = /^\s*\/([\w.-]+)(?:\s+([\s\S]*))?$/u.exec(text) ?? [];
  if (name === "") return text;
  const commands = await commandsOf(place);
  const command = commands.find((one) => one.name === name);
  if (command) return filled(command.body.trim(), rest.trim());
  // It may as well be a path that the task is about.
  if (rest !== "" || existsSync(`/${name}`)) return text;
  const there = commands.map((one) => `/${one.name}`).join(", ");
  return failure("invalid-arguments", `there is no command /${name}; there are ${there}`, { who: "user" });
}

function filled(body: string, words: string): string {
  const parts = partsOf(words);
  const takes = /\$(?:ARGUMENTS\b|\d)/u.test(body);
  if (!takes) return words === "" ? body : `${body}\n\nARGUMENTS: ${words}`;
  // At once, so that nothing in the words is taken for a place of its own.
  return body.replace(/\$(?:ARGUMENTS\[(\d+)\]|ARGUMENTS\b|(\d+))/gu, (_, index?: string, place?: string) => {
    if (index !== undefined) return parts[Number(index)] ?? "";
    return place === undefined ? words : (parts[Number(place) - 1] ?? "");
  });
}

/** As a shell would part them; quotes hold a part together. */
function partsOf(words: string): readonly string[] {
  const found = words.match(/"(?:[^"\\]|\\.)*"|'[^']*'|\S+/gu) ?? [];
  return found.map((part) => part.replace(/^(["'])([\s\S]*)\1$/u, "$2"));
}
