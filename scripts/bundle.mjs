/**
 * Joins the command's sources into a few files that load in half the time, and notes what they were made from.
 * `bin/lathe.mjs` takes them only while nothing of that has changed; so there is no step between an edit and its run.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(root, "node_modules", ".cache", "lathe");
const out = join(cache, "bundle");

/** They bring files of their own, which they look for beside themselves. */
const external = [/tree-sitter/, /^@vscode\//];

/** Sources find what lies beside them from where they are joined, too. */
const keepPlaces = {
  name: "keep-places",
  transform(code, id) {
    if (!isOwn(id) || !code.includes("import.meta.")) return null;
    return code
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)));
  },
};

function isOwn(id) {
  return id.startsWith(root) && !relative(root, id).split(sep).includes("node_modules");
}

/** What decides which packages are joined, beside the sources. */
function manifests() {
  const folders = ["apps", "packages"].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => join(root, kind, name, "package.json")),
  );
  return [join(root, "package-lock.json"), ...folders].filter((file) =>
    statSync(file, { throwIfNoEntry: false }),
  );
}

/** The new files stand complete before the old ones go. */
function replace(files, inputs, startedAt) {
  const changed = inputs.find((file) => statSync(file).mtimeMs >= startedAt);
  if (changed !== undefined) throw new Error(`${relative(root, changed)} was changed meanwhile`);
  const made = `${out}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  for (const { fileName, code } of files) writeFileSync(join(made, fileName), code);
  const seen = inputs.map((file) => {
    const { mtimeMs, size } = statSync(file);
    return [file, mtimeMs, size];
  });
  writeFileSync(join(made, "inputs.json"), JSON.stringify(seen));
  rmSync(out, { recursive: true, force: true });
  renameSync(made, out);
}

/** Addresses of the files that were made. Throws where they cannot be. */
export async function bundle() {
  const startedAt = Date.now();
  const { rolldown } = await import("rolldown");
  const joined = await rolldown({
    input: { main: join(root, "apps/cli/src/main.ts") },
    cwd: root,
    platform: "node",
    external,
    plugins: [keepPlaces],
  });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  const { output } = await joined.generate({ format: "esm", ...names });
  const inputs = (await joined.watchFiles).filter(isOwn);
  await joined.close();
  replace(output, [...inputs, ...manifests()], startedAt);
  return output.map(({ fileName }) => pathToFileURL(join(out, fileName)).href);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await bundle();
  const size = files.reduce((sum, file) => sum + readFileSync(fileURLToPath(file)).length, 0);
  console.log(`${files.length} files, ${Math.round(size / 1024)} KiB in ${relative(root, out)}`);
}
