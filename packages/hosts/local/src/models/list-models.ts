/** Lists this user's models: known ones, and those of local servers. */

import type { KnownCircuit } from "@lathe/models";
import {
  builtinModel,
  chooseModels,
  type Known,
  providers,
  readRefreshed,
  type Source,
  variablesSet,
  writeRefreshed,
} from "@lathe/models";
import { askServer } from "@lathe/models/ask-server";
import { fetchRegistry } from "@lathe/models/fetch-registry";
import { type Failure, failure, isFailure, type ModelInfo } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { addressOf, openCircuitFiles, openGateway, proxiesOf, refreshedFile } from "./model-gateway.ts";

export type ModelOptions = Pick<LocalOptions, "env" | "providers" | "catalogue" | "models" | "version">;

export interface ListedModel {
  readonly info: ModelInfo;
  readonly source: Source | "builtin";
  /** Why it can be used at once: a variable that is set, the configuration, or a server that responds. */
  readonly reach?: string;
  /** Its place in the chain that a session would use, from 1. */
  readonly chosen?: number;
  /** Present if sessions avoid the model, or will soon test whether it has recovered. */
  readonly circuit?: KnownCircuit;
}

export interface ListedModels {
  readonly models: readonly ListedModel[];
  /** When and from where the registry was fetched; absent if only the snapshot is known. */
  readonly refreshed?: { readonly url: string; readonly at: number };
}

export async function listModels(options: ModelOptions): Promise<ListedModels> {
  const gateway = openGateway(options);
  const chain = chooseModels(options.models, options.env).map((id) => gateway.info(id).id);
  const known = gateway.known();
  const served = await askLocalServers(options);
  gateway.close();
  const named = chain
    .filter((id) => id !== builtinModel && ![...known, ...served].some(({ info }) => info.id === id))
    .map((id) => ({ info: gateway.info(id), source: "config" as const }));
  const builtin = { info: gateway.info(builtinModel), source: "builtin", reach: "no key needed" } as const;
  const all: readonly ListedModel[] = [...withoutServed(known, served), ...served, ...named, builtin];
  const circuits = openCircuitFiles(options, gateway);
  const models = all.map((one) => {
    const circuit = circuits.known(one.info.id, Date.now());
    const reach = one.reach ?? reachOf(one.info.id, options);
    const at = chain.indexOf(one.info.id);
    return {
      ...one,
      ...(reach !== undefined && { reach }),
      ...(at >= 0 && { chosen: at + 1 }),
      ...(circuit && { circuit }),
    };
  });
  const refreshed = readRefreshed(refreshedFile(options.env));
  return { models, ...(refreshed && { refreshed: { url: refreshed.url, at: refreshed.at } }) };
}

/** The server's own entry replaces the known one. */
function withoutServed(known: readonly Known[], served: readonly ListedModel[]): readonly ListedModel[] {
  return known.filter(({ info }) => !served.some((one) => one.info.id === info.id));
}

/** Milliseconds that a server named in the configuration may take to respond. */
const namedServerMs = 5000;

async function askLocalServers(options: ModelOptions): Promise<readonly ListedModel[]> {
  const local = Object.entries(providers).filter(([, { keyVariables }]) => keyVariables.length === 0);
  const asked = local.map(async ([provider]) => {
    const baseUrl = addressOf(provider, options) ?? "";
    const apiKey = options.providers[provider]?.apiKey;
    // Waits longer for a server that the user configured than for one that may run on its default port.
    const patienceMs = options.providers[provider]?.baseUrl === undefined ? undefined : namedServerMs;
    const models = await askServer({ provider, baseUrl, apiKey, fetch, ...(patienceMs && { patienceMs }) });
    return (models ?? []).map(
      (info) => ({ info, source: "server", reach: `answers at ${baseUrl}` }) as const,
    );
  });
  return (await Promise.all(asked)).flat();
}

function reachOf(id: string, { env, providers: own }: ModelOptions): string | undefined {
  const provider = id.slice(0, id.indexOf("/"));
  const known = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  const [variable] = known ? variablesSet(known, env) : [];
  if (variable !== undefined) return variable;
  return Object.hasOwn(own, provider) ? "your configuration" : undefined;
}

export interface RefreshedCount {
  readonly url: string;
  readonly models: number;
  /** Models of the registry that could not be read. */
  readonly left: number;
}

/** Fetches and stores the registry; if that fails, the known models stay. */
export async function refreshModels(options: ModelOptions, url: string): Promise<RefreshedCount | Failure> {
  const { env } = options;
  const wanted = [...new Set([...Object.keys(providers), ...Object.keys(options.providers)])];
  const userAgent = `lathe/${options.version}`;
  const registry = await fetchRegistry({ url, wanted, userAgent, proxies: proxiesOf(env) });
  if (isFailure(registry)) return registry;
  try {
    writeRefreshed(refreshedFile(env), { url, at: Date.now(), entries: registry.entries });
  } catch (cause) {
    return failure("no-access", "What was fetched of models could not be kept; what was known stays", {
      cause,
    });
  }
  return { url, models: registry.entries.length, left: registry.left };
}
