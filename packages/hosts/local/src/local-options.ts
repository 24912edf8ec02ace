/** Local options: what an app chose for sessions on this machine, parsed and checked by the app. */
import type { LspSpec } from "@lathe/diagnostics";
import type { OwnEntry, WireName } from "@lathe/models";
import type { RouterOptions } from "@lathe/orchestrator/router";
import type { Model, ServerSpec } from "@lathe/protocol";
import type { EmbeddingSettings } from "@lathe/search";
import type { SessionOptions } from "@lathe/sessions";
import type { Experiment } from "@lathe/telemetry/experiments";

/** `required`: commands ask when there is none; `preferred`: they run anyway; `off`: it is not even looked for. */
export type SandboxChoice = "required" | "preferred" | "off";

/** Address, key, headers and wire of one provider, from the user's own configuration. */
export interface ProviderOptions {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** Program and arguments that print a bearer token, for providers whose tokens do not last. */
  readonly tokenCommand?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly wire?: WireName;
}

/** What commands may have of the machine. */
export interface SandboxLimits {
  readonly memoryBytes: number;
  /** Processes and threads at once. */
  readonly processes: number;
  /** Bytes of one file. */
  readonly fileBytes: number;
}

export interface SandboxLimitsChoice {
  /** Instead of the usual ones. */
  readonly wanted: Partial<SandboxLimits>;
  /** Never exceeded, the usual ones included. */
  readonly most: Partial<SandboxLimits>;
}

export interface LocalOptions extends SessionOptions {
  /** Real path of the workspace. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly router: RouterOptions;
  /** By the provider's part of a model id. */
  readonly providers: Readonly<Record<string, ProviderOptions>>;
  /** What the user says of models, by their ids; replaces what is known of them. */
  readonly catalogue: Readonly<Record<string, OwnEntry>>;
  readonly sandbox: SandboxChoice;
  readonly sandboxLimits: SandboxLimitsChoice;
  /** Models of the program that runs the session, by their ids. */
  readonly ownModels?: Readonly<Record<string, Model>>;
  /** Other programs' tools, by the name of their server. */
  readonly mcpServers?: Readonly<Record<string, ServerSpec>>;
  /** The experiments that new sessions take part in. */
  readonly experiments?: readonly Experiment[];
  /** Language servers, by their names; the user's own alone. */
  readonly lsp?: Readonly<Record<string, LspSpec>>;
  /** Of the user's search; absent: only words and history rank. */
  readonly embeddings?: EmbeddingSettings;
  /** Program and arguments that measure keep rates in the background; absent: they are not measured. */
  readonly keepCommand?: readonly string[];
}
