/** This process as an owner of sessions. */
import type { Owner } from "@lathe/protocol";
import { ownMark } from "@lathe/system";

export function processOwner(): Owner {
  // Asked for here, so that a session that is only read loads nothing more.
  const { hostname } = process.getBuiltinModule("node:os");
  return { host: hostname(), ...ownMark() };
}
