/** The name by which a model calls an MCP server's tool. */

/** Every API accepts these characters and this length. */
const longest = 64;

/**
 * `mcp__SERVER__TOOL`; a name that is too long or has other characters keeps its beginning and gets a hash.
 */
export function mcpName(server: string, tool: string): string {
  const name = `mcp__${server}__${tool}`;
  const plain = name.replace(/[^\w-]/gu, "_");
  if (plain === name && name.length <= longest) return name;
  return `${plain.slice(0, longest - 8)}_${numberOf(name)}`;
}

/** FNV-1a: the same in every process. */
function numberOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(36).padStart(7, "0").slice(-7);
}
