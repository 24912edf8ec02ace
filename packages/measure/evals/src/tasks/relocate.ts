/** Relocate: replaces an image's paths by the real paths on this machine. */
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { staysIn } from "../own-files.ts";

/** Maps a path in an image to the local one. */
export type Places = Readonly<Record<string, string>>;

/** Replaces each path below one of the places by its local path. */
export function relocated(text: string, places: Places): string {
  const names = Object.keys(places).sort((a, b) => b.length - a.length);
  if (names.length === 0) return text;
  const found = new RegExp(`(?<![\\w./-])(${names.map(escaped).join("|")})(?![\\w.-])`, "g");
  return text.replace(found, (name) => places[name] ?? name);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

const maxBytes = 1_000_000;

/** Rewrites the files below a folder; only shell scripts with `onlyScripts`. */
export function relocateFiles(folder: string, places: Places, onlyScripts: boolean): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const kind = lstatSync(path);
    if (kind.isDirectory()) relocateFiles(path, places, onlyScripts);
    else if (kind.isFile() && kind.size <= maxBytes && (!onlyScripts || extname(name) === ".sh"))
      relocateFile(path, places);
  }
}

function relocateFile(path: string, places: Places): void {
  const bytes = readFileSync(path);
  if (bytes.includes(0)) return;
  const text = bytes.toString();
  const moved = relocated(text, places);
  if (moved !== text) writeFileSync(path, moved);
}

/**
 * Python's virtual environments contain their own path; updates it in a folder that was copied or will be
 * moved.
 */
export function relocateVenvs(folder: string, from: string, to: string = folder): void {
  const places = { [from]: to };
  for (const name of readdirSync(folder)) {
    const venv = join(folder, name);
    if (!existsSync(join(venv, "pyvenv.cfg")) || !isOwnVenv(folder, venv)) continue;
    relocateIn(venv, places, (file) => file === "pyvenv.cfg");
    relocateIn(join(venv, "bin"), places, () => true);
    for (const python of listed(join(venv, "lib"))) {
      const packages = join(venv, "lib", python, "site-packages");
      relocateIn(packages, places, (file) => /\.(?:pth|egg-link)$|^__editable__/.test(file));
      for (const info of listed(packages).filter((one) => one.endsWith(".dist-info")))
        relocateIn(join(packages, info), places, (file) => file === "direct_url.json");
    }
  }
}

/** Rejects folders that are links to elsewhere: their files would be written. */
function isOwnVenv(folder: string, venv: string): boolean {
  const pythons = listed(join(venv, "lib")).map((python) => join(venv, "lib", python, "site-packages"));
  const infos = pythons.flatMap((path) =>
    listed(path)
      .filter((one) => one.endsWith(".dist-info"))
      .map((one) => join(path, one)),
  );
  return [venv, join(venv, "bin"), ...pythons, ...infos].every((path) => staysIn(folder, path));
}

function relocateIn(folder: string, places: Places, isWanted: (name: string) => boolean): void {
  for (const name of listed(folder).filter(isWanted)) {
    const path = join(folder, name);
    if (lstatSync(path).isFile()) relocateFile(path, places);
  }
}

function listed(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
