/** Agent files: a folder's settings that make coding agents run commands, start servers or approve calls. */
import type { RunLaterEntry } from "./run-later-entry.ts";

const why = "hooks, MCP servers or permissions of the project";

export const agentFiles: readonly RunLaterEntry[] = [
  { paths: ["lathe.json", ".lathe/", ".agents/"], reader: "Lathe", why, source: "Lathe's docs/" },
  {
    paths: [".mcp.json"],
    reader: "Claude Code and other clients of the Model Context Protocol",
    why: "each entry names a program that is started",
    source: "https://code.claude.com/docs/en/mcp",
  },
  { paths: [".claude/"], reader: "Claude Code", why, source: "https://code.claude.com/docs/en/settings" },
  {
    paths: [".codex/"],
    reader: "Codex",
    why,
    source: "https://developers.openai.com/codex/config-basic",
  },
  {
    paths: [".cursor/", ".cursorrules"],
    reader: "Cursor",
    why: "hooks, MCP servers and rules of the project",
    source: "https://cursor.com/docs/agent/hooks",
  },
  {
    paths: [".windsurf/"],
    reader: "Windsurf",
    why: "hooks, workflows and rules of the project",
    source: "https://docs.windsurf.com/windsurf/cascade/hooks",
  },
  {
    paths: [".gemini/"],
    reader: "Gemini CLI",
    why,
    source: "https://geminicli.com/docs/reference/configuration/",
  },
  {
    paths: [".qwen/"],
    reader: "Qwen Code",
    why,
    source: "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/",
  },
  {
    paths: [".opencode/", "opencode.json", "opencode.jsonc"],
    reader: "OpenCode",
    why: "plugins, MCP servers and commands of the project",
    source: "https://opencode.ai/docs/config/",
  },
  {
    paths: [".kiro/"],
    reader: "Kiro",
    why: "hooks and MCP servers of the project",
    source: "https://kiro.dev/docs/mcp/configuration/",
  },
  {
    paths: [".amazonq/"],
    reader: "Amazon Q Developer",
    why: "MCP servers and agents of the project",
    source: "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/mcp-ide.html",
  },
  {
    paths: [".trae/"],
    reader: "Trae",
    why: "MCP servers and rules of the project",
    source: "https://docs.trae.ai/ide/model-context-protocol",
  },
  {
    paths: [".crush.json", "crush.json"],
    reader: "Crush",
    why: "MCP and language servers of the project",
    source: "https://github.com/charmbracelet/crush#configuration",
  },
  {
    paths: [".aider.conf.yml"],
    reader: "aider",
    why: "it names commands that check and test each change",
    source: "https://aider.chat/docs/config/aider_conf.html",
  },
  {
    paths: [".continue/", ".continuerc.json"],
    reader: "Continue",
    why: "MCP servers and rules of the project",
    source: "https://docs.continue.dev/reference",
  },
  {
    paths: [".roo/"],
    reader: "Roo Code",
    why: "MCP servers and rules of the project",
    source: "https://docs.roocode.com/features/mcp/using-mcp-in-roo",
  },
  {
    paths: [".kilocode/"],
    reader: "Kilo Code",
    why: "MCP servers and rules of the project",
    source: "https://kilo.ai/docs/features/mcp/using-mcp-in-kilo-code",
  },
  {
    paths: [".clinerules/hooks/", ".cline/"],
    reader: "Cline",
    why: "scripts that run at each step of a task",
    source: "https://docs.cline.bot/customization/hooks",
  },
  {
    paths: [".github/hooks/"],
    reader: "GitHub Copilot CLI",
    why: "shell commands that run when a session starts and before each tool",
    source: "https://docs.github.com/copilot/reference/copilot-cli-reference/cli-hooks-reference",
  },
  {
    paths: [".junie/"],
    reader: "Junie",
    why: "MCP servers and guidelines of the project",
    source: "https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html",
  },
  {
    paths: [".factory/"],
    reader: "Factory Droid",
    why,
    source: "https://docs.factory.ai/reference/hooks-reference",
  },
];
