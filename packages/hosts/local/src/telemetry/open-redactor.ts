/**
 * This machine's redactor: knows the secrets in Lathe's own environment and configuration, besides the rules.
 */
import { lastToken, secretsOf } from "@lathe/models";
import type { Redactor, SlicedRedactor } from "@lathe/protocol/secrets";
import type { RedactionStream } from "@lathe/protocol/secrets/stream";
import type { LocalOptions } from "../local-options.ts";

export interface LocalRedactor {
  /** *Contract:* resolves once redacting the first text needs no more loading. */
  load(): Promise<unknown>;
  redact(text: string): Promise<string>;
  redaction(): Promise<RedactionStream>;
}

/** Loaded on the first call: a session's first request needs it only if there are instructions. */
export function openRedactor({
  env,
  providers,
  mcpServers = {},
}: Pick<LocalOptions, "env" | "providers" | "mcpServers">): LocalRedactor {
  let loaded: Promise<Redactors> | undefined;
  let known = "";
  const load = (): Promise<Redactors> => {
    const configured = fromProviders(providers);
    // Tokens change while the process runs.
    const now = JSON.stringify(configured);
    if (loaded && now === known) return loaded;
    known = now;
    loaded = import("@lathe/protocol/secrets").then(({ createRedactor, createSlicedRedactor }) => {
      const values = [...fromEnv(env), ...configured, ...fromServers(mcpServers)];
      return {
        whole: createRedactor({ values, fingerprint }),
        sliced: createSlicedRedactor({ values, fingerprint }, pauseWhenDue),
      };
    });
    return loaded;
  };
  return {
    load,
    redact: async (text) => (await (await load()).sliced(text)).text,
    redaction: async () =>
      (await import("@lathe/protocol/secrets/stream")).createRedactionStream((await load()).whole),
  };
}

interface Redactors {
  readonly whole: Redactor;
  readonly sliced: SlicedRedactor;
}

/** Milliseconds before redaction yields to signals, timers and other work. */
const maxMs = 20;
let pausedAt = 0;

function pauseWhenDue(): Promise<unknown> | undefined {
  if (performance.now() - pausedAt < maxMs) return undefined;
  return new Promise<void>((resolve) => {
    setImmediate(() => {
      pausedAt = performance.now();
      resolve();
    });
  });
}

/** New for each process: without it, a log does not help to check a guess at the secret. */
let key: string | undefined;

function fingerprint(secret: string): string {
  const { hash, randomBytes } = process.getBuiltinModule("node:crypto");
  key ??= randomBytes(32).toString("hex");
  // Four digits of the digest do not reveal the value, as the whole digest could.
  return hash("sha256", key + secret, "hex").slice(0, 4);
}

const secretName = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH/i;
/** Paths, socket addresses, numbers and switches: named like a secret, but not one. */
const harmless = /^(?:[./~]|\w+:path=|\d+$|true$|false$)|\s/i;
const minLength = 8;

function fromEnv(env: LocalOptions["env"]): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(env).flatMap(([name, value = ""]) =>
    secretName.test(name) && value.length >= minLength && !harmless.test(value) ? [{ name, value }] : [],
  );
}

function fromProviders(
  providers: LocalOptions["providers"],
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(providers).flatMap(([name, set]) => {
    const token = set.tokenCommand && lastToken(set.tokenCommand);
    const values = [...secretsOf(set), ...(token === undefined ? [] : [token])];
    return values.map((value) => ({ name: `${name} key`, value }));
  });
}

/** Secrets given to MCP servers, recognized by name. */
function fromServers(
  servers: NonNullable<LocalOptions["mcpServers"]>,
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(servers).flatMap(([server, spec]) => {
    const given = "url" in spec ? spec.headers : spec.env;
    const plain = Object.entries(given ?? {}).map(
      ([name, value]) => [name, value.replace(/^\w+ /, "")] as const,
    );
    return fromEnv(Object.fromEntries(plain)).map(({ name, value }) => ({
      name: `${server} ${name}`,
      value,
    }));
  });
}
