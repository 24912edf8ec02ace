/** This process as an owner of sessions. */
import type { Owner } from "@lathe/protocol";
import { ownMark } from "@lathe/system";

export function processOwner(): Owner {
  // Loaded here, so that reading a session loads nothing more.
  const { hostname } = process.getBuiltinModule("node:os");
  return { host: hostname(), ...ownMark() };
}
