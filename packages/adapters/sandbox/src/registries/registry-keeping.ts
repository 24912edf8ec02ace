/** Registry keeping: decides which registries in settings commands may use, with reasons for the others. */
import { isIP } from "node:net";
import { hostname } from "node:os";
import { addressKind } from "../proxy/address-kind.ts";
import { registryHosts, registryKinds } from "../proxy/registry-hosts.ts";
import { hasKeyInPath } from "./key-in-path.ts";

export interface OwnRegistry {
  readonly kind: "npm" | "pypi" | "go" | "crates";
  /** An http or https address without name and password. */
  readonly url: URL;
}

export interface LeftRegistry {
  readonly kind: OwnRegistry["kind"];
  /** With its port, but without the path, which may contain a key. */
  readonly host: string;
  readonly why: "own-address" | "login" | "key";
}

export interface Said {
  /** Settings contain a login for it. */
  readonly hasLogin?: boolean;
  /**
   * Packages name it: without the setting they would come from a public one, which the user does not want.
   */
  readonly isNamed?: boolean;
}

export interface RegistryKeeping {
  readonly registries: readonly OwnRegistry[];
  readonly left: readonly LeftRegistry[];
  /** The address for commands; undefined if it is left out. */
  keep(text: string, said?: Said): string | undefined;
}

interface KeepingOptions {
  /** Commands use the machine's network. */
  readonly reachesMachine: boolean;
  /** Hosts with logins in the package manager's own file. */
  readonly logins?: ReadonlySet<string>;
}

export function createKeeping(
  kind: OwnRegistry["kind"],
  { reachesMachine, logins }: KeepingOptions,
): RegistryKeeping {
  const registries: OwnRegistry[] = [];
  const left: LeftRegistry[] = [];
  const reasonAgainst = (url: URL, text: string, hasLogin: boolean): LeftRegistry["why"] | undefined => {
    if (hasKeyInPath(url)) return "key";
    if (!reachesMachine && isOfCommands(url, kind)) return "own-address";
    return loginAt(url, text, hasLogin || logins?.has(url.hostname) === true);
  };
  const keep: RegistryKeeping["keep"] = (text, { hasLogin = false, isNamed = false } = {}) => {
    const url = plainUrl(text);
    if (!url) return undefined;
    const why = reasonAgainst(url, text, hasLogin);
    if (why !== undefined) left.push({ kind, host: url.host, why });
    if (why === "key" || (why !== undefined && !isNamed)) return undefined;
    if (why !== "own-address") registries.push({ kind, url });
    return url.href;
  };
  return { registries, left, keep };
}

/** A login at a public registry is for publishing: its packages need none. */
function loginAt(url: URL, text: string, hasLogin: boolean): "login" | undefined {
  const { username = "", password = "" } = URL.parse(text) ?? {};
  if (username || password) return "login";
  return hasLogin && !registryHosts(registryKinds).includes(url.hostname) ? "login" : undefined;
}

/** Undefined for an invalid address, or one that depends on environment variables. */
export function plainUrl(text: string): URL | undefined {
  const url = text.includes("$") ? null : URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") return undefined;
  // Logins stay with the user.
  url.username = "";
  url.password = "";
  url.search = "";
  url.hash = "";
  return url;
}

/** Hosts that commands reach without the proxy (NO_PROXY), so only in their own sandbox. */
const direct = ["localhost", "127.0.0.1", "::1", hostname().toLowerCase()];

function isOfCommands({ hostname: host }: URL, kind: OwnRegistry["kind"]): boolean {
  const name = host.replace(/^\[|\]$/g, "");
  if (direct.some((one) => name === one || name.endsWith(`.${one}`))) return true;
  // Go uses no proxy for any loopback address.
  return kind === "go" && isIP(name) !== 0 && addressKind(name) === "loopback";
}
