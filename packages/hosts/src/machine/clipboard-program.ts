/** Clipboard program: which program of the machine is asked about its clipboard, and what it is told of the user. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";

export interface ClipboardPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

/** Not relative, and not from the workspace: its programs are its authors', and this one runs with the user's rights. */
export function findProgram(name: string, { env, cwd }: ClipboardPlace): string | undefined {
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    try {
      const path = realpathSync(join(folder, name));
      if (isIn(path, cwd) || isIn(join(folder, name), cwd) || !statSync(path).isFile()) continue;
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The next folder may have it.
    }
  }
  return undefined;
}

function isIn(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

const passed = new Set([
  ...["PATH", "HOME", "USER", "LANG", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"],
  ...["WSL_DISTRO_NAME", "WSL_INTEROP", "WSLENV", "SystemRoot", "TMPDIR", "TMUX", "TMUX_TMPDIR"],
]);

/** What leads to a display or a terminal, and nothing else of the user's. */
export function desktopEnv(env: ClipboardPlace["env"]): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => passed.has(name)));
}
