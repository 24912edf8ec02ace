/** Clipboard text: puts a text into the clipboard with the program that this machine has for it; outside the sandbox, as images are read. */
import { spawn } from "node:child_process";
import { sep } from "node:path";
import { hostProgram } from "@lathe/system";
import { type ClipboardPlace, desktopEnv } from "./clipboard-program.ts";

interface Writer {
  readonly program: string;
  readonly args: readonly string[];
  /** As the program reads it. */
  bytes(text: string): string | Buffer;
}

const patienceMs = 3_000;
const plain = (text: string): string => text;

/** *Contract:* the name of the program that took it; undefined where none is there or did. Never rejects. */
export async function writeClipboardText(text: string, place: ClipboardPlace): Promise<string | undefined> {
  for (const writer of writersFor(place)) {
    const path = hostProgram(writer.program, place.env, place.cwd);
    if (path !== undefined && (await isTaken(path, { writer, text, place }))) return writer.program;
  }
  return undefined;
}

/** Over SSH the desktop that a program here would reach is not the one in front of the person. */
function writersFor({ env, platform = process.platform }: ClipboardPlace): readonly Writer[] {
  const isRemote = Boolean(env.SSH_CONNECTION || env.SSH_TTY);
  const desktop = isRemote ? [] : desktopWriters(env, platform);
  return env.TMUX ? [...desktop, tmux] : desktop;
}

function desktopWriters(env: ClipboardPlace["env"], platform: NodeJS.Platform): readonly Writer[] {
  if (platform === "darwin") return [{ program: "pbcopy", args: [], bytes: plain }];
  if (platform !== "linux") return [];
  return [
    ...(env.WAYLAND_DISPLAY ? [{ program: "wl-copy", args: [], bytes: plain }] : []),
    ...(env.DISPLAY ? [xclip, xsel] : []),
    ...(env.WSL_DISTRO_NAME ? [clip] : []),
  ];
}

const xclip: Writer = { program: "xclip", args: ["-selection", "clipboard", "-in"], bytes: plain };
const xsel: Writer = { program: "xsel", args: ["--clipboard", "--input"], bytes: plain };
/** Windows' own reads anything but ASCII as this alone. */
const clip: Writer = {
  program: "clip.exe",
  args: [],
  bytes: (text) => Buffer.from(`\ufeff${text}`, "utf16le"),
};
/** Into its own buffer, and with `-w`, since 3.2, into the clipboard of the terminal around it. */
const tmux: Writer = { program: "tmux", args: ["load-buffer", "-w", "-"], bytes: plain };

interface Writing {
  readonly writer: Writer;
  readonly text: string;
  readonly place: ClipboardPlace;
}

/** Some leave a child behind that holds the text, so their output is not waited for. */
function isTaken(path: string, { writer, text, place }: Writing): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(path, writer.args, {
      env: desktopEnv(place.env),
      cwd: sep,
      stdio: ["pipe", "ignore", "ignore"],
      timeout: patienceMs,
      killSignal: "SIGKILL",
      windowsHide: true,
    });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
    // One that ends without reading it says so with its code.
    child.stdin.on("error", () => undefined);
    child.stdin.end(writer.bytes(text));
  });
}
