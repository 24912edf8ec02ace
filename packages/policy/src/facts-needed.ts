/** What must be looked up before a call can be judged. */
import type { Effect } from "@lathe/protocol";
import { isPathEffect } from "./match.ts";

/** Paths, as the effects name them, whose real place `evaluate` wants to know. */
export function factsNeeded(effects: readonly Effect[]): { readonly paths: readonly string[] } {
  return { paths: [...new Set(effects.filter(isPathEffect).map(({ target }) => target))] };
}
