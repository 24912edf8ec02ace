/** Tasks for `lathe eval`: a small project with a bug, and the files to try and grade it. */
import type { Place } from "./lathe.ts";

export const broken = "export const most = (a, b) => (a < b ? a : b);\n";
export const test: string = `import assert from "node:assert/strict";
import { it } from "node:test";
import { most } from "../src/most.js";
it("takes the larger one", () => assert.equal(most(1, 2), 2));
it("takes either of two that are equal", () => assert.equal(most(2, 2), 2));
`;
export const always = 'import { it } from "node:test";\nit("passes", () => {});\n';
export const manifest: string = `${JSON.stringify({ name: "most", type: "module", scripts: { test: "node --test" } })}\n`;

/** Writes a task as other authors do, with the paths of an image. */
export function putTask(place: Place, name: string, more: Readonly<Record<string, string>> = {}): void {
  const files = {
    "instruction.md": "Make the failing test pass. The project is in /app.\n",
    "task.toml": 'version = "1.0"\n[metadata]\nprotect_tests = true\n[agent]\ntimeout_sec = 300.0\n',
    "environment/Dockerfile": "FROM node:24\nWORKDIR /app\nCOPY project/ /app/\n",
    "environment/project/package.json": manifest,
    "environment/project/src/most.js": broken,
    "environment/project/test/most.test.js": test,
    "tests/most.test.js": test,
    "tests/test.sh":
      "cd /app && cp /tests/most.test.js test/\nreward=0\nnode --test && reward=1\necho $reward > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "sed -i 's/a < b/a > b/' /app/src/most.js\n",
    ...more,
  };
  for (const [path, text] of Object.entries(files)) place.put(`suite/${name}/${path}`, text);
}
