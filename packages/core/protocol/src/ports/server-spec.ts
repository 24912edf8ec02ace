/** Server spec: how to reach a server, as the user configured it. */

export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** Its environment, besides the few variables that every program needs. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: a project's server runs in the workspace, any other in an empty folder. */
  readonly cwd?: string;
}

export interface HttpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type ServerSpec = (StdioServer | HttpServer) & {
  /** Milliseconds to wait for an answer; each progress report restarts the time. */
  readonly timeoutMs?: number;
  /** For a project's server: the digest of the files it names when the person trusted it. */
  readonly trusted?: string;
};
