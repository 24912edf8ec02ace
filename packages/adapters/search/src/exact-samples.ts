/** Exact samples: a tree for tests of exact search, and the same query by ripgrep over everything and by the index. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { GrepQuery, GrepResult } from "@lathe/protocol";
import { isFailure } from "@lathe/protocol";
import { rgPath } from "@vscode/ripgrep";
import { createSearch } from "./create-search.ts";
import { type ExactGrep, type ExactGrepOptions, openExactGrep, type Search } from "./exact/exact-grep.ts";
import { fileFilterOf } from "./file-filter.ts";

export function put(root: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  // Long ago: what was changed just now is not indexed, since it may change again unseen.
  utimesSync(join(root, path), 1_700_000_000, 1_700_000_000);
}

export function git(root: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
    encoding: "utf8",
    stdio: "pipe",
  });
}

export const words: readonly string[] =
  "kettle teapot Kessel boilWater STEAM_VALVE naïve größe 漢字仮名 \u212aelvin ſteam whistle_loudly".split(
    " ",
  );

/** A repository with text of all kinds, in which no word is everywhere. */
export function sampleRepository(folder: string): string {
  const root = mkdtempSync(join(folder, "tree-"));
  git(root, "init", "-q");
  for (let n = 0; n < 120; n++) {
    const [one, other] = [words[n % words.length] ?? "", words[(n * 7 + 3) % words.length] ?? ""];
    const end = n % 5 === 0 ? "\r\n" : "\n";
    const lines = [
      `// part ${n}`,
      `const ${one}${n} = call_${other}(${n});`,
      "",
      `return ${other} + "${one}";`,
    ];
    put(root, `src/${n % 9}/part-${n}.ts`, `${lines.join(end)}${n % 4 === 0 ? "" : end}`);
  }
  put(root, "src/1-a/first.ts", "kettle before and behind\n");
  put(root, "bin/early", Buffer.from("kettle\nx\0kettle\n"));
  put(root, "bin/late", Buffer.from(`kettle\n${"text\n".repeat(30_000)}\0kettle\n`));
  put(root, "doc/utf16.txt", Buffer.from("\ufeffkettle und Größe\n", "utf16le"));
  put(root, "doc/mark.txt", "\ufeffkettle with a mark\n");
  put(root, "doc/empty.txt", "");
  put(root, "secret/.env", "kettle=secretSauce\n");
  put(root, ".gitignore", "*.log\nout/\n");
  put(root, "out/kettle.ts", "kettle\n");
  put(root, "kettle.log", "kettle\n");
  put(root, "src/.latheignore", "part-11*.ts\n!part-112.ts\n");
  return root;
}

export interface Compared {
  /** The same query by ripgrep over everything, and by the index. */
  readonly expected: GrepResult | string;
  readonly found: GrepResult | string;
  readonly usedIndex: boolean;
  /** Ripgrep searched it all, and did not have to list it for what is left out. */
  readonly knewLeftOut: boolean;
}

export interface Opened {
  readonly exact: ExactGrep;
  readonly cache: string;
  compare(query: Partial<GrepQuery> & { readonly pattern: string }): Promise<Compared>;
}

export async function openSample(
  root: string,
  cache: string,
  options: Partial<ExactGrepOptions> = {},
): Promise<Opened> {
  const signal = new AbortController().signal;
  const place = { root, program: [rgPath], path: "" };
  const mayIndex = (path: string): boolean => !path.endsWith(".env");
  const exact = openExactGrep(place, { folder: cache, fromFiles: 50, mayIndex, ...options });
  await exact.settled();
  const plain = createSearch({ root });
  return {
    exact,
    cache,
    async compare(given) {
      const query = { limit: 1000, ...given };
      const expected = await plain.grep(query, signal);
      const fileFilter = fileFilterOf({ root, path: query.path ?? "" }, query);
      assert.ok(!isFailure(fileFilter));
      let [usedIndex, knewLeftOut] = [true, false];
      const search: Search = async (until, leftOut) => {
        usedIndex = false;
        knewLeftOut = leftOut !== undefined;
        const all = await plain.grep(query, until);
        return isFailure(all) || !leftOut ? all : { ...all, leftOut: leftOut() };
      };
      const found = await exact.grep(
        { place: { ...place, path: query.path ?? "" }, fileFilter, query },
        search,
        signal,
      );
      const textOf = (one: typeof found) => (isFailure(one) ? one.text : one);
      return { expected: textOf(expected), found: textOf(found), usedIndex, knewLeftOut };
    },
  };
}
