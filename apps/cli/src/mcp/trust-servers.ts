/** `lathe mcp trust`: shows what a project's `.mcp.json` would start, and allows just that. */
import { type Failure, isFailure } from "@lathe/protocol";
import { projectFile, readProjectServers, trustProjectServers } from "../config/project-servers.ts";
import { table } from "../render/table.ts";
import { realFolder, usage } from "../run-options.ts";
import type { McpLine } from "./mcp-line.ts";
import { serverText } from "./server-text.ts";

export async function trustServers({ words, values }: McpLine): Promise<number | Failure> {
  if (words.length > 1) return usage("`lathe mcp trust` takes no names: it is about the file as a whole");
  const cwd = realFolder(values.cwd ?? ".");
  if (isFailure(cwd)) return cwd;
  const found = readProjectServers(cwd, process.env);
  if (isFailure(found)) return found;
  if (!found) return usage(`there is no ${projectFile} in ${cwd}`);
  const refused = trustProjectServers(cwd, process.env, found.hash);
  if (refused) return refused;
  const rows = Object.entries(found.servers).map(([name, server]) => ["", name, serverText(server)]);
  process.stdout.write(`sessions in ${cwd} may start, until ${projectFile} changes:\n${table(rows)}`);
  return 0;
}
