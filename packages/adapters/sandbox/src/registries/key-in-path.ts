/** Key in path: whether an address contains a key as a folder of its path, as some registries issue them. */
import { createRedactor } from "@lathe/protocol/secrets";

export function hasKeyInPath({ hostname, pathname }: URL): boolean {
  const segments = pathname.split("/").map(decoded);
  // A key is the first folder, unless that is one of the service's own words.
  const first = segments.find((segment) => segment !== "");
  if (hostname === "dl.cloudsmith.io") return first !== undefined && !/^(?:public|basic)$/.test(first);
  return segments.some(isKey);
}

/** Keys that redaction recognizes, and random letters and digits that no folder name has. */
function isKey(segment: string): boolean {
  const redact = createRedactor();
  if (redact(segment).found.length > 0) return true;
  const runs = segment.replace(uuid, "").match(/[A-Za-z0-9]{12,}/g) ?? [];
  const isMixed = /[a-z]/.test(segment) && /[A-Z]/.test(segment) && /\d/.test(segment);
  const long = isMixed && segment.length >= 20 && !uuid.test(segment) ? [segment.replace(/[-_]/g, "")] : [];
  return [...runs, ...long].some((run) => redact(`token = "${run}"`).found.length > 0);
}

/** Feeds and projects may have such names. */
const uuid = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
