/**
 * Tests for the right tier and message, whatever a machine lacks; a row that cannot be simulated here says
 * so.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { AssistantPart } from "@lathe/protocol";
import { probeDriver } from "@lathe/sandbox";
import { startWireServer } from "@lathe/testkit";
import { makePlace, type Place, wireEnv } from "./lathe.ts";
import { ordinaryUser } from "./ordinary-user.ts";
import {
  asEver,
  asUser,
  cannotMake,
  filtered,
  pathWithout,
  type RestrictedEnvironment,
} from "./restricted-environments.ts";
import { type Row, rows } from "./sandbox-matrix-rows.ts";
import type { MatrixResult, MatrixRun } from "./sandbox-matrix-run.ts";

const script = fileURLToPath(new URL("./sandbox-matrix-run.ts", import.meta.url));
const usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const isRoot = process.getuid?.() === 0;

const paths = mkdtempSync(join(realpathSync(tmpdir()), "lathe-matrix-paths-"));
const built = mkdtempSync(join(realpathSync(tmpdir()), "lathe-matrix-cache-"));
await probeDriver({ cacheFolder: built });
after(() => {
  for (const made of [paths, built]) rmSync(made, { recursive: true, force: true });
});

for (const user of [undefined, ...(isRoot ? [ordinaryUser()] : [])]) {
  describe(`the sandbox of a machine, as ${user?.name ?? "this user"}`, () => {
    let base: string;
    beforeEach(() => {
      base = makeBase(user);
    });
    afterEach(() => rmSync(base, { recursive: true, force: true }));
    for (const row of rows) {
      it(`${row.name}: ${row.driver}`, async (test) => {
        const why = cannotTry(row, user, base);
        if (why !== undefined) return test.skip(why);
        judge(row, run(row, { base, user }), join(base, "outside"));
      });
    }
  });
}

function makeBase(user?: ReturnType<typeof ordinaryUser>): string {
  // Not below /tmp, since a sandbox has its own.
  const base = realpathSync(mkdtempSync(join(user ? "/home" : homedir(), ".lathe-matrix-")));
  chmodSync(base, 0o755);
  if (user) chownSync(base, user.uid, user.gid);
  return base;
}

function circumstancesOf(row: Row, base: string): RestrictedEnvironment {
  return typeof row.in === "function" ? row.in(join(base, "empty")) : (row.in ?? asEver);
}

function cannotTry(row: Row, user: unknown, base: string): string | undefined {
  if (row.needs === "root" && (!isRoot || user !== undefined)) return "only as root";
  if (row.needs === "bubblewrap" && !existsSync("/usr/bin/bwrap")) return "no bubblewrap here";
  const spaces = cannotMake(["unshare", "--user", "--map-current-user"]) === undefined;
  if (!spaces && row.tier === "full") return "no user namespaces here";
  mkdirSync(join(base, "empty"), { recursive: true });
  return cannotMake(circumstancesOf(row, base));
}

interface Ground {
  readonly base: string;
  readonly user: ReturnType<typeof ordinaryUser> | undefined;
}

function run(row: Row, { base, user }: Ground): MatrixResult {
  const root = row.ground === "empty folder" ? join(base, "empty") : base;
  const outside = join(base, "outside");
  const options: MatrixRun = {
    preference: row.preference ?? "auto",
    path: pathOf(row),
    ...(row.limits && { limits: row.limits }),
    workspace: join(root, row.ground === "worktree" ? "tree" : "work"),
    scratch: join(root, "scratch"),
    home: join(root, "home"),
    cacheFolder: join(root, "cache"),
    script: `echo ran > made; cat made; echo x > ${outside}/new; chmod 777 ${outside}; ${row.script ?? "true"}`,
  };
  const own = user ? asUser(user) : asEver;
  const outer = { PATH: usual, HOME: join(base, "home"), TMPDIR: root, LANG: "C.UTF-8" };
  const start = (words: RestrictedEnvironment, env = outer): string => {
    const [file, ...rest] = [...own, ...words] as [string, ...string[]];
    return execFileSync(file, rest, { encoding: "utf8", env, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  };
  start(["sh", "-c", makeGround(row.ground), "sh", base]);
  if (!row.isNew && row.ground !== "empty folder") putLauncher(options.cacheFolder, user);
  const words = [process.execPath, script, JSON.stringify(options)];
  return JSON.parse(
    start([...circumstancesOf(row, base), ...words], { ...outer, HOME: options.home }),
  ) as MatrixResult;
}

/**
 * Makes a repository with one commit, a home with git settings, and an outside folder that must stay
 * untouched.
 */
