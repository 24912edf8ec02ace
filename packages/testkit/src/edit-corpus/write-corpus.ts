/**
 * `node write-corpus.ts --seed N --sources own,npm,pip,go,cargo,maven --packages training|held-out --each N --out FILE`:
 * writes cases with their expectations, one JSON object a line, for engines in any language.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { editCases } from "./corpus.ts";
import { type PackageSet, packageSets } from "./corpus-packages.ts";
import { type CorpusSource, corpusSources, sourcePairs } from "./corpus-sources.ts";

function main(): number {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      sources: { type: "string", default: "own" },
      packages: { type: "string", default: "training" },
      each: { type: "string", default: "12" },
      out: { type: "string", default: "corpus.jsonl" },
    },
  });
  const sources = values.sources.split(",");
  const unknown = [
    ...sources.filter((one) => !corpusSources.includes(one as CorpusSource)),
    ...(packageSets.includes(values.packages as PackageSet) ? [] : [values.packages]),
  ];
  if (unknown.length > 0) {
    console.error(`Not known: ${unknown.join(", ")}`);
    return 2;
  }
  const { pairs, skipped } = sourcePairs(sources as CorpusSource[], values.packages as PackageSet);
  const cases = editCases(pairs, { seed: Number(values.seed), each: Number(values.each) });
  writeFileSync(values.out, cases.map((one) => `${JSON.stringify(one)}\n`).join(""));
  for (const line of skipped) console.error(line);
  console.error(`${cases.length} cases from ${pairs.length} changed files: ${values.out}`);
  return 0;
}

process.exitCode = main();
