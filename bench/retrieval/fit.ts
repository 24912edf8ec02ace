/**
 * Learns the weights of ranking: `node bench/retrieval/fit.ts [--clones DIR] [--queries N]` asks the queries of the repositories
 * that are not held out, collects the features of the candidates, and prints `learnt-weights.ts` of `packages/search`.
 * Clones are used as `run.ts` does.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isFailure } from "@lathe/protocol";
import { type CandidatesOf, openCandidates } from "@lathe/search/candidates";
import { checkedOut, cloneOf } from "./clones.ts";
import { commitQueries } from "./commit-queries.ts";
import { symbolQueries, takeDocQueries } from "./doc-queries.ts";
import { type Example, learn } from "./learn.ts";
import { learntFrom } from "./repositories.ts";

const { values } = parseArgs({
  options: {
    clones: { type: "string", default: join(tmpdir(), "lathe-retrieval") },
    queries: { type: "string", default: "200" },
  },
});
const count = Number(values.queries);
/** Queries of the benchmark are never answered by tests, documentation and data; those of people are. */
const leastOfKinds = -4;
const kinds = new Set(["test", "doc", "data"]);
const examples = new Map<string, Example[]>();
let names: readonly string[] = [];

async function collect(
  ask: CandidatesOf,
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

for (const repository of learntFrom) {
  const root = cloneOf(values.clones, repository);
  const ask = await openCandidates(root, process.env);
  if (isFailure(ask)) throw new Error(ask.text);
  for (const { commit, query, paths } of commitQueries(root, count)) {
    if (checkedOut(root, `${commit}~1`)) await collect(ask, { query, paths });
  }
  checkedOut(root, "origin/HEAD");
  for (const { query, path } of symbolQueries(root, count)) await collect(ask, { query, paths: [path] });
  for (const { query, path } of takeDocQueries(root, count)) await collect(ask, { query, paths: [path] });
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
