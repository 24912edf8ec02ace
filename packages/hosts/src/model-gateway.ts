/** The model gateway as the environment and the user's configuration set it up. */
import { createModels, type Gateway, type ProviderOptions, providers } from "@lathe/models";
import { builtinModel } from "./choose-models.ts";
import type { LocalOptions } from "./local-options.ts";

const baseUrlVariables: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["ANTHROPIC_BASE_URL"],
  openai: ["OPENAI_BASE_URL"],
  google: ["GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"],
};

const proxyVariables = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

export function openGateway(options: Pick<LocalOptions, "env" | "providers" | "version">): Gateway {
  const { env, version } = options;
  const proxies = proxyVariables.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  return createModels({
    providers: providerOptions(options),
    userAgent: `lathe/${version}`,
    proxies: Object.fromEntries(proxies),
    builtin: {
      [builtinModel]: async () => (await import("@lathe/repair")).createRepairModel(),
    },
  });
}

/** What the user's configuration says comes before the environment. */
function providerOptions({
  env,
  providers: configured,
}: Pick<LocalOptions, "env" | "providers">): Readonly<Record<string, ProviderOptions>> {
  const names = new Set([...Object.keys(providers), ...Object.keys(configured)]);
  const first = (variables: readonly string[]): string | undefined =>
    variables.map((name) => env[name]).find((value) => value);
  return Object.fromEntries(
    [...names].map((name) => {
      const apiKey = first(providers[name]?.keyVariables ?? []);
      const baseUrl = first(baseUrlVariables[name] ?? []);
      const fromEnv = { ...(apiKey && { apiKey }), ...(baseUrl && { baseUrl }) };
      return [name, { ...fromEnv, ...configured[name] }];
    }),
  );
}
