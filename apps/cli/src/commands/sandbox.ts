/** `lathe sandbox`: the sandbox by itself: one command in it, or everything it promises tried for real. */

import { realpathSync } from "node:fs";
import { type Config, type Line, limitFlags, loadConfig, readFlags, realFolder, usage } from "@lathe/config";
import { wrongHost, wrongWritable } from "@lathe/hosts/tools";
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command-line/command.ts";

const flags = {
  workspace: { type: "string", value: "DIR", about: "the folder the command may write (default: here)" },
  writable: {
    type: "string",
    multiple: true,
    value: "PATH",
    about: "another existing file or folder it may write (repeatable)",
  },
  "allow-host": {
    type: "string",
    multiple: true,
    value: "HOST",
    about: "a host it may reach: name, *.name or address, each with :PORT or without; registry (repeatable)",
  },
  memory: {
    type: "string",
    value: "SIZE",
    about: "memory it may have, such as 8G (default: a tenth of the machine's)",
  },
  processes: {
    type: "string",
    value: "N",
    about: "processes and threads it may have at once (default 2048)",
  },
  "file-size": { type: "string", value: "SIZE", about: "how large a file it writes may become (default 8G)" },
  fork: { type: "boolean", about: "exec: on a copy-on-write view of the folder, which stays as it is" },
  keep: { type: "boolean", about: "exec --fork: take the changes over when the command succeeds" },
  json: { type: "boolean", about: "verify: as JSON" },
  debug: { type: "boolean", about: "more about what went wrong" },
} as const;

const forms = [
  "sandbox exec [--workspace DIR] [--writable PATH] [--allow-host HOST] [--memory SIZE] [--fork [--keep]] -- CMD...",
  "sandbox verify [--json]",
];

export const sandboxCommand: Command = {
  name: "sandbox",
  about: "Runs a command in the sandbox, or tries everything the sandbox promises.",
  usage: forms,
  flags,
  notes: `exec: standard input, output and errors are the command's, and so is the exit code; a command that a \
signal ended gives 128 and its number. 125: no sandbox could be started, and nothing ran. One word is run as a \
script of the shell, several are a program and its arguments.
--allow-host: without :PORT the ports 80 and 443; a name that leads to this machine or a private network only with :PORT.
"registry" stands for the registries of the package managers whose files lie in the workspace. Programs reach hosts \
through a proxy that HTTP_PROXY and its like name; nothing else leads out, and 127.0.0.1 is the sandbox's own.
--memory, --processes, --file-size: instead of "sandboxLimits": {"memory", "processes", "fileSize"} in your own \
configuration; never beyond what the machine's owner sets.
--fork: what the command changed is listed on standard error; unless it is kept at once it waits, and \`lathe fork\` \
lists it, shows it, keeps it or drops it.
verify: exit code 1 when something does not hold.`,
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

/** Where, and with how much of the machine. */
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
