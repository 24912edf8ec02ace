/** Memory: facts that sessions shall know, for one project and for all, in the user's own place; a person decides on each. */
import { createHash, randomInt } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { diskFailure, type Failure, failure, isFailure } from "@lathe/protocol";
import { configFolder } from "@lathe/system";
import { takeLock, writeWhole } from "@lathe/system";
import type { MemoryScope } from "@lathe/tools";
import { type ExtensionPlace, isInReach } from "../files/extension-place.ts";
import { readRegularFile } from "../files/regular-file.ts";
import { factLines, withFact, withoutFact } from "./memory-lines.ts";

/** A file does not grow beyond it. */
const mostBytes = 64 * 1024;
/** One that a person made so long is read all the same. */
const mostRead = 16 * 1024 * 1024;
/** Characters of one fact. */
const mostChars = 1_000;
/** Characters of what a session is told. */
const mostTold = 2_000;
const waitMs = 10_000;

export function memoryFile({ cwd, env }: ExtensionPlace, scope: MemoryScope): string {
  if (scope === "user") return join(configFolder(env), "memory.md");
  const name = createHash("sha256").update(cwd).digest("hex").slice(0, 24);
  return join(configFolder(env), "projects", `${name}.memory.md`);
}

/** One fact a line, as `- fact`; other lines are a person's own. */
export function readMemory(place: ExtensionPlace, scope: MemoryScope): readonly string[] | Failure {
  const bytes = readBytes(memoryFile(place, scope));
  return isFailure(bytes) ? bytes : factLines(bytes).map(({ fact }) => fact);
}

/** *Contract:* whole or not at all; a fact that is there already is not added again, and none with a key in it. */
export async function addMemory(
  place: ExtensionPlace,
  scope: MemoryScope,
  said: string,
): Promise<Failure | undefined> {
  if (isInReach(place)) {
    const text = `${configFolder(place.env)} lies in ${place.cwd}, where commands can write: nothing is kept there`;
    return failure("no-access", text, { who: "user" });
  }
  const fact = said.replace(/\s+/gu, " ").trim();
  if (fact.length > mostChars) {
    const text = `a fact has at most ${mostChars} characters, and this one ${fact.length}: say it shorter`;
    return failure("too-large", text, { who: "user" });
  }
  if (await holdsKey(fact)) {
    const text = "that holds a key or a password: such things are not kept";
    return failure("invalid-arguments", text, { who: "user" });
  }
  const path = memoryFile(place, scope);
  return changing(path, (bytes) => {
    if (factLines(bytes).some((line) => line.fact === fact)) return undefined;
    const grown = withFact(bytes, fact);
    if (grown.length <= mostBytes) return write(path, grown);
    const text = `${path} would be longer than ${mostBytes / 1024} KB: remove facts from it first`;
    return failure("too-large", text, { who: "user" });
  });
}

/** A fact is told to models. */
async function holdsKey(fact: string): Promise<boolean> {
  const [{ createRedactor }, { tellsSecret }] = await Promise.all([
    import("@lathe/protocol/secrets"),
    import("@lathe/protocol/secrets/told"),
  ]);
  return createRedactor()(fact).found.length > 0 || tellsSecret(fact);
}

/** *Contract:* `at` counts from 0. */
export async function removeMemory(
  place: ExtensionPlace,
  scope: MemoryScope,
  at: number,
): Promise<string | Failure> {
  const path = memoryFile(place, scope);
  return changing(path, (bytes) => {
    const lines = factLines(bytes);
    const gone = lines[at];
    if (gone) return write(path, withoutFact(bytes, gone)) ?? gone.fact;
    const there = lines.length === 0 ? "there are none" : `they are 1 to ${lines.length}`;
    return failure("invalid-arguments", `there is no such fact: ${there}`, { who: "user" });
  });
}

/** What a new session is told; nothing where commands could have written it. */
export function memoryTexts(
  place: ExtensionPlace,
): readonly { readonly path: string; readonly text: string }[] {
  if (isInReach(place)) return [];
  return (["project", "user"] as const).flatMap((scope) => {
    const facts = readMemory(place, scope);
    if (isFailure(facts) || facts.length === 0) return [];
    const told = toldFacts(facts);
    const more = facts.length - told.length;
    const lines = told.map((fact) => `- ${fact}`);
    const text = more > 0 ? [`[${more} facts left out]`, ...lines] : lines;
    return [{ path: `memory of the ${scope}`, text: text.join("\n") }];
  });
}

/** Those of one file that sessions are told, in order: the latest first where not all fit. */
export function toldFacts(facts: readonly string[]): readonly string[] {
  let left = mostTold;
  const told = facts.toReversed().filter(({ length }) => {
    const isTold = length + 3 <= left;
    if (isTold) left -= length + 3;
    return isTold;
  });
  return told.reverse();
}

function readBytes(path: string): Uint8Array | Failure {
  const start = readRegularFile(path, mostBytes);
  const file = start && !isFailure(start) && start.cut ? readRegularFile(path, mostRead) : start;
  if (file === undefined) return new Uint8Array();
  if (isFailure(file)) return file;
  if (file.cut)
    return failure("too-large", `${path} is longer than ${mostRead / 2 ** 20} MB: make it shorter`);
  return file.bytes;
}

/** *Contract:* `change` is told what the file holds, and no other process changes it meanwhile. */
async function changing<T>(path: string, change: (bytes: Uint8Array) => T | Failure): Promise<T | Failure> {
  const lock = await lockOf(path);
  if (isFailure(lock)) return lock;
  try {
    const bytes = readBytes(path);
    return isFailure(bytes) ? bytes : change(bytes);
  } finally {
    rmSync(lock, { force: true });
  }
}

/** A change takes milliseconds; who holds it longer is stopped, or its disk is. */
async function lockOf(path: string): Promise<string | Failure> {
  const deadline = performance.now() + waitMs;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    for (;;) {
      const lock = takeLock(dirname(path), `${basename(path)}.lock`);
      if (typeof lock === "string") return lock;
      if (performance.now() > deadline) {
        const text = `${path} has been held by the process ${lock.pid} for too long: nothing was changed`;
        return failure("no-access", text, { who: "host", retry: "same" });
      }
      // Those that came together do not come together again.
      await setTimeout(randomInt(2, 20));
    }
  } catch (cause) {
    return diskFailure(cause, `${path} cannot be written`);
  }
}

/** Through a link of the person's, as it is read. */
function write(path: string, bytes: Uint8Array): Failure | undefined {
  try {
    writeWhole(existsSync(path) ? realpathSync(path) : path, bytes, { isDurable: true });
    return undefined;
  } catch (cause) {
    return diskFailure(cause, `${path} cannot be written`);
  }
}
