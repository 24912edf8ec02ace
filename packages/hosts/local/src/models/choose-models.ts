/** Which models a session uses when nobody said so, and which providers the user reaches at all. */
import { namesNoProvider, providers, readModelId } from "@lathe/models";
import type { Failure } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";

type Env = LocalOptions["env"];

/** The embedded model: no key, no network. */
export const builtinModel = "builtin/repair";

/** The chain as configured, else, and where a router finds none to choose of, by the keys and addresses present, else the embedded model. */
export function chooseModels(configured: readonly string[], env: Env): readonly string[] {
  const named = configured.filter((id) => !isAuto(id));
  if (named.length > 0) return named;
  const found = Object.values(providers).find(
    (provider) => provider.defaultModel !== undefined && variablesSet(provider, env).length > 0,
  );
  return [found?.defaultModel ?? builtinModel];
}

/** Why the first model cannot be had, as far as its name says so: then nothing is begun with it. */
export function refusedModel({
  models,
  planner,
  env,
  providers: own,
  ownModels = {},
}: Pick<LocalOptions, "models" | "planner" | "env" | "providers" | "ownModels">): Failure | undefined {
  const first = planner ?? chooseModels(models, env)[0] ?? builtinModel;
  return first === builtinModel || Object.hasOwn(ownModels, first)
    ? undefined
    : namesNoProvider(first, Object.keys(own));
}

/** Stands for models that a router chooses. */
export function isAuto(id: string): boolean {
  return id === "auto" || id.startsWith("auto:");
}

/** Names of the variables that are set and lead to the provider; never their values. */
export function variablesSet(
  { keyVariables, tokenVariables = [], baseUrlVariables = [] }: (typeof providers)[string],
  env: Env,
): readonly string[] {
  return [...keyVariables, ...tokenVariables, ...baseUrlVariables].filter((name) => env[name]);
}

/** Whether the user's own configuration or environment leads to the model's provider. */
export function isReached(
  id: string,
  { env, providers: own }: Pick<LocalOptions, "env" | "providers">,
): boolean {
  if (id === builtinModel) return true;
  const provider = readModelId(id, { providers: Object.keys(own), entries: [] })?.provider;
  if (provider === undefined) return false;
  const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  return Object.hasOwn(own, provider) || (known !== undefined && variablesSet(known, env).length > 0);
}
