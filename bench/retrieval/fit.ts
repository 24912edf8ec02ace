/**
 * Learns the weights of ranking: `node bench/retrieval/fit.ts [--clones DIR] [--queries N] [--units]` asks
 * the queries of the repositories that are not held out, collects the candidates' features, and prints
 * `learnt-weights.ts` of `packages/adapters/search`. With `--units` it learns only the choice of lines, from
 * the queries of doc comments. It uses clones like `run.ts`.
 */

import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isFailure } from "@lathe/protocol";
import { openRankingLab, type RankingLab } from "@lathe/search/candidates";
import { plainGit } from "@lathe/testkit";
import { checkedOut, cloneOf } from "./clones.ts";
import { commitQueries } from "./commit-queries.ts";
import { type FunctionQuery, symbolQueries, takeDocQueries } from "./doc-queries.ts";
import { type Example, learn } from "./learn.ts";
import { learntFrom } from "./repositories.ts";

const { values } = parseArgs({
  options: {
    clones: { type: "string", default: join(tmpdir(), "lathe-retrieval") },
    queries: { type: "string", default: "200" },
    units: { type: "boolean", default: false },
  },
});
const count = Number(values.queries);
/** In the benchmark, tests, documentation and data are never the answer; in people's queries they are. */
const leastOfKinds = -4;
const kinds = new Set(["test", "doc", "data"]);
const examples = new Map<string, Example[]>();
let names: readonly string[] = [];

async function collect(
  { candidates: ask }: RankingLab,
  { query, paths }: { readonly query: string; readonly paths: readonly string[] },
): Promise<void> {
  const found = await ask(query);
  if (isFailure(found)) throw new Error(`${query}: ${found.text}`);
  names = found.names;
  const of = examples.get(found.manner) ?? [];
  of.push({
    features: found.candidates.map(({ features }) => features),
    isRight: found.candidates.map(({ path }) => paths.includes(path)),
  });
  examples.set(found.manner, of);
}

async function collectUnits(lab: RankingLab, { query, path, line }: FunctionQuery): Promise<void> {
  const found = await lab.units(query);
  if (isFailure(found)) throw new Error(`${query}: ${found.text}`);
  names = found.names;
  const of = examples.get("units") ?? [];
  of.push({
    features: found.units.map(({ features }) => features),
    isRight: found.units.map((unit) => unit.path === path && unit.startLine <= line && line <= unit.endLine),
  });
  examples.set("units", of);
}

for (const repository of learntFrom) {
  const root = cloneOf(values.clones, repository);
  const lab = await openRankingLab(root, plainGit(process.env));
  if (isFailure(lab)) throw new Error(lab.text);
  if (!values.units) {
    for (const { commit, query, paths } of commitQueries(root, count)) {
      if (checkedOut(root, `${commit}~1`)) await collect(lab, { query, paths });
    }
    checkedOut(root, "origin/HEAD");
    for (const { query, path } of symbolQueries(root, count)) await collect(lab, { query, paths: [path] });
  }
  for (const one of takeDocQueries(root, count)) {
    if (values.units) await collectUnits(lab, one);
    else await collect(lab, { query: one.query, paths: [one.path] });
  }
  checkedOut(root, "origin/HEAD");
}

for (const [manner, of] of examples) {
  console.log(`  ${manner}: {`);
  learn(of, names.length).forEach((weight, at) => {
    const name = names[at] ?? "";
    const bounded = kinds.has(name) ? Math.max(leastOfKinds, weight) : weight;
    console.log(`    ${name}: ${Number(bounded.toFixed(2))},`);
  });
  console.log("  },");
}
