/**
 * Joins the command's sources into a few files that load in half the time, and notes what they were made from.
 * `bin/lathe.mjs` takes them only while nothing of that has changed; so there is no step between an edit and its run.
 */
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

export const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "node_modules", ".cache", "lathe", "bundle");

/** They bring files of their own, which they look for beside themselves. */
const external = [/tree-sitter/, /^@vscode\//];

/**
 * What several commands share lies in one file: a run opened 120 files, most of them of a few lines. What is shared by fewer would make
 * the small commands read what they never use. Packages stay apart: they are large, and some have to be loaded in their order.
 */
const sharing = {
  groups: [
    { name: "shared", test: (id) => isOwn(id), minShareCount: 8, includeDependenciesRecursively: false },
  ],
};

/**
 * The files of the joined command, `main.mjs` first, and the sources they came from. `placeOf(source)` is JavaScript for
 * the address that a source takes for its own: what lies beside it is looked for from there. `more` are other files that
 * are started by themselves, by name.
 */
export async function joinSources(placeOf, more = {}) {
  const keepPlaces = {
    name: "keep-places",
    transform: (code, id) => (isOwn(id) ? code.replaceAll("import.meta.url", placeOf(id)) : null),
  };
  const joined = await rolldown({
    input: { main: join(root, "apps/cli/src/main.ts"), ...more },
    cwd: root,
    platform: "node",
    external,
    preserveEntrySignatures: "allow-extension",
    // What is shared is loaded at once, also where somebody asks for it late.
    checks: { ineffectiveDynamicImport: false },
    plugins: [keepPlaces],
  });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  const { output } = await joined.generate({ format: "esm", codeSplitting: sharing, ...names });
  const sources = (await joined.watchFiles).filter(isOwn);
  await joined.close();
  return {
    files: output.map(({ fileName, code }) => ({ name: fileName, code: askForBuiltins(code) })),
    sources,
  };
}

/**
 * To import one of Node's own modules makes all of its exports ready, used or not: 50 ms for `node:http`. So a file asks
 * for the names it uses, in the imports it begins with; what follows them may be text that only looks like one.
 */
export function askForBuiltins(code) {
  const head = /^(?:import\b[^\n]*\n)*/.exec(code)?.[0] ?? "";
  const asked = head.replace(
    /^import *(\{[^}]*\}) *from *"(node:[\w/]+)";/gm,
    (_, names, id) => `const ${names.replaceAll(" as ", ": ")} = process.getBuiltinModule("${id}");`,
  );
  return asked + code.slice(head.length);
}

function isOwn(id) {
  return id.startsWith(root) && !relative(root, id).split(sep).includes("node_modules");
}

/** What decides which packages are joined, beside the sources. */
function manifests() {
  return [join(root, "package-lock.json"), ...packageFolders().map((folder) => join(folder, "package.json"))];
}

/** The folders of this repository's packages. */
export function packageFolders() {
  return globSync("{apps,packages,packages/*}/*/package.json", { cwd: root })
    .map((file) => join(root, dirname(file)))
    .sort();
}

/** Whether there is a bundle that was made from what the sources say now; `bin/lathe.mjs` asks the same. */
export function isFresh() {
  try {
    const inputs = JSON.parse(readFileSync(join(out, "inputs.json"), "utf8"));
    if (!inputs.some(([file]) => file.startsWith(root))) return false;
    return inputs.every(([file, mtimeMs, size]) => {
      const now = statSync(file, { throwIfNoEntry: false });
      return now?.mtimeMs === mtimeMs && now.size === size;
    });
  } catch {
    return false;
  }
}

/** For this checkout: addresses of the files that were made. */
export async function bundle() {
  const startedAt = Date.now();
  const { files, sources } = await joinSources((source) => JSON.stringify(pathToFileURL(source).href));
  const inputs = [...sources, ...manifests()].map((file) => {
    const { mtimeMs, size } = statSync(file);
    if (mtimeMs >= startedAt) throw new Error(`${relative(root, file)} was changed meanwhile`);
    return [file, mtimeMs, size];
  });
  // The new files stand complete before the old ones go.
  const made = `${out}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  for (const { name, code } of files) writeFileSync(join(made, name), code);
  writeFileSync(join(made, "inputs.json"), JSON.stringify(inputs));
  rmSync(out, { recursive: true, force: true });
  renameSync(made, out);
  return files.map(({ name }) => pathToFileURL(join(out, name)).href);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(`${(await bundle()).length} files in ${relative(root, out)}`);
}
