/** Memory: facts that sessions shall know, for one project and for all, in the user's own place; a person decides on each. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { writeWhole } from "@lathe/system/write-whole";
import type { MemoryScope } from "@lathe/tools";
import type { CustomPlace } from "../customs/custom-files.ts";
import { configFolder } from "../places/config-folder.ts";
import { readRegularFile } from "../places/regular-file.ts";
import { isInReach } from "../rules/kept-rules.ts";

const mostBytes = 64 * 1024;
/** Characters of what a session is told. */
const mostTold = 2_000;

export function memoryFile({ cwd, env }: CustomPlace, scope: MemoryScope): string {
  if (scope === "user") return join(configFolder(env), "memory.md");
  const name = createHash("sha256").update(cwd).digest("hex").slice(0, 24);
  return join(configFolder(env), "projects", `${name}.memory.md`);
}

/** One fact a line, as `- fact`; other lines are a person's own. */
export function readMemory(place: CustomPlace, scope: MemoryScope): readonly string[] | Failure {
  const path = memoryFile(place, scope);
  const file = readRegularFile(path, mostBytes);
  if (file === undefined) return [];
  if (isFailure(file)) return file;
  if (file.cut) return failure("too-large", `${path} is longer than ${mostBytes / 1024} KB: make it shorter`);
  const lines = new TextDecoder().decode(file.bytes).split("\n");
  return lines.flatMap((line) => /^- +(.*\S)/u.exec(line)?.[1] ?? []);
}

/** *Contract:* whole or not at all; a fact that is there already is not added again. */
export function addMemory(place: CustomPlace, scope: MemoryScope, fact: string): Failure | undefined {
  if (isInReach(place)) {
    const text = `${configFolder(place.env)} lies in ${place.cwd}, where commands can write: nothing is kept there`;
    return failure("no-access", text, { who: "user" });
  }
  const facts = readMemory(place, scope);
  if (isFailure(facts)) return facts;
  const line = fact.replace(/\s+/gu, " ").trim();
  return facts.includes(line) ? undefined : write(memoryFile(place, scope), [...facts, line]);
}

/** *Contract:* `at` counts from 0. */
export function removeMemory(place: CustomPlace, scope: MemoryScope, at: number): string | Failure {
  const facts = readMemory(place, scope);
  if (isFailure(facts)) return facts;
  const gone = facts[at];
  if (gone === undefined) {
    const there = facts.length === 0 ? "there are none" : `they are 1 to ${facts.length}`;
    return failure("invalid-arguments", `there is no such fact: ${there}`, { who: "user" });
  }
  return write(memoryFile(place, scope), facts.toSpliced(at, 1)) ?? gone;
}

/** What a new session is told, the latest facts first where there are too many; nothing where commands could have written it. */
export function memoryTexts(place: CustomPlace): readonly { readonly path: string; readonly text: string }[] {
  if (isInReach(place)) return [];
  return (["project", "user"] as const).flatMap((scope) => {
    const facts = readMemory(place, scope);
    if (isFailure(facts) || facts.length === 0) return [];
    let left = mostTold;
    const told = facts.toReversed().filter((fact) => {
      left -= fact.length + 3;
      return left >= 0;
    });
    const more = facts.length - told.length;
    const lines = told.toReversed().map((fact) => `- ${fact}`);
    const text = more > 0 ? [`[${more} older facts left out]`, ...lines] : lines;
    return [{ path: `memory of the ${scope}`, text: text.join("\n") }];
  });
}

function write(path: string, facts: readonly string[]): Failure | undefined {
  try {
    writeWhole(path, facts.map((fact) => `- ${fact}\n`).join(""), { isDurable: true });
    return undefined;
  } catch (cause) {
    const text = `${path} cannot be written (${(cause as NodeJS.ErrnoException).code})`;
    return failure("no-access", text, { who: "host", cause });
  }
}
