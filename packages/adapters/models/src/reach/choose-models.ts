/** Which models a session uses when nobody said so, and which providers the user reaches at all. */
import { type Failure, isAuto } from "@lathe/protocol";
import { readModelId } from "../model-id.ts";
import { namesNoProvider } from "../no-provider.ts";
import { providers } from "../providers.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The user's environment, and their own settings by the provider's part of a model id. */
export interface UserAccess {
  readonly env: Env;
  readonly providers: Readonly<Record<string, unknown>>;
}

interface WantedModels extends UserAccess {
  readonly models: readonly string[];
  readonly planner?: string;
  /** By their ids. */
  readonly ownModels?: Readonly<Record<string, unknown>>;
}

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
}: WantedModels): Failure | undefined {
  const first = planner ?? chooseModels(models, env)[0] ?? builtinModel;
  return first === builtinModel || Object.hasOwn(ownModels, first)
    ? undefined
    : namesNoProvider(first, Object.keys(own));
}

/** Names of the variables that are set and lead to the provider; never their values. */
export function variablesSet(
  { keyVariables, tokenVariables = [], baseUrlVariables = [] }: (typeof providers)[string],
  env: Env,
): readonly string[] {
  return [...keyVariables, ...tokenVariables, ...baseUrlVariables].filter((name) => env[name]);
}

/** Whether the user's own configuration or environment leads to the model's provider. */
export function isReached(id: string, { env, providers: own }: UserAccess): boolean {
  if (id === builtinModel) return true;
  const provider = readModelId(id, { providers: Object.keys(own), entries: [] })?.provider;
  if (provider === undefined) return false;
  const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  return Object.hasOwn(own, provider) || (known !== undefined && variablesSet(known, env).length > 0);
}
