/** Redactor of this machine: knows the secrets in the harness's own environment and configuration, besides the rules. */
import { lastToken, secretsOf } from "@lathe/models";
import type { Redactor, SlicedRedactor } from "@lathe/protocol/secrets";
import type { RedactionStream } from "@lathe/protocol/secrets/stream";
import type { LocalOptions } from "../local-options.ts";

export interface LocalRedactor {
  /** *Contract:* resolves when the first text costs nothing but its length. */
  load(): Promise<unknown>;
  redact(text: string): Promise<string>;
  redaction(): Promise<RedactionStream>;
}

/** Loaded when first asked: a session's first request needs it only where there are instructions. */
export function openRedactor({
  env,
  providers,
  mcpServers = {},
}: Pick<LocalOptions, "env" | "providers" | "mcpServers">): LocalRedactor {
  let loaded: Promise<Redactors> | undefined;
  let known = "";
  const load = (): Promise<Redactors> => {
    const configured = fromProviders(providers);
    // Tokens come and go while it is there.
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

/** How long signals, timers and other work may wait for a text. */
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

/** New for each process: what is in a log tells nobody without it whether a guess is right. */
let key: string | undefined;

function fingerprint(secret: string): string {
  const { hash, randomBytes } = process.getBuiltinModule("node:crypto");
  key ??= randomBytes(32).toString("hex");
  // Four digits of the digest do not give the value away, as the whole digest could.
  return hash("sha256", key + secret, "hex").slice(0, 4);
}

const secretName = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH/i;
/** Paths, addresses of sockets, numbers, switches: named like a secret, and none. */
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

/** What a server is given under a telling name. */
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
