/**
 * Own registry hosts: rules for the registries in the user's own settings, each for only that host and port.
 */
import { isIP } from "node:net";
import { addressKind } from "../proxy/address-kind.ts";
import { type RegistryKind, registryHosts } from "../proxy/registry-hosts.ts";
import { ownRegistries, type RegistryPlace } from "./own-registries.ts";
import type { OwnRegistry } from "./registry-keeping.ts";

/**
 * With its port a host may have a private address, like many companies' registries. If the user names a
 * public registry with several hosts, all of them are included: the user's own mirror answers for these
 * names.
 */
export function ownRegistryHosts(kinds: readonly RegistryKind[], place: RegistryPlace): readonly string[] {
  const { registries } = ownRegistries(place);
  const own = registries.filter((one) => kinds.includes(one.kind) && canBeRegistry(one));
  const texts = own.flatMap((registry) => {
    const preset = registryHosts([registry.kind]);
    const isPreset = preset.includes(registry.url.hostname) && portOf(registry) === "443";
    return isPreset ? preset.map((host) => `${host}:443`) : [`${registry.url.hostname}:${portOf(registry)}`];
  });
  return [...new Set(texts)];
}

/** Excludes addresses of cloud credentials, and link-local ones. */
function canBeRegistry({ url }: OwnRegistry): boolean {
  const address = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(address) === 0 || ["public", "private", "loopback"].includes(addressKind(address));
}

function portOf({ url }: OwnRegistry): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}
