/** `lathe sandbox`: runs one command in the sandbox, or verifies everything the sandbox promises. */

import { realpathSync } from "node:fs";
import { type Config, type Line, limitFlags, loadConfig, readFlags, realFolder, usage } from "@lathe/config";
import { wrongHost, wrongWritable } from "@lathe/hosts/tools";
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command-line/command.ts";

const flags = {
  workspace: { type: "string", value: "DIR", about: "the folder the command may write to (default: here)" },
  writable: {
    type: "string",
    multiple: true,
    value: "PATH",
    about: "another existing file or folder it may write to (repeatable)",
  },
  "allow-host": {
    type: "string",
    multiple: true,
    value: "HOST",
    about: "a host it may reach: name, *.name or address, optionally with :PORT; or registry (repeatable)",
  },
  memory: {
    type: "string",
    value: "SIZE",
    about: "memory limit, such as 8G (default: a tenth of the machine's)",
  },
  processes: {
    type: "string",
    value: "N",
    about: "limit of processes and threads at once (default 2048)",
  },
  "file-size": { type: "string", value: "SIZE", about: "limit of the size of a file (default 8G)" },
  fork: { type: "boolean", about: "exec: work on a copy-on-write view of the folder" },
  keep: { type: "boolean", about: "exec --fork: apply the changes if the command succeeds" },
  json: { type: "boolean", about: "verify: as JSON" },
  debug: { type: "boolean", about: "more about what went wrong" },
} as const;

const forms = [
  "sandbox exec [--workspace DIR] [--writable PATH] [--allow-host HOST] [--memory SIZE] [--fork [--keep]] -- CMD...",
  "sandbox verify [--json]",
];

export const sandboxCommand: Command = {
  name: "sandbox",
  about: "Run a command in the sandbox, or test everything the sandbox promises.",
  usage: forms,
  flags,
  notes: `exec: standard input, output, errors and exit code are those of the command. A signal gives 128 plus its number. \
125 means that no sandbox could be started, and nothing ran. One word is a shell script; several are a program and its \
arguments.
--allow-host: without :PORT it allows ports 80 and 443. A name in a private network or of this machine needs :PORT.
"registry" means the registries of the package managers used in the workspace. Programs reach hosts through the \
proxy in HTTP_PROXY and similar variables, and in no other way. 127.0.0.1 is the sandbox's own.
--memory, --processes, --file-size override "sandboxLimits" in your own configuration, but not the limits of the \
machine's owner.
--fork: changes are listed on standard error. Unless they are applied at once they wait, and \`lathe fork\` shows, \
applies or drops them.
verify: exit code 1 if a promise does not hold.`,
  run,
};

async function run(argv: readonly string[]): Promise<number | Failure> {
  const at = argv.indexOf("--");
  const line = readFlags(at < 0 ? argv : argv.slice(0, at), flags);
  if (isFailure(line)) return line;
  const [what, ...more] = line.words;
  const place = await placeOf(line.values);
  if (isFailure(place)) return place;
  if (what === "verify" && more.length === 0 && at < 0) {
    const { verify } = await import("../sandbox/verify.ts");
    return verify(place, line.values.json ?? false);
  }
  const command = at < 0 ? more : [...more, ...argv.slice(at + 1)];
  if (what !== "exec" || command.length === 0) return usage(`lathe ${forms.join(", or lathe ")}`);
  return execWith(command, place, line.values);
}

async function execWith(command: readonly string[], place: Place, values: Values): Promise<number | Failure> {
  const { fork = false, keep = false } = values;
  if (keep && !fork) return usage("--keep goes with --fork: without it every change is made at once");
  const writable = realPaths(values.writable ?? []);
  if (isFailure(writable)) return writable;
  const hosts = values["allow-host"] ?? [];
  const problem = (await wrongHost(hosts)) ?? (await wrongWritable(writable, process.env));
  if (problem) return problem;
  const { exec } = await import("../sandbox/exec.ts");
  return exec(command, { ...place, hosts, writable, ...(fork && { fork: { keep } }) });
}

type Values = Line<typeof flags>["values"];

/** The folder, and limits on the machine's resources. */
interface Place {
  readonly cwd: string;
  readonly sandboxLimits: Config["sandboxLimits"];
}

async function placeOf(values: Values): Promise<Place | Failure> {
  const cwd = realFolder(values.workspace ?? ".");
  if (isFailure(cwd)) return cwd;
  const said = limitFlags(values);
  if (isFailure(said)) return said;
  const config = await loadConfig(cwd, process.env, { sandboxLimits: said });
  return isFailure(config) ? config : { cwd, sandboxLimits: config.sandboxLimits };
}

function realPaths(paths: readonly string[]): readonly string[] | Failure {
  const given = paths.map(realPath);
  return given.find(isFailure) ?? given.filter((path) => typeof path === "string");
}

function realPath(path: string): string | Failure {
  try {
    return realpathSync(path);
  } catch (cause) {
    return usage(`--writable ${path}: there is no such file or folder; make it first`, cause);
  }
}
