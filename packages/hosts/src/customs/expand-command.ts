/** Expands a slash command: words that name a file of the project or the user stand for what is in it. */
import { type Failure, failure } from "@lathe/protocol";
import { type CustomFile, type CustomPlace, readCustomFiles } from "./custom-files.ts";
import { textOf } from "./front-matter.ts";

export interface SlashCommand {
  readonly name: string;
  readonly about: string;
  /** What it takes, for people. */
  readonly hint?: string;
}

/** Commands, and skills, which can be called like them; a command comes before a skill of its name. */
function filesOf(place: CustomPlace): readonly CustomFile[] {
  const commands = readCustomFiles(place, { folder: "commands" }).files;
  const skills = readCustomFiles(place, { folder: "skills", file: "SKILL.md" }).files;
  return [...commands, ...skills.filter(({ name }) => !commands.some((one) => one.name === name))];
}

export function listCommands(place: CustomPlace): readonly SlashCommand[] {
  return filesOf(place).map(({ name, fields, body }) => {
    const hint = textOf(fields, "argument-hint");
    const about = textOf(fields, "description") ?? body.trim().split("\n", 1)[0] ?? "";
    return { name, about, ...(hint !== undefined && { hint }) };
  });
}

/** The words as they are where they name no command; a failure where they seem to mean one that is not there. */
export function expandCommand(text: string, place: CustomPlace): string | Failure {
  const [, name = "", rest = ""] = /^\s*\/([\w.-]+)(?:\s+([\s\S]*))?$/u.exec(text) ?? [];
  if (name === "") return text;
  const files = filesOf(place);
  const file = files.find((one) => one.name === name);
  if (file) return filled(file.body.trim(), rest.trim());
  // With words behind it, it may as well be a path that the task is about.
  if (rest !== "" || files.length === 0) return text;
  const there = files.map((one) => `/${one.name}`).join(", ");
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
