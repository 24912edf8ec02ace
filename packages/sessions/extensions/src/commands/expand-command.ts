/** Expands a slash command: words that name a file of the project or the user, or what is built in, stand for what is in it. */
import { existsSync } from "node:fs";
import { type Failure, failure } from "@lathe/protocol";
import { type CustomFile, type LeftOut, readCustomFiles } from "../files/extension-files.ts";
import type { ExtensionPlace } from "../files/extension-place.ts";
import { switchOf, textOf } from "../files/fields.ts";
import { builtinCommands } from "./builtin-commands.ts";

export interface SlashCommand {
  readonly name: string;
  readonly about: string;
  /** What it takes, for people. */
  readonly hint?: string;
}

interface Command extends SlashCommand {
  /** Another name that it may be called by, where no other has it. */
  readonly placeName?: string;
  readonly body: string;
}

type Called = Command | LeftOut;

/** Commands, then skills, which can be called like them, then what is built in: the first of a name. */
async function allOf(place: ExtensionPlace): Promise<readonly Called[]> {
  const own = await readCustomFiles(place, { folder: "commands" });
  const skills = await readCustomFiles(place, { folder: "skills", file: "SKILL.md" });
  const callable = skills.files.filter(({ fields }) => switchOf(fields, "user-invocable") !== false);
  const hidden = own.hidden.map((one) => ({ ...one, name: one.placeName }));
  return [
    ...[...own.files, ...hidden].map(fromFile),
    ...own.leftOut,
    ...callable.map(fromFile),
    ...skills.leftOut,
    ...builtinCommands,
  ];
}

function fromFile({ name, placeName, fields, body }: CustomFile): Command {
  const given = fields["argument-hint"];
  // `[issue]` is a list in YAML.
  const hint = Array.isArray(given) ? `[${given.join(", ")}]` : textOf(fields, "argument-hint");
  const about = textOf(fields, "description") ?? body.trim().split("\n", 1)[0] ?? "";
  return { name, placeName, about, body, ...(hint !== undefined && { hint }) };
}

function calledBy(name: string, all: readonly Called[]): Called | undefined {
  return all.find((one) => one.name === name) ?? all.find(({ placeName }) => placeName === name);
}

function listed(all: readonly Called[]): readonly Command[] {
  return all.filter((one) => "body" in one).filter((one) => calledBy(one.name, all) === one);
}

export async function listCommands(place: ExtensionPlace): Promise<readonly SlashCommand[]> {
  return listed(await allOf(place)).map(({ body: _, placeName: __, ...command }) => command);
}

/** Why there is no command of a name, where a file would be one but for something. */
export async function whyLeftOut(name: string, place: ExtensionPlace): Promise<string | undefined> {
  return reasonOf(calledBy(name, await allOf(place)));
}

function reasonOf(called: Called | undefined): string | undefined {
  return called && "why" in called ? `${called.path} was left out: ${called.why}` : undefined;
}

/** The words as they are where they name no command; a failure where they seem to mean one that is not there. */
export async function expandCommand(text: string, place: ExtensionPlace): Promise<string | Failure> {
  const [, name = "", rest = ""] = /^\s*\/([\p{L}\p{N}_.:-]+)(?:\s+([\s\S]*))?$/u.exec(text) ?? [];
  if (name === "") return text;
  const all = await allOf(place);
  const called = calledBy(name, all);
  if (called && "body" in called) return filled(called.body.trim(), rest.trim());
  const why = reasonOf(called);
  if (why !== undefined) return failure("invalid-arguments", `there is no /${name}: ${why}`, { who: "user" });
  // It may as well be a path that the task is about.
  if (rest !== "" || existsSync(`/${name}`)) return text;
  const there = listed(all)
    .map((one) => `/${one.name}`)
    .join(", ");
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
