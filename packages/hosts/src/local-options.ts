/** Local options: what an app chose for sessions on this machine, parsed and checked by it. */
import type { OwnEntry } from "@lathe/models";
import type { Delta, Event, Limits, Mode, Rule, Session } from "@lathe/protocol";
import type { RouterOptions } from "./router-options.ts";

/** `required`: commands ask when there is none; `preferred`: they run anyway; `off`: it is not even looked for. */
export type SandboxChoice = "required" | "preferred" | "off";

/** Address, key and headers of one provider, from the user's own configuration. */
export interface ProviderOptions {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LocalOptions {
  /** Real path of the workspace. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Model ids, the preferred one first; empty chooses by the keys in the environment, `auto` lets a router choose. */
  readonly models: readonly string[];
  readonly router: RouterOptions;
  /** By the provider's part of a model id. */
  readonly providers: Readonly<Record<string, ProviderOptions>>;
  /** What the user says of models, by their ids; over what is known of them. */
  readonly catalogue: Readonly<Record<string, OwnEntry>>;
  readonly mode: Mode;
  readonly attended: boolean;
  readonly limits: Limits;
  readonly sandbox: SandboxChoice;
  /** Whether the files are kept before steps that may change them. */
  readonly checkpoints: boolean;
  /** The user's and the project's rules, beside the built-in ones. */
  readonly rules: readonly Rule[];
  /** Version of Lathe, for the log. */
  readonly version: string;
  onEvent(event: Event, session: Session): void;
  onDelta(delta: Delta): void;
  /** Told in one sentence what had to be mended meanwhile. */
  onRemark?(text: string): void;
}
