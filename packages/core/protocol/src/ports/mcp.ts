/** The port to servers of the Model Context Protocol: other programs' tools. */
import type { Failure } from "../failure.ts";
import type { Outcome } from "../outcome.ts";
import type { JsonSchema } from "../prompt.ts";

/** A tool as its server describes it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** The server says that it changes nothing; this is not verified. */
  readonly readOnly: boolean;
}

export interface McpCall {
  readonly server: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface McpServers {
  /** As the user named them. */
  readonly names: readonly string[];
  /** *Contract:* at once and without starting it: what it offered when last asked; undefined when it never was. */
  known(server: string): readonly McpTool[] | undefined;
  /** *Contract:* starts the server if it does not run; what it offers is known from then on. */
  list(server: string, signal: AbortSignal): Promise<readonly McpTool[] | Failure>;
  /** *Contract:* starts the server if it does not run; never rejects; what the server says is neither redacted nor bounded. */
  call(call: McpCall, signal: AbortSignal): Promise<Outcome>;
  /** *Contract:* ends every server it started, with all that these started; idempotent. */
  close(): Promise<void>;
}