function makeGround(kind: Row["ground"]): string {
  const home = kind === "linked home" ? "mkdir real; ln -s real home" : "mkdir home";
  const tree = kind === "worktree" ? "git worktree add -q ../tree" : "true";
  return `set -e; cd "$1"; mkdir -m 700 outside; mkdir work; ${home}
printf '[user]\\n\\tname = a\\n\\temail = a@b.c\\n' > home/.gitconfig
cd work; git init -q; git commit -q --allow-empty -m zero; ${tree}`;
}

function putLauncher(cache: string, user: Ground["user"]): void {
  const names = readdirSync(built).filter((name) => /^lathe-box-[0-9a-f]+$/u.test(name));
  mkdirSync(cache, { mode: 0o700 });
  for (const name of names) copyFileSync(join(built, name), join(cache, name));
  if (user)
    for (const path of [cache, ...names.map((name) => join(cache, name))])
      chownSync(path, user.uid, user.gid);
}

function pathOf({ without = [] }: Row): string {
  if (without.length === 0) return usual;
  const folder = join(paths, without.join("-"));
  chmodSync(paths, 0o755);
  return existsSync(folder) ? folder : pathWithout(folder, usual, without);
}

function judge(row: Row, result: MatrixResult, outside: string): void {
  const { driver, tier, reasons, lacks, output, failure } = result;
  assert.deepEqual(
    { driver, tier, failure },
    { driver: row.driver, tier: row.tier, failure: undefined },
    reasons.join(" "),
  );
  assert.equal(reasons.length, row.reasons.length, reasons.join("\n"));
  for (const [at, wanted] of row.reasons.entries()) assert.match(reasons[at] ?? "", wanted);
  assert.equal(lacks.length > 0, tier === "reduced");
  assert.deepEqual(readdirSync(outside), []);
  assert.equal(statSync(outside).mode & 0o777, 0o700);
  assert.match(output ?? "", tier === "none" ? /^$/u : /^ran$/mu);
  if (row.says) assert.match(output ?? "", row.says);
  row.holds?.(result);
}

describe("a tier below full is never used silently", () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.remove());
  const skip = cannotMake(filtered) ?? false;
  const said = /commands run in a reduced sandbox \(landlock\).*`lathe sandbox verify`/u;
  const before = filtered;

  it("by sandbox exec", { skip }, async () => {
    const words = ["sandbox", "exec", "--", "echo out; echo wrong >&2; exit 7"];
    const { code, out, err } = await place.run(words, { before });
    assert.deepEqual([code, out], [7, "out\n"]);
    assert.match(err, said);
    assert.match(err, /^wrong$/mu);
    const { err: silent } = await place.run(words);
    if (cannotMake(["unshare", "--user"]) === undefined) assert.equal(silent, "wrong\n");
  });

  it("by verify and doctor", { skip }, async () => {
    const { code, out } = await place.run(["sandbox", "verify", "--json"], { before });
    const { driver, tier, lacks, promises } = JSON.parse(out);
    assert.deepEqual([code, driver, tier], [0, "landlock", "reduced"], out);
    assert.ok(lacks.length > 3 && promises.some(({ state }: { state: string }) => state === "absent"));
    const plain = await place.run(["sandbox", "verify"], { before });
    assert.match(plain.out, /landlock, tier reduced[\s\S]*does not:\n○ there is no private \/tmp/u);
    const doctor = await place.run(["doctor"], { before });
    assert.match(doctor.out + doctor.err, /landlock, tier reduced: launcher does not work here/u);
  });

  it("by a session, headless or not", { skip }, async () => {
    const call: AssistantPart = {
      type: "tool-call",
      id: "c1",
      tool: "shell",
      input: JSON.stringify({ command: "ls" }),
    };
    const server = await startWireServer([{ parts: [call] }, { parts: [{ type: "text", text: "Done." }] }]);
    const { code, out, err } = await place.run(["run", "look"], { before, env: wireEnv(server.url) });
    await server.close();
    assert.deepEqual([code, out], [0, "Done.\n"], err);
    assert.match(err, said);
  });

  it("and exec runs nothing and says so if there is no containment", { skip }, async () => {
    // No launcher exists or can be compiled: the cache is not a folder.
    place.put("cache", "a file");
    const env = { XDG_CACHE_HOME: join(place.workspace, "cache") };
    const { code, out, err } = await place.run(["sandbox", "exec", "--", "echo ran"], { before, env });
    assert.deepEqual([code, out], [125, ""]);
    assert.match(err, /no sandbox works on this machine: The launcher /u);
  });

  it("does not report a sandbox that fails to start as the command's failure", { skip }, async () => {
    assert.equal((await place.run(["sandbox", "exec", "--", "true"])).code, 0);
    // A container that shares the home must not assume that what worked outside works here.
    const { code, out } = await place.run(["sandbox", "exec", "--", "echo ran"], { before });
    assert.deepEqual([code, out], [0, "ran\n"]);
  });
});
