/** Proxy environment: variables that lead programs to the proxy, their only way to the network. */
import { hostname } from "node:os";

/** Hosts that bypass the proxy: the sandbox's own servers. */
const loopback = ["localhost", "127.0.0.1", "::1", "0.0.0.0", hostname()];

/**
 * `port` is the forwarder's on 127.0.0.1 inside the sandbox. Programs read:
 * - curl, git and cargo (libcurl), wget, apt, rustup, Ruby: the lower case names; curl requires lower case
 *   for `http_proxy`.
 * - Go, pip, uv, npm, pnpm, yarn 1: either case.
 * - Node's own `http` and `fetch`: only with `NODE_USE_ENV_PROXY` (from 22.21 and 24.5 on), which makes every
 *   start of Node 40 ms longer: set only if some host can be reached.
 * - yarn 2 and later: `YARN_HTTP_PROXY` and `YARN_HTTPS_PROXY` only.
 * - Java (Maven, Gradle, sbt): system properties only. `JAVA_TOOL_OPTIONS` reaches every JVM, which then
 *   reports it on stderr: set only if the project has Java.
 * - ssh reads none of them, so git over ssh cannot reach the network.
 * More specific settings (`npm_config_proxy`, `PIP_PROXY`, `CARGO_HTTP_PROXY`) would only conflict with
 * NO_PROXY. ALL_PROXY is not `socks5h`: Python's httpx would then fail without its optional SOCKS package.
 */
export function proxyEnv(
  port: number,
  { node = true, java = false }: { readonly node?: boolean; readonly java?: boolean } = {},
): Readonly<Record<string, string>> {
  const address = `http://127.0.0.1:${port}`;
  const both = bothCases({
    HTTP_PROXY: address,
    HTTPS_PROXY: address,
    ALL_PROXY: address,
    NO_PROXY: loopback.join(","),
  });
  return {
    ...both,
    ...(node && { NODE_USE_ENV_PROXY: "1" }),
    YARN_HTTP_PROXY: address,
    YARN_HTTPS_PROXY: address,
    ...(java && { JAVA_TOOL_OPTIONS: javaOptions(port) }),
  };
}

function bothCases(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const pairs = Object.entries(variables);
  return Object.fromEntries([
    ...pairs,
    ...pairs.map(([name, value]) => [name.toLowerCase(), value] as const),
  ]);
}

function javaOptions(port: number): string {
  const of = (scheme: string): string => `-D${scheme}.proxyHost=127.0.0.1 -D${scheme}.proxyPort=${port}`;
  // One property for both schemes.
  return `${of("http")} ${of("https")} -Dhttp.nonProxyHosts=localhost|127.*|[::1]`;
}
