/** Configuration: what lathe.json, the user's file, the environment and the flags come to, frozen. */
import type { Experiment } from "@lathe/hosts/experiment";
import type { LocalOptions, SandboxLimitsChoice } from "@lathe/hosts/local";
import type { TicketSettings } from "@lathe/hosts/send-tickets";
import type { Effort, Limits, Mode, Rule } from "@lathe/protocol";
import type { WrittenLimits } from "./sandbox-limits.ts";

export interface Config {
  readonly models: readonly string[];
  readonly mode: Mode;
  readonly limits: Limits;
  readonly rules: readonly Rule[];
  readonly sandbox: boolean;
  readonly sandboxLimits: SandboxLimitsChoice;
  readonly checkpoints: boolean;
  readonly secondOpinion?: string;
  readonly summaryModel?: string;
  readonly effort?: Effort;
  readonly look: Look;
  readonly providers: LocalOptions["providers"];
  readonly catalogue: LocalOptions["catalogue"];
  readonly router: LocalOptions["router"];
  /** What the machine's owner allows at most, whatever is chosen later. */
  readonly widest?: Mode;
  readonly mcpServers: NonNullable<LocalOptions["mcpServers"]>;
  /** The same as their files say them: without the values of the variables that they name. */
  readonly writtenServers: NonNullable<LocalOptions["mcpServers"]>;
  /** Those that sessions begun so are drawn for. */
  readonly experiments?: readonly Experiment[];
  readonly lsp?: NonNullable<LocalOptions["lsp"]>;
  readonly guardRails?: NonNullable<LocalOptions["guardRails"]>;
  readonly search?: SearchPart;
  /** What was left out, one sentence each. */
  readonly remarks: readonly string[];
}

/** Of code search; off when absent. */
export interface SearchPart {
  readonly embeddings?: NonNullable<LocalOptions["embeddings"]>;
}

/** How the interactive terminal looks. */
export interface Look {
  readonly theme: ThemeName;
  readonly screenReader: boolean;
  /** The bell rings when the agent asks or is done and the terminal has not the focus. */
  readonly bell: boolean;
}

/** auto: the terminal is asked for its background. */
export const themeNames = ["auto", "dark", "light"] as const;
export type ThemeName = (typeof themeNames)[number];

/** One source's part of it; what is absent is left to the sources before it. */
export interface ConfigPart {
  readonly model?: string | readonly string[];
  readonly mode?: Mode;
  readonly limits?: Limits;
  readonly rules?: readonly Rule[];
  readonly sandbox?: boolean;
  readonly sandboxLimits?: WrittenLimits;
  readonly checkpoints?: boolean;
  readonly theme?: ThemeName;
  readonly screenReader?: boolean;
  readonly bell?: boolean;
  /** Model ids. */
  readonly secondOpinion?: string;
  readonly summaryModel?: string;
  readonly effort?: Effort;
  readonly providers?: LocalOptions["providers"];
  readonly catalogue?: LocalOptions["catalogue"];
  readonly router?: RouterPart;
  readonly mcpServers?: LocalOptions["mcpServers"];
  readonly experiments?: readonly Experiment[];
  readonly lsp?: NonNullable<LocalOptions["lsp"]>;
  readonly guardRails?: NonNullable<LocalOptions["guardRails"]>;
  readonly tickets?: TicketSettings;
  readonly search?: SearchPart;
  /** Folders of which the user trusts the project's own file. */
  readonly trusted?: readonly string[];
}

/** What one source says of the router; a project and the machine's owner may only narrow what it chooses of. */
export interface RouterPart extends Partial<Omit<LocalOptions["router"], "allow">> {
  readonly allow?: readonly string[];
}
