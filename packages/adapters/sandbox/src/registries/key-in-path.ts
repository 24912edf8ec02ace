/** Key in path: whether an address holds a key where others have a folder, as some registries give them out. */
import { createRedactor } from "@lathe/protocol/secrets";

export function hasKeyInPath({ hostname, pathname }: URL): boolean {
  const segments = pathname.split("/").map(decoded);
  // Its keys are the first folder, unless that is one of its own words.
  const first = segments.find((segment) => segment !== "");
  if (hostname === "dl.cloudsmith.io") return first !== undefined && !/^(?:public|basic)$/.test(first);
  return segments.some(isKey);
}

/** Those that redaction knows by their form, and random runs of letters and digits that no name of a folder has. */
function isKey(segment: string): boolean {
  const redact = createRedactor();
  if (redact(segment).found.length > 0) return true;
  const runs = segment.replace(uuid, "").match(/[A-Za-z0-9]{12,}/g) ?? [];
  const isMixed = /[a-z]/.test(segment) && /[A-Z]/.test(segment) && /\d/.test(segment);
  const long = isMixed && segment.length >= 20 && !uuid.test(segment) ? [segment.replace(/[-_]/g, "")] : [];
  return [...runs, ...long].some((run) => redact(`token = "${run}"`).found.length > 0);
}

/** Feeds and projects are called by such. */
const uuid = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
