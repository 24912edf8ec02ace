/** What must be looked up before a call can be judged. */
import type { Effect } from "@lathe/protocol";
import { isPathEffect } from "../globs/match.ts";
import { namedReads } from "./named-reads.ts";

export interface FactsNeeded {
  /** Paths, as the effects name them, whose real place `evaluate` wants to know. */
  readonly paths: readonly string[];
  /** Those of them where something may be lost. */
  readonly losing: readonly string[];
  /** Those of them that are written. */
  readonly written: readonly string[];
  /** Whether it asks what holds commands in. */
  readonly containment: boolean;
  /** Whether it asks if the workspace holds work that is in no commit. */
  readonly unsaved: boolean;
}

export function factsNeeded(effects: readonly Effect[]): FactsNeeded {
  const named = effects.flatMap((effect) => [effect, ...namedReads(effect)]);
  const paths = named.filter((effect) => isPathEffect(effect) && effect.expansion !== "unknown");
  const losing = paths.filter(({ kind, traits = [] }) => kind === "delete" || traits.includes("destroys"));
  return {
    paths: [...new Set(paths.map(({ target }) => target))],
    written: paths.flatMap(({ kind, target }) => (kind === "write" ? [target] : [])),
    losing: [...new Set(losing.map(({ target }) => target))],
    containment: effects.some(({ kind }) => kind === "execute" || kind === "process"),
    unsaved: effects.some(({ traits = [] }) => traits.includes("discards")),
  };
}
