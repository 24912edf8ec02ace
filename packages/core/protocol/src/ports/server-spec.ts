/** Server spec: how a server is reached, as the user configured it. */

export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** All it gets beside the few variables that every program needs. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: a project's own works in the workspace, any other in an empty folder. */
  readonly cwd?: string;
}

export interface HttpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type ServerSpec = (StdioServer | HttpServer) & {
  /** Milliseconds for an answer; progress that it reports begins them anew. */
  readonly timeoutMs?: number;
  /** Of a project's own: the digest of the files it names, as they were when the person trusted it. */
  readonly trusted?: string;
};
