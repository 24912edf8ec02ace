/**
 * Real language servers in a real sandbox without walls: one that answers requests and one that pushes
 * diagnostics. The test installs them from the registry if it is reachable.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createDiagnostics, type LspSpec } from "@lathe/diagnostics";
import { isFailure, outcomeText } from "@lathe/protocol";
import { type Bench, bench } from "./bench.test.ts";
import { createDiagnosticsTool } from "./diagnostics.ts";

const wanted = ["typescript@5.9.3", "typescript-language-server@6.0.2", "pyright@1.1.414"];
const folder = mkdtempSync(join(realpathSync(tmpdir()), "lathe-lsp-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Why they are not installed; false if they are. */
function install(): string | false {
  writeFileSync(join(folder, "package.json"), "{}");
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", ...wanted];
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8", timeout: 180_000 });
  return status === 0 ? false : `npm cannot install ${wanted.join(", ")} here: ${stderr.slice(-300)}`;
}

const bin = (name: string): string => join(folder, "node_modules/.bin", name);
const servers: Readonly<Record<string, LspSpec>> = {
  typescript: { command: [bin("typescript-language-server"), "--stdio"], extensions: [".ts"] },
  pyright: { command: [bin("pyright-langserver"), "--stdio"], extensions: [".py"] },
};

describe("real language servers", { skip: install() }, () => {
  const ask = async (
    b: Bench,
    lsp: string,
    texts: readonly (readonly [string, string])[],
  ): Promise<readonly string[]> => {
    const spec = servers[lsp] ?? assert.fail(lsp);
    const diagnostics = createDiagnostics({ root: b.context.workspace.root, path: "", lsp: { [lsp]: spec } });
    const tool = createDiagnosticsTool(diagnostics);
    const said: string[] = [];
    try {
      for (const [path, text] of texts) {
        b.put(path, text);
        const prepared = tool.prepare({ paths: [path], checker: `lsp:${lsp}` });
        const outcome = isFailure(prepared) ? assert.fail(prepared.text) : await prepared.run(b.context);
        said.push(outcomeText(outcome).split("\n").slice(1).join("\n"));
      }
      return said;
    } finally {
      await diagnostics.close();
    }
  };

  it("report the problems of TypeScript as it is now", async () => {
    const b = await bench();
    b.put("tsconfig.json", '{"compilerOptions": {"strict": true}}');
    b.put("b.ts", "export const other: number = 1;\n");
    const use = 'import { other } from "./b.ts";\n';
    const said = await ask(b, "typescript", [
      ["a.ts", 'export const n: number = "x";\n'],
      ["a.ts", "export const n: number = 1;\n"],
      ["a.ts", `${use}export const s: string = other;\n`],
    ]);
    assert.deepEqual(
      said.map((one) => one.replace(/ lsp:typescript \d+: .*/gu, "")),
      ["a.ts:1:14 error", "", "a.ts:1:23 error\na.ts:2:14 error"],
    );
  });

  it("report the problems of Python as it is now", async () => {
    const b = await bench();
    const said = await ask(b, "pyright", [
      ["a.py", "def f(x: int) -> str:\n    return x\n"],
      ["a.py", "def f(x: int) -> int:\n    return x\n"],
      ["b.py", 'from a import f\n\nf("x")\n'],
    ]);
    assert.match(said[0] ?? "", /^a\.py:2:12 error lsp:pyright reportReturnType: /);
    assert.equal(said[1], "");
    assert.match(said[2] ?? "", /^b\.py:3:3 error lsp:pyright reportArgumentType: /);
  });
});
