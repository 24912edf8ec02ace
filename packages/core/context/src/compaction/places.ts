/** Places: file positions in the workspace that an output mentions. */

const frames: readonly RegExp[] = [
  /\bat (?:.*\()?(?:file:\/\/)?([^\s():]+):(\d+)(?::\d+)?\)?$/,
  /^\s*File "([^"]+)", line (\d+)/,
  /^\s*--> (\S+?):(\d+):\d+$/,
  /❯ (\S+?):(\d+):\d+/,
  /^\s*(?:thread '.*' (?:\(\d+\) )?panicked at )?((?:\.{0,2}\/)?[\w@.-]+(?:\/[\w@.-]+)*\.\w{1,5})[:(](\d+)[:,)]/,
  /^\[ERROR\] (\/\S+\.\w+):\[(\d+),/,
  /^\s*location: '([^']+?):(\d+):\d+'/,
  /^\s+([\w@./-]+\.\w{1,5}):(\d+) \+0x/,
];

/** Files of others: installed packages, and standard libraries. */
const foreign =
  /(?:^|\/)(?:node_modules|site-packages|dist-packages|\.cargo|rustlib|\.venv|vendor|target\/debug)\/|(?:^|\/)_testmain\.go$|^node:|^\/(?:usr|rustc|opt|lib|nix)\//;

const ofRuntime = /^\s*at (?:java\.|jdk\.|sun\.|org\.(?:junit|opentest4j|apache\.maven|gradle)\.)/;

/** A position without its file, which an earlier line names. */
const below = /^ +(\d+):\d+ +(?:error|warning) {2}/;
const fileAlone = /^\S.*\.\w{1,5}$/;

/** Unique, as `path:line`; `cwd`: the workspace. */
export function placesIn(lines: readonly string[], cwd: string): readonly string[] {
  const places = new Set<string>();
  let file = "";
  for (const line of lines) {
    if (fileAlone.test(line)) file = line;
    const number = below.exec(line)?.[1];
    const place = number === undefined ? placeIn(line, cwd) : placeAt([file, number], cwd);
    if (place) places.add(place);
  }
  return [...places];
}

function placeIn(line: string, cwd: string): string | undefined {
  if (ofRuntime.test(line)) return undefined;
  for (const frame of frames) {
    const [, path, number] = frame.exec(line) ?? [];
    if (path !== undefined && number !== undefined) return placeAt([path, number], cwd);
  }
  return undefined;
}

function placeAt([path, line]: readonly [path: string, line: string], cwd: string): string | undefined {
  const inside = insideOf(path, cwd);
  if (foreign.test(inside) || inside.startsWith("/") || !/[A-Za-z]/.test(inside)) return undefined;
  return `${inside.replace(/^\.\//, "")}:${line}`;
}

/** Relative to the workspace, if the path is in it. */
export function insideOf(path: string, cwd: string): string {
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}
