/** MCP own place: the part of the state folder that belongs to one server. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ServerSpec } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { stateFolder } from "../places/state-folder.ts";

/** Another command or address is another server. Environment values are secrets, so they do not count. */
export function ownPlace(env: Env, server: string, spec: ServerSpec): string {
  const own = "url" in spec ? spec.url : [spec.command, spec.args, spec.cwd, Object.keys(spec.env ?? {})];
  const name = createHash("sha256")
    .update(JSON.stringify([server, own]))
    .digest("hex")
    .slice(0, 24);
  return join(stateFolder(env), "mcp", name);
}
