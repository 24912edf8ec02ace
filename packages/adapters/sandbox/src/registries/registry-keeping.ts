/** Registry keeping: which of the registries that settings name commands are told of, and why not of the others. */
import { isIP } from "node:net";
import { hostname } from "node:os";
import { addressKind } from "../proxy/address-kind.ts";
import { registryHosts, registryKinds } from "../proxy/registry-hosts.ts";
import { hasKeyInPath } from "./key-in-path.ts";

export interface OwnRegistry {
  readonly kind: "npm" | "pypi" | "go" | "crates";
  /** Of http or https, without a name and password. */
  readonly url: URL;
}

export interface LeftRegistry {
  readonly kind: OwnRegistry["kind"];
  /** With its port. Not the rest of the address, which may hold a key. */
  readonly host: string;
  readonly why: "own-address" | "login" | "key";
}

export interface Said {
  /** Settings hold a login for it. */
  readonly hasLogin?: boolean;
  /** Packages ask for it by name: without the setting they would come from a public one, which is nobody's wish. */
  readonly isNamed?: boolean;
}

export interface RegistryKeeping {
  readonly registries: readonly OwnRegistry[];
  readonly left: readonly LeftRegistry[];
  /** The address as commands are told it; undefined where they are not. */
  keep(text: string, said?: Said): string | undefined;
}

interface KeepingOptions {
  /** The network of commands is the machine's. */
  readonly reachesMachine: boolean;
  /** Hosts that the package manager has logins for in a file of its own. */
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

/** A login at a public registry is for publishing: what is public there is had without. */
function loginAt(url: URL, text: string, hasLogin: boolean): "login" | undefined {
  const { username = "", password = "" } = URL.parse(text) ?? {};
  if (username || password) return "login";
  return hasLogin && !registryHosts(registryKinds).includes(url.hostname) ? "login" : undefined;
}

/** Undefined for what is none, or stands for something that only the environment knows. */
export function plainUrl(text: string): URL | undefined {
  const url = text.includes("$") ? null : URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") return undefined;
  // What logs in to a registry stays with the user.
  url.username = "";
  url.password = "";
  url.search = "";
  url.hash = "";
  return url;
}

/** What commands reach without the proxy (their NO_PROXY), and so in their own sandbox alone. */
const direct = ["localhost", "127.0.0.1", "::1", hostname().toLowerCase()];

function isOfCommands({ hostname: host }: URL, kind: OwnRegistry["kind"]): boolean {
  const name = host.replace(/^\[|\]$/g, "");
  if (direct.some((one) => name === one || name.endsWith(`.${one}`))) return true;
  // Go asks no proxy for any address of loopback.
  return kind === "go" && isIP(name) !== 0 && addressKind(name) === "loopback";
}
