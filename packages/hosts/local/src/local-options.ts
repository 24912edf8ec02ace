/** Local options: what an app chose for sessions on this machine, parsed and checked by it. */
import type { LspSpec } from "@lathe/diagnostics";
import type { ServerSpec } from "@lathe/mcp";
import type { OwnEntry, WireName } from "@lathe/models";
import type {
  Assignment,
  Delta,
  Effort,
  Event,
  GuardRails,
  Limits,
  Mode,
  Model,
  Rule,
  Session,
  Tool,
} from "@lathe/protocol";
import type { Exporter } from "@lathe/telemetry/otel";
import type { Experiment } from "./experiments/experiment.ts";
import type { RouterOptions } from "./models/router-options.ts";
import type { EmbeddingSettings } from "./search/embedding-settings.ts";

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

export interface LocalOptions {
  /** Real path of the workspace. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Model ids, the preferred one first, or `auto`, which lets a router choose; empty keeps a session's own, and chooses
   * by the keys in the environment for a new one.
   */
  readonly models: readonly string[];
  readonly router: RouterOptions;
  /** The model that makes plans; absent where those that carry them out do. */
  readonly planner?: string;
  /** By the provider's part of a model id. */
  readonly providers: Readonly<Record<string, ProviderOptions>>;
  /** What the user says of models, by their ids; over what is known of them. */
  readonly catalogue: Readonly<Record<string, OwnEntry>>;
  /** How much models that reason may think; absent: as their providers have it. */
  readonly effort?: Effort;
  readonly mode: Mode;
  readonly attended: boolean;
  /** Whether a command in the background whose end the agent waits for may begin a turn now; absent: never. */
  readonly wakes?: () => boolean;
  readonly limits: Limits;
  readonly sandbox: SandboxChoice;
  readonly sandboxLimits: SandboxLimitsChoice;
  /** Whether the files are kept before steps that may change them. */
  readonly checkpoints: boolean;
  /** The user's and the project's rules, beside the built-in ones. */
  readonly rules: readonly Rule[];
  /** The model that is asked about calls which rules leave open; absent: a person is. */
  readonly secondOpinion?: string;
  /** The model that sums up conversations which are too long; absent: their own. */
  readonly summaryModel?: string;
  /** Of the program that runs the session, beside the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Of the program that runs the session, by their id. */
  readonly ownModels?: Readonly<Record<string, Model>>;
  /** The widest mode that may be chosen later; absent: any. */
  readonly widest?: Mode;
  /** Other programs' tools, by the name of their server. */
  readonly mcpServers?: Readonly<Record<string, ServerSpec>>;
  /** Those that new sessions are drawn for. */
  readonly experiments?: readonly Experiment[];
  /** What a session was drawn for; the rest of the options has it already. */
  readonly assigned?: readonly Assignment[];
  /** Told of every event, beside `onEvent`; closed by the session of a person. */
  readonly exporter?: Exporter;
  /** Language servers, by their names; the user's own alone. */
  readonly lsp?: Readonly<Record<string, LspSpec>>;
  /** Of the user's search; absent: only words and history rank. */
  readonly embeddings?: EmbeddingSettings;
  /** Over what the profiles of the models say. */
  readonly guardRails?: GuardRails;
  /** Program and arguments that measure keep rates, for the background; absent: nobody does. */
  readonly keepCommand?: readonly string[];
  /** Version of Lathe, for the log. */
  readonly version: string;
  onEvent(event: Event, session: Session): void;
  onDelta(delta: Delta): void;
  /** Told in one sentence what had to be mended meanwhile. */
  onRemark?(text: string): void;
}
