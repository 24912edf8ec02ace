/**
 * The retrieval benchmark: `node bench/retrieval/run.ts [--clones DIR] [--queries N] [--only NAME]...` clones
 * the repositories (or finds them in DIR by name), rebuilds the queries from their history, comments and
 * names, and prints the figures. It asks for commits three times: by subject and by whole message before the
 * commit, as tasks, and by subject after it, as questions about existing code. It checks out different
 * commits in DIR: give it copies.
 */

import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isFailure, type Search } from "@lathe/protocol";
import { createSearch } from "@lathe/search";
import { plainGit } from "@lathe/testkit";
import { applied, checkedOut, cloneOf } from "./clones.ts";
import { commitQueries } from "./commit-queries.ts";
import { symbolQueries, takeDocQueries } from "./doc-queries.ts";
import { git } from "./git.ts";
import { type BenchRepository, repositories } from "./repositories.ts";
import { type Answer, type Figures, figuresOf, fileRank, showsLine } from "./score.ts";

interface Row {
  readonly commits: Figures;
  readonly messages: Figures;
  /** Queries by subject, after the commit. */
  readonly done: Figures;
  readonly docs: Figures;
  readonly symbols: Figures;
}

const { values } = parseArgs({
  options: {
    clones: { type: "string", default: join(tmpdir(), "lathe-retrieval") },
    queries: { type: "string", default: "60" },
    only: { type: "string", multiple: true, default: [] },
  },
});
const count = Number(values.queries);
const never = new AbortController().signal;

async function answers(search: Search, query: string): Promise<readonly Answer[]> {
  const found = await search.rank({ query, k: 10 }, never);
  if (isFailure(found)) throw new Error(`${query}: ${found.text}`);
  return found.ranges;
}

async function measure(repository: BenchRepository): Promise<Row> {
  const root = cloneOf(values.clones, repository);
  const options = { root, index: { git: plainGit(process.env), patienceMs: 600_000 } };
  const search = createSearch(options);
  const commitRanks: number[] = [];
  const messageRanks: number[] = [];
  const doneRanks: number[] = [];
  const commits = commitQueries(root, count);
  const symbols = symbolQueries(root, count);
  for (const { commit, query, message, paths } of commits) {
    if (!checkedOut(root, `${commit}~1`)) continue;
    commitRanks.push(fileRank(await answers(search, query), paths));
    messageRanks.push(fileRank(await answers(search, message), paths));
    if (applied(root, commit)) doneRanks.push(fileRank(await answers(search, query), paths));
  }
  git(root, "checkout", "--quiet", "--force", "origin/HEAD");
  const symbolRanks: number[] = [];
  for (const { query, path } of symbols) symbolRanks.push(fileRank(await answers(search, query), [path]));
  const docRanks: number[] = [];
  const shown: boolean[] = [];
  for (const { query, path, line } of takeDocQueries(root, count)) {
    const found = await answers(search, query);
    docRanks.push(fileRank(found, [path]));
    shown.push(showsLine(found, path, line));
  }
  git(root, "checkout", "--quiet", "--force", "origin/HEAD");
  return {
    commits: figuresOf(commitRanks),
    messages: figuresOf(messageRanks),
    done: figuresOf(doneRanks),
    docs: figuresOf(docRanks, shown),
    symbols: figuresOf(symbolRanks),
  };
}

function cells({ commits, messages, done, docs, symbols }: Row): readonly string[] {
  const asked = [commits, messages, done].flatMap(({ hit1, hit10, mrr }) => [hit1, hit10, mrr]);
  const figures = [...asked, docs.hit10, docs.func10, symbols.hit1];
  return figures.map((figure) => figure.toFixed(2));
}

function mean(rows: readonly Row[]): Row {
  const over = (pick: (row: Row) => Figures): Figures => {
    const all = rows.map(pick);
    const of = (key: keyof Figures): number => all.reduce((sum, one) => sum + one[key], 0) / all.length;
    return {
      queries: of("queries"),
      hit1: of("hit1"),
      hit10: of("hit10"),
      mrr: of("mrr"),
      func10: of("func10"),
    };
  };
  return {
    commits: over((row) => row.commits),
    messages: over((row) => row.messages),
    done: over((row) => row.done),
    docs: over((row) => row.docs),
    symbols: over((row) => row.symbols),
  };
}

const isAsked = ({ name }: BenchRepository): boolean =>
  values.only.length === 0 || values.only.some((one) => name.includes(one));
const columns = [
  "repository",
  "subject @1",
  "@10",
  "MRR",
  "message @1",
  "@10",
  "MRR",
  "done @1",
  "@10",
  "MRR",
];
console.log(`| ${[...columns, "doc file @10", "doc func @10", "symbol @1"].join(" | ")} |`);
console.log(`|${" --- |".repeat(columns.length + 3)}`);
for (const heldOut of [false, true]) {
  const rows: Row[] = [];
  for (const repository of repositories.filter((one) => one.heldOut === heldOut && isAsked(one))) {
    const row = await measure(repository);
    rows.push(row);
    console.log(`| ${repository.name} | ${cells(row).join(" | ")} |`);
  }
  if (rows.length > 0)
    console.log(`| **${heldOut ? "held out" : "training"}** | ${cells(mean(rows)).join(" | ")} |`);
}
