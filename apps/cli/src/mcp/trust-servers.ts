/** `lathe mcp trust`: shows what a project's `.mcp.json` would start, and allows just that once the person says so. */
import { type Failure, isFailure } from "@lathe/protocol";
import { projectFile, readProjectServers, trustProjectServers } from "../config/project-servers.ts";
import { saysYes } from "../questions/says-yes.ts";
import { harmless } from "../render/fit.ts";
import { realFolder, usage } from "../run/run-options.ts";
import type { McpLine } from "./mcp-line.ts";
import { writtenText } from "./server-text.ts";

export async function trustServers({ words, values }: McpLine): Promise<number | Failure> {
  if (words.length > 1) return usage("`lathe mcp trust` takes no names: it is about the file as a whole");
  const cwd = realFolder(values.cwd ?? ".");
  if (isFailure(cwd)) return cwd;
  const found = readProjectServers(cwd, process.env);
  if (isFailure(found)) return found;
  if (!found) return usage(`there is no ${projectFile} in ${cwd}`);
  const servers = Object.entries(found.written).map(([name, server]) =>
    [name, ...writtenText(server).map((line) => `  ${line}`), ""].join("\n"),
  );
  const files = found.files.length === 0 ? projectFile : [projectFile, ...found.files].join(", ");
  process.stdout.write(
    `outside the sandbox, with your rights:\n${servers.join("")}files: ${harmless(files)}\n`,
  );
  const isSaid = values.yes === true || (await saysYes("trust them?", process.stdout));
  if (!isSaid) {
    process.stdout.write("nothing is trusted; `lathe mcp trust --yes` trusts it\n");
    return 1;
  }
  // What was shown, though the file may be another by now.
  const refused = trustProjectServers({ cwd, env: process.env }, found);
  if (refused) return refused;
  process.stdout.write(`sessions in ${cwd} may start them until one of these files changes\n`);
  return 0;
}
