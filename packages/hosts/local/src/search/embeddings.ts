/** The work of `lathe index --embed`: a plan of the texts to send, and the server that gets them. */
import { realpathSync } from "node:fs";
import { unreadable } from "@lathe/policy";
import { type Failure, isFailure, type Rule } from "@lathe/protocol";
import type { EmbeddingSettings } from "@lathe/search";
import { type EmbedPlan, planEmbedding } from "@lathe/search/embed";
import { sessionRules } from "../rules/session-rules.ts";
import { confinedReads } from "./confined-reads.ts";
import { indexOptions } from "./lazy-search.ts";
import { type OpenedEmbedder, openEmbedding } from "./open-embedding.ts";

export interface Embedding {
  readonly plan: EmbedPlan;
  readonly embedder: OpenedEmbedder;
}

/** Sends nothing until the plan runs. Leaves out files that rules exclude or that usually hold secrets. */
export async function planTree(
  folder: string,
  asked: {
    readonly settings: EmbeddingSettings;
    readonly rules: readonly Rule[];
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): Promise<Embedding | Failure> {
  const { settings, rules, env } = asked;
  const embedder = await openEmbedding(settings, env);
  if (isFailure(embedder)) return embedder;
  const root = realpathSync.native(folder);
  const { never, ...rest } = indexOptions(env, root);
  const closed = [...never, ...unreadable(".", sessionRules(rules, { cwd: root, env }))];
  const every = { ...rest, never, closed: [...new Set(closed)], confine: confinedReads(env) };
  const plan = await planEmbedding(root, { ...every, embedder });
  if (!isFailure(plan)) return { plan, embedder };
  embedder.close();
  return plan;
}
