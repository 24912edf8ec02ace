/** @lathe/extensions/servers: the files an MCP server may load, and whether they are still as trusted. */
export { maxFiles } from "./src/servers/code-tree.ts";
export {
  changedIn,
  isAsKnown,
  type KnownServer,
  knowServers,
  meetServers,
  otherNames,
  serversWithin,
} from "./src/servers/known-servers.ts";
export { digestOf, type ServerFiles, serverFiles } from "./src/servers/server-files.ts";
