/** The parsed command line of `lathe mcp`, for its actions. */

export interface McpLine {
  readonly words: readonly string[];
  readonly values: {
    readonly json: boolean | undefined;
    readonly yes: boolean | undefined;
    readonly env: readonly string[] | undefined;
    readonly header: readonly string[] | undefined;
    readonly "permission-mode": string | undefined;
    readonly allow: readonly string[] | undefined;
    readonly cwd: string | undefined;
    readonly "no-sandbox": boolean | undefined;
    readonly debug: boolean | undefined;
  };
}
