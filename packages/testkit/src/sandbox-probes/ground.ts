/** The ground a probe runs on: a workspace in a user's home, and around it everything a command must not reach. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Listeners, startListeners } from "./listeners.ts";

/** The file descriptors and secrets that the probes' process inherited, for commands to find. */
export interface Inheritance {
  /** A value in the environment and in a session keyring of the harness. */
  readonly secret: string;
  /** A descriptor of a file with the secret, and one of a folder outside; neither is close-on-exec. */
  readonly fileFd: number;
  readonly folderFd: number;
  readonly folder: string;
  /** A log of everything written to the harness's controlling terminal. */
  readonly terminalLog: string;
}

export interface Ground {
  /** Digits that appear nowhere else on the machine. */
  readonly tag: string;
  readonly folder: string;
  readonly workspace: string;
  readonly scratch: string;
  /** The user's home, full of secrets; it contains the workspace. */
  readonly home: string;
  /** A folder next to the home, with the canary. */
  readonly outside: string;
  readonly canary: string;
  /** A value in every file that a command must not read. */
  readonly secret: string;
  readonly hostTmp: string;
  readonly listeners: Listeners;
  /** A sleeping process of the host. */
  readonly sleeper: ChildProcess & { readonly pid: number };
  /** The process that runs the probes. */
  readonly harnessPid: number;
  readonly hostMountNamespace: string;
  readonly inheritance: Inheritance | undefined;
}

/** Where a home keeps secrets, with typical surrounding text. */
export const secretFiles: Readonly<Record<string, (secret: string) => string>> = {
  ".ssh/id_rsa": (secret) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}\n`,
  ".aws/credentials": (secret) => `[default]\naws_secret_access_key = ${secret}\n`,
  ".netrc": (secret) => `machine example.com login me password ${secret}\n`,
  ".git-credentials": (secret) => `https://me:${secret}@example.com\n`,
  ".bash_history": (secret) => `export TOKEN=${secret}\n`,
  ".docker/config.json": (secret) => `{"auths":{"example.com":{"auth":"${secret}"}}}\n`,
  ".kube/config": (secret) => `users: [{user: {token: ${secret}}}]\n`,
  ".npmrc": (secret) => `//registry.example.com/:_authToken=${secret}\n`,
  ".pypirc": (secret) => `[pypi]\npassword = ${secret}\n`,
  ".cargo/credentials.toml": (secret) => `[registry]\ntoken = "${secret}"\n`,
  ".config/gh/hosts.yml": (secret) => `github.com: {oauth_token: ${secret}}\n`,
  ".config/gcloud/application_default_credentials.json": (secret) => `{"refresh_token":"${secret}"}\n`,
  ".gnupg/private-keys-v1.d/key.key": (secret) => `(protected-private-key ${secret})\n`,
  ".local/state/lathe/sessions/s1/log.jsonl": (secret) => `{"text":"${secret}"}\n`,
  ".config/lathe/keys.json": (secret) => `{"anthropic":"${secret}"}\n`,
  "other-project/.env": (secret) => `API_KEY=${secret}\n`,
};

const gitConfig =
  '[user]\n\tname = Ada Probe\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n';

export interface GroundOptions {
  /** An existing folder that belongs to the run. */
  readonly base: string;
  readonly inheritance?: Inheritance | undefined;
  /** Name of the workspace folder. */
  readonly name?: string;
}

export async function openGround({ base, inheritance, name = "project" }: GroundOptions): Promise<Ground> {
  // A decimal number, unlike part of a hexadecimal word: scripts sleep for this number of seconds.
  const tag = String(10_000_000 + (randomBytes(4).readUInt32BE() % 89_999_999));
  const secret = `secret${randomBytes(12).toString("hex")}`;
  const home = join(base, "home");
  const paths = {
    folder: base,
    home,
    workspace: join(home, "work", name),
    scratch: join(base, "scratch", `s${tag}`),
    outside: join(base, "outside"),
    canary: join(base, "outside", "canary"),
    hostTmp: join(tmpdir(), `lathe-probe-${tag}`),
  };
  for (const left of [home, paths.outside, join(base, "scratch")]) removeTree(left);
  for (const made of [paths.workspace, paths.scratch, paths.outside, join(base, "scratch", "sibling")]) {
    mkdirSync(made, { recursive: true });
  }
  plant(paths, secret);
  const listeners = await startListeners({ home, outside: paths.outside, tag });
  const sleeper = spawn("sleep", [`600.${tag}`], { stdio: "ignore" });
  return {
    tag,
    ...paths,
    secret,
    listeners,
    sleeper: sleeper as Ground["sleeper"],
    harnessPid: process.pid,
    hostMountNamespace: readlinkSync("/proc/self/ns/mnt"),
    inheritance,
  };
}

function plant(paths: Pick<Ground, "home" | "canary" | "hostTmp" | "folder">, secret: string): void {
  for (const [path, text] of Object.entries(secretFiles)) {
    write(join(paths.home, path), text(secret));
  }
  write(join(paths.home, ".gitconfig"), gitConfig);
  write(join(paths.home, ".bashrc"), "# mine\n");
  write(join(paths.home, ".ssh/authorized_keys"), "# none\n");
  write(paths.canary, `canary ${secret}\n`);
  write(join(paths.hostTmp, "canary"), `canary ${secret}\n`);
  write(join(paths.folder, "scratch/sibling/note"), `other session ${secret}\n`);
}

/** Writes a file and creates the folders above it. */
export function write(path: string, text: string, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, mode === undefined ? {} : { mode });
}

/** *Contract:* ends the listeners and the sleeper and removes everything; idempotent. */
export async function closeGround(ground: Ground): Promise<void> {
  await ground.listeners.close();
  const { sleeper } = ground;
  if (sleeper.exitCode === null && sleeper.signalCode === null) {
    sleeper.kill("SIGKILL");
    await new Promise((resolve) => sleeper.once("exit", resolve));
  }
  for (const path of [ground.hostTmp, ground.home, ground.outside, join(ground.folder, "scratch")]) {
    removeTree(path);
  }
}

/** Commands may leave folders that not even their owner can enter. */
function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    spawnSync("chmod", ["-R", "u+rwX", path]);
    rmSync(path, { recursive: true, force: true });
  }
}
