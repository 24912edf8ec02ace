/**
 * Measures how hard the queries are: `node bench/retrieval/baseline.ts [--clones DIR] [--queries N] [--only
 * NAME]... [--code]` asks SQLite's FTS5 the queries of `run.ts` on the same trees. With `--code` it indexes
 * no tests, documentation and data, so that they cannot be wrong answers. Two benchmarks can be compared by
 * their distance from it.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kindOf, languageOf } from "@lathe/search/languages";
import { applied, checkedOut, cloneOf } from "./clones.ts";
import { commitQueries } from "./commit-queries.ts";
import { takeDocQueries } from "./doc-queries.ts";
import { openFtsBaseline } from "./fts.ts";
import { repositories } from "./repositories.ts";
import { type Figures, figuresOf } from "./score.ts";

const { values } = parseArgs({
  options: {
    clones: { type: "string", default: join(tmpdir(), "lathe-retrieval") },
    queries: { type: "string", default: "60" },
    only: { type: "string", multiple: true, default: [] },
    code: { type: "boolean", default: false },
  },
});
const count = Number(values.queries);

/** Files that FTS5 can index as text, in the languages of the index. */
function isTaken(path: string): boolean {
  const language = languageOf(path);
  return values.code ? kindOf(path, language) === "code" : language !== "none";
}

type Row = Readonly<Record<"subjects" | "messages" | "done" | "docs", Figures>>;

function rankOf(best: readonly string[], paths: readonly string[]): number {
  const at = best.findIndex((path) => paths.includes(path));
  return at < 0 ? Number.POSITIVE_INFINITY : at + 1;
}

function measure(root: string): Row {
  const fts = openFtsBaseline(root, isTaken);
  const ask = (query: string, paths: readonly string[]): number => rankOf(fts.best(query, 10), paths);
  const [subjects, messages, done]: [number[], number[], number[]] = [[], [], []];
  for (const { commit, query, message, paths } of commitQueries(root, count)) {
    if (!checkedOut(root, `${commit}~1`)) continue;
    fts.update();
    subjects.push(ask(query, paths));
    messages.push(ask(message, paths));
    if (!applied(root, commit)) continue;
    fts.update();
    done.push(ask(query, paths));
  }
  checkedOut(root, "origin/HEAD");
  const queries = takeDocQueries(root, count);
  fts.update();
  const docs = queries.map(({ query, path }) => ask(query, [path]));
  checkedOut(root, "origin/HEAD");
  return {
    subjects: figuresOf(subjects),
    messages: figuresOf(messages),
    done: figuresOf(done),
    docs: figuresOf(docs),
  };
}

function figuresIn({ subjects, messages, done, docs }: Row): readonly number[] {
  return [...[subjects, messages, done].flatMap(({ hit1, hit10, mrr }) => [hit1, hit10, mrr]), docs.hit10];
}

function line(name: string, figures: readonly number[]): string {
  return `| ${[name, ...figures.map((figure) => figure.toFixed(2))].join(" | ")} |`;
}

const isAsked = (name: string): boolean =>
  values.only.length === 0 || values.only.some((one) => name.includes(one));
console.log(
  "| repository | subject @1 | @10 | MRR | message @1 | @10 | MRR | done @1 | @10 | MRR | doc file @10 |",
);
console.log(`|${" --- |".repeat(11)}`);
for (const heldOut of [false, true]) {
  const rows: (readonly number[])[] = [];
  for (const repository of repositories.filter((one) => one.heldOut === heldOut && isAsked(one.name))) {
    const figures = figuresIn(measure(cloneOf(values.clones, repository)));
    rows.push(figures);
    console.log(line(repository.name, figures));
  }
  const means = (rows[0] ?? []).map(
    (_, at) => rows.reduce((sum, row) => sum + (row[at] ?? 0), 0) / rows.length,
  );
  if (rows.length > 0) console.log(line(`**${heldOut ? "held out" : "training"}**`, means));
}
