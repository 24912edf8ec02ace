/** Known servers: the user's own that run files of a workspace, with those files as last approved. */
import { createHash } from "node:crypto";
import type { Failure, ServerSpec } from "@lathe/protocol";
import type { ExtensionPlace } from "../files/extension-place.ts";
import { differingFiles, readTrust, type TrustedItem, writeTrust } from "../trust/trust-store.ts";
import { type ServerFile, serverFiles } from "./server-files.ts";

const file = "known-mcp.json";

export interface KnownServer {
  readonly name: string;
  readonly spec: ServerSpec;
  readonly files: readonly ServerFile[];
}

type Servers = Readonly<Record<string, ServerSpec>>;

/** The user's own servers that run files of the workspace, as they are now. */
export function serversWithin(servers: Servers, place: ExtensionPlace): readonly KnownServer[] {
  return Object.entries(servers)
    .filter(([, { trusted }]) => trusted === undefined)
    .map(([name, spec]) => ({ name, spec, files: serverFiles(spec, { ...place, isProjects: false }).files }))
    .filter(({ files }) => files.length > 0);
}

/**
 * Trusts a server that is not known yet as it is now, because the user configured it.
 * *Contract:* call it before the session does anything.
 */
export function meetServers(servers: Servers, place: ExtensionPlace): void {
  const items = itemsOf(place);
  const unmet = serversWithin(servers, place).filter(
    (one) => !items.some(({ text }) => text === textOf(one)),
  );
  // If the record cannot be written, the server stays unknown and does not start.
  if (unmet.length > 0) writeTrust(file, place, { items: [...items, ...unmet.map(itemOf)] });
}

/** *Contract:* records exactly these servers as they are here; the next session meets all others anew. */
export function knowServers(servers: readonly KnownServer[], place: ExtensionPlace): Failure | undefined {
  return writeTrust(file, place, { items: servers.map(itemOf) });
}

/** Names of known servers that are none of these: an editor's servers, or ones with another command. */
export function otherNames(servers: readonly KnownServer[], place: ExtensionPlace): readonly string[] {
  const texts = new Set(servers.map(textOf));
  const others = itemsOf(place).filter(({ text }) => !texts.has(text));
  return [...new Set(others.map(({ text }) => text.slice(0, text.lastIndexOf(" "))))];
}

export function isAsKnown(server: KnownServer, place: ExtensionPlace): boolean {
  return changedIn(server, place)?.length === 0;
}

/** The changed files; undefined if the server is not known. */
export function changedIn(server: KnownServer, place: ExtensionPlace): readonly string[] | undefined {
  const known = itemsOf(place).find(({ text }) => text === textOf(server))?.files;
  return known && differingFiles(known, recordOf(server.files));
}

function itemsOf(place: ExtensionPlace): readonly TrustedItem[] {
  return readTrust(file, place).items ?? [];
}

function itemOf(server: KnownServer): TrustedItem {
  return { text: textOf(server), files: recordOf(server.files) };
}

function recordOf(files: readonly ServerFile[]): TrustedItem["files"] {
  return Object.fromEntries(files.map(({ path, digest }) => [path, digest]));
}

/** A server with the same name but another command is another server. */
function textOf({ name, spec }: Pick<KnownServer, "name" | "spec">): string {
  const own = "url" in spec ? spec.url : [spec.command, spec.args, spec.cwd, spec.env];
  return `${name} ${createHash("sha256").update(JSON.stringify(own)).digest("hex").slice(0, 16)}`;
}
