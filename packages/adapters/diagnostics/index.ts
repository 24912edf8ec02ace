/** @lathe/diagnostics: problems that a project's checkers and language servers find in its files. */
export { createDiagnostics, type DiagnosticsOptions } from "./src/create-diagnostics.ts";
export type { LspSpec } from "./src/lsp/lsp-servers.ts";
