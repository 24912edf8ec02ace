/** The part of /etc that programs need, copied once per sandbox: the rest may hold keys and passwords. */
import { copyFileSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

const files = (
  "passwd group hosts host.conf resolv.conf nsswitch.conf services protocols ld.so.cache ld.so.conf localtime timezone " +
  "os-release debian_version lsb-release ssl/openssl.cnf inputrc locale.conf default/locale mime.types magic machine-id " +
  "login.defs"
).split(" ");

/** Shown as they are: to copy them would take longer than a bind for each command. */
const folders = (
  "alternatives ssl/certs pki crypto-policies fonts java-11-openjdk java-17-openjdk java-21-openjdk maven perl python3 " +
  "static ImageMagick-6 ImageMagick-7"
).split(" ");

/** Copies the files into `to`, and returns the arguments that show it, with the folders, as /etc. */
export function settingsArgs(to: string): readonly string[] {
  mkdirSync(to, { recursive: true });
  for (const name of files) copy(name, to);
  const shown = folders.filter((name) => exists(join("/etc", name)));
  for (const name of shown) mkdirSync(join(to, name), { recursive: true });
  const binds = shown.flatMap((name) => ["--ro-bind", realpathSync(join("/etc", name)), join("/etc", name)]);
  return ["--ro-bind", to, "/etc", ...binds];
}

function copy(name: string, to: string): void {
  const from = join("/etc", name);
  if (!exists(from)) return;
  try {
    if (dirname(name) !== ".") mkdirSync(dirname(join(to, name)), { recursive: true });
    copyFileSync(realpathSync(from), join(to, name));
  } catch {
    // A file we may not read, or a link to nowhere, is one that commands do without.
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
