/** Makes search patterns from a tree's text: literals, regular expressions, other scripts, any case. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type GrepQuery, seededRandom } from "@lathe/protocol";

export type Pattern = Omit<GrepQuery, "limit">;

const makers: readonly ((line: string, random: () => number) => Pattern)[] = [
  (line) => ({ pattern: line, literal: true }),
  (line) => ({ pattern: line.toUpperCase(), literal: true, ignoreCase: true }),
  (line, random) => ({ pattern: part(line, random), literal: true }),
  (line, random) => ({ pattern: part(line, random), literal: true, ignoreCase: true }),
  (line) => ({ pattern: escaped(line).replaceAll(/\s+/g, "\\s+") }),
  (line) => ({ pattern: escaped(line).replaceAll(/\d+/g, "\\d+") }),
  (line) => ({ pattern: `(?i)${escaped(line.toLowerCase()).replaceAll(/\s+/g, ".*")}$` }),
  (line) => ({ pattern: words(line).map(escaped).join("\\W+") || "\\w" }),
  (line, random) => ({ pattern: `\\b${escaped(pick(words(line), random))}\\b` }),
  (line, random) => ({ pattern: `^\\s*${escaped(pick(words(line), random))}[^;]*[;{]$` }),
  (line, random) => ({
    pattern: `(?:${escaped(pick(words(line), random))}|${escaped(part(line, random))})`,
    ignoreCase: random() < 0.5,
  }),
  (line, random) => ({ pattern: `${escaped(pick(words(line), random))}(?=\\W)` }),
  (line, random) => ({
    pattern: `[${escaped(pick(words(line), random)).slice(0, 3)}]${escaped(part(line, random))}+?`,
  }),
];

/** *Contract:* the same for the same files and seed; non-ASCII lines are over-represented. */
export function patternsOf(root: string, paths: readonly string[], count: number): readonly Pattern[] {
  const random = seededRandom(1);
  const patterns: Pattern[] = [];
  for (let tries = 0; patterns.length < count && tries < count * 50; tries++) {
    const text = readFileSync(join(root, pick(paths, random)));
    if (text.length > 2_000_000 || text.includes(0)) continue;
    const lines = text
      .toString("utf8")
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line.length >= 6 && line.length <= 80);
    const foreign = lines.filter((line) => /[^\x20-\x7e\t]/.test(line));
    const line = pick(foreign.length > 0 ? foreign : lines, random);
    if (line === "" || line.includes("\ufffd")) continue;
    const pattern = pick(makers, random)(line, random);
    if (pattern.pattern.trim().length > 1) patterns.push(pattern);
  }
  return patterns;
}

function pick<T>(items: readonly T[], random: () => number): T {
  return (items[Math.floor(random() * items.length)] ?? "") as T;
}

function words(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
}

function part(line: string, random: () => number): string {
  const characters = [...line];
  const length = 3 + Math.floor(random() * 9);
  const from = Math.floor(random() * Math.max(1, characters.length - length));
  return characters.slice(from, from + length).join("");
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
