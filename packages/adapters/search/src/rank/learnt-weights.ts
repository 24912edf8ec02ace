/** Weights of features by the manner of a query: data, learnt by `bench/retrieval/fit.ts`. */
import type { Features } from "./features.ts";
import type { QueryManner } from "./query.ts";
import type { UnitFeatures } from "./units.ts";

export const learntWeights: Readonly<Record<QueryManner, Features>> = {
  sentence: {
    text: -0.27,
    body: 1.71,
    chunk: 2.4,
    has: -2.78,
    anywhere: 4.12,
    definesWhole: 0.09,
    definesPart: 0.99,
    name: 1.34,
    folder: 2,
    scope: 2.13,
    votes: 1.46,
    alike: 0.91,
    said: 2.5,
    commits: -0.35,
    recent: 0.37,
    last: 1.03,
    test: -4,
    doc: -4,
    data: -4,
  },
  description: {
    text: 0.69,
    body: 2.53,
    chunk: 1.86,
    has: -1.11,
    anywhere: 0.95,
    definesWhole: -1.27,
    definesPart: 1.66,
    name: 1.5,
    folder: -0.02,
    scope: 1.89,
    votes: 1.27,
    alike: 0.87,
    said: -0.87,
    commits: -0.42,
    recent: 0.92,
    last: -0.27,
    test: -4,
    doc: -4,
    data: -4,
  },
  symbol: {
    text: 1.17,
    body: -1.1,
    chunk: 1.61,
    has: 0.54,
    anywhere: 0.53,
    definesWhole: 4.07,
    definesPart: 3.08,
    name: -0.06,
    folder: -1.63,
    scope: 0,
    votes: 0,
    alike: 0,
    said: 0,
    commits: 0,
    recent: 0,
    last: 0,
    test: -2.22,
    doc: -1.25,
    data: -0.04,
  },
};

/** Of the definitions in the best chunks of the best files, whatever the manner. */
export const unitWeights: UnitFeatures = {
  name: 4.45,
  covered: 2.15,
  head: 4.01,
  headless: -3.07,
  lines: -0.43,
  chunk: 1.06,
  file: 0.61,
};

/** Of how near a chunk is in meaning, in standard deviations: for its file, and for its definitions. */
export const meaningWeights = { file: 0.5, unit: 0.5 } as const;
