/**
 * LSP servers: the servers in the user's configuration; each starts in the sandbox at the first request and
 * stays.
 */
import {
  type CheckPlace,
  type CheckQuery,
  type CheckReport,
  type Failure,
  type FileContent,
  failure,
  isFailure,
  type Problem,
} from "@lathe/protocol";
import { countField, fieldOf, textField } from "../checker.ts";
import { placeProblem } from "../place-problem.ts";
import { type LanguageServer, startServer } from "./language-server.ts";
import type { Patience } from "./within.ts";

export interface LspSpec {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Extensions of the files it supports, e.g. `.ts`. */
  readonly extensions: readonly string[];
}

export interface LspOptions {
  /** Real path of the workspace. */
  readonly root: string;
  readonly servers: Readonly<Record<string, LspSpec>>;
  /** How long a publishing server must be silent to count as finished; half a second if absent. */
  readonly quietMs?: number;
}

interface Asked {
  readonly query: CheckQuery;
  readonly place: CheckPlace;
}

export interface LspServers {
  /** *Contract:* the server's findings about the current files, or a failure. */
  check(name: string, script: string, asked: Asked): Promise<CheckReport | Failure>;
  /** *Contract:* ends them all; idempotent. */
  close(): Promise<void>;
}

/** Maximum files of one check. */
const maxFiles = 50;

export function openLspServers({ root, servers, quietMs = 500 }: LspOptions): LspServers {
  const running = new Map<string, LanguageServer>();
  const turns = new Map<string, Promise<unknown>>();
  const reach = async (
    name: string,
    script: string,
    { place, patience }: { readonly place: CheckPlace; readonly patience: Patience },
  ): Promise<LanguageServer | Failure> => {
    const known = running.get(name);
    if (known && isOfUse(known)) return known;
    running.delete(name);
    await known?.close();
    const process = await place.spawn({ script, cwd: root, apart: true });
    if (isFailure(process)) return process;
    const started = await startServer({ name, root, process, quietMs }, patience);
    if (!isFailure(started)) running.set(name, started);
    return started;
  };
  const look = async (
    name: string,
    script: string,
    { query, place }: Asked,
  ): Promise<CheckReport | Failure> => {
    const patience = { signal: place.signal, until: performance.now() + place.timeoutMs };
    const wanted = await filesOf(servers[name]?.extensions ?? [], query, place);
    if (isFailure(wanted)) return wanted;
    const read = await readAll(wanted.paths, place);
    if (isFailure(read)) return read;
    const server = await reach(name, script, { place, patience });
    if (isFailure(server)) return server;
    await refresh(server, new Set(wanted.paths), place);
    const report = await lookAt(server, read, { root, place, patience });
    server.documents.trim();
    return isFailure(report) ? report : { ...report, notes: [...wanted.notes, ...report.notes] };
  };
  return {
    // One request at a time: the server's open files belong to the last one.
    check: (name, script, asked) => {
      const turn = (turns.get(name) ?? Promise.resolve()).then(() => look(name, script, asked));
      turns.set(
        name,
        turn.catch(() => undefined),
      );
      return turn;
    },
    close: async () => {
      const all = [...running.values()];
      running.clear();
      await Promise.all(all.map((one) => one.close()));
    },
  };
}

/** A server without versions can be trusted only for first texts: it is restarted for others. */
function isOfUse({ connection, isUnversioned }: LanguageServer): boolean {
  return !connection.lost && !connection.isWorn && !isUnversioned;
}

interface Wanted {
  readonly paths: readonly string[];
  readonly notes: readonly string[];
}

async function filesOf(
  extensions: readonly string[],
  { paths }: CheckQuery,
  place: CheckPlace,
): Promise<Wanted | Failure> {
  const files = paths.filter((path) => extensions.some((one) => path.endsWith(one)));
  const folders = paths.length === 0 ? [""] : paths.filter((path) => !files.includes(path));
  const all = new Set(files);
  let isMore = false;
  for (const folder of folders) {
    const found = await place.files(folder, { extensions, limit: maxFiles });
    if (isFailure(found)) return found;
    isMore ||= found.more;
    for (const path of found.paths) all.add(path);
  }
  if (all.size === 0) return failure("not-found", `no file ends in ${extensions.join(", ")} there`);
  isMore ||= all.size > maxFiles;
  const notes = isMore ? [`only the first ${maxFiles} files were looked at: name paths`] : [];
  return { paths: [...all].slice(0, maxFiles), notes };
}

async function readAll(
  paths: readonly string[],
  { read }: CheckPlace,
): Promise<readonly FileContent[] | Failure> {
  const files: FileContent[] = [];
  for (const one of await Promise.all(paths.map(read))) {
    if (isFailure(one)) return one;
    files.push(one);
  }
  return files;
}

/** Files still open from before may have been changed or deleted since. */
async function refresh(server: LanguageServer, asked: ReadonlySet<string>, place: CheckPlace): Promise<void> {
  const { documents } = server;
  for (const path of documents.paths.filter((one) => !asked.has(one))) {
    const now = await place.read(path);
    if (isFailure(now)) documents.drop(path);
    else if (now.text !== documents.known(path)?.text) server.put(path, now.text);
  }
}

async function lookAt(
  server: LanguageServer,
  files: readonly FileContent[],
  {
    root,
    place,
    patience,
  }: { readonly root: string; readonly place: CheckPlace; readonly patience: Patience },
): Promise<CheckReport | Failure> {
  const sent = files.map((file) => ({ file, document: server.put(file.path, file.text) }));
  const said = await Promise.all(
    sent.map(async ({ file, document }) => ({
      file,
      items: await server.look(file.path, document, patience),
    })),
  );
  const failed = said.map(({ items }) => items).find(isFailure);
  if (failed) return failed;
  const problems: Problem[] = [];
  const stale: string[] = [];
  for (const { file, items } of said) {
    const now = await place.read(file.path);
    if (isFailure(now) || now.version !== file.version) stale.push(file.path);
    else if (!isFailure(items))
      problems.push(
        ...items.flatMap((one) => problemOf(one, file.path)).map((one) => placeProblem(one, root, "")),
      );
  }
  if (stale.length === files.length)
    return failure("stale-version", `${stale.join(", ")} changed while it was looked at: ask again`);
  return { problems, notes: stale.map((path) => `${path} changed while it was looked at: ask again`) };
}

const severities = ["error", "error", "warning", "info"] as const;

/** Hints are only for editors. */
function problemOf(item: unknown, path: string): readonly Problem[] {
  const severity = severities[Number(fieldOf(item, "severity") ?? 1)];
  if (severity === undefined) return [];
  const start = fieldOf(fieldOf(item, "range"), "start");
  const code = fieldOf(item, "code");
  const place = {
    line: countField({ at: Number(fieldOf(start, "line")) + 1 }, "at"),
    column: countField({ at: Number(fieldOf(start, "character")) + 1 }, "at"),
  };
  const named = typeof code === "string" || typeof code === "number" ? { code: String(code) } : {};
  return [{ path, ...place, severity, ...named, message: textField(item, "message") ?? "" }];
}
