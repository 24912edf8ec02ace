/** @lathe/diagnostics: what a project's checkers and language servers say of its files. */
export { createDiagnostics, type DiagnosticsOptions } from "./src/create-diagnostics.ts";
export type { LspSpec } from "./src/lsp/lsp-servers.ts";
