/**
 * Sessions that an earlier build recorded: restores each into its own place, and observes what a build makes
 * of it.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startWireServer, treeOf, type WireRecord } from "@lathe/testkit";
import { type Ended, type Place, wireEnv } from "./lathe.ts";

export const goldenFolder: string = fileURLToPath(new URL("./fixtures/golden-logs", import.meta.url));

export interface Golden {
  /** The observed session. */
  readonly id: string;
  /** The arguments of a `run` that resumes it; none if it still has work to do. */
  readonly resume: readonly string[];
}

/** Output as lines, so that a failed comparison shows lines. */
type Lines = readonly string[];

/** The results of a build on a recorded session. */
export interface Observed {
  /** Outputs by command. */
  readonly outputs: Readonly<Record<string, Lines>>;
  readonly resumed: { readonly code: number | null; readonly out: string; readonly request: unknown };
  readonly rewound: readonly { readonly code: number | null; readonly files: unknown }[];
}

/** For reading a log, the place always has the same path: token estimates count its letters. */
const namedRoot = "/golden";
export const exportedEvents = "sessions export --format jsonl ID";
const ofLog: readonly (readonly string[])[] = [
  ["sessions", "export", "--format", "markdown", "ID"],
  ["sessions", "export", "--format", "html", "ID"],
  ["sessions", "export", "--format", "edits", "ID"],
  ["sessions", "export", "--format", "atif", "ID"],
  exportedEvents.split(" "),
  ["sessions", "show", "ID"],
  ["sessions", "cost", "ID"],
  ["sessions", "cost", "--json", "ID"],
  ["sessions", "context", "--json", "ID"],
];
const ofFiles: readonly (readonly string[])[] = [
  ["sessions", "diff", "ID"],
  ["policy", "rules"],
];

/** Writes the files of a place as a fixture: its sessions, its settings and its workspace. */
export function saveGolden(kind: string, place: Place, golden: Golden): void {
  const to = join(goldenFolder, kind);
  const marked = [...turned(marks(dirname(place.home))), earlier(place)];
  copyFiles(join(place.home, ".local"), join(to, "home", ".local"), marked);
  copyFiles(join(place.home, ".config"), join(to, "home", ".config"), marked);
  copyFiles(place.workspace, join(to, "workspace"), marked);
  writeFileSync(join(to, "golden.json"), `${JSON.stringify(golden, undefined, 2)}\n`);
}

/**
 * Moves the times to June 2025, before any clock: all times of a day then begin with the same five digits.
 */
function earlier(place: Place): Replacement {
  const folder = join(place.home, ".local", "state", "lathe", "sessions");
  const [name = ""] = readdirSync(folder);
  const [, digits = ""] = /"at":(\d{5})\d{8}\b/.exec(readFileSync(join(folder, name), "utf8")) ?? [];
  return [digits, "17500"];
}

function goldenOf(kind: string): Golden {
  return JSON.parse(readFileSync(join(goldenFolder, kind, "golden.json"), "utf8"));
}

/** Observes each session in its own place, so that none sees another's changes. */
export async function observe(kind: string, makePlace: () => Place): Promise<Observed> {
  const golden = goldenOf(kind);
  const inPlace = async <Result>(work: (place: Place) => Promise<Result>, root?: string): Promise<Result> => {
    const place = makePlace();
    try {
      restore(kind, place, root);
      return await work(place);
    } finally {
      place.remove();
    }
  };
  return {
    outputs: {
      ...(await inPlace((place) => outputsIn(place, golden.id, ofLog), namedRoot)),
      ...(await inPlace((place) => outputsIn(place, golden.id, ofFiles))),
    },
    resumed: await inPlace((place) => resumeIn(place, golden)),
    rewound: await inPlace((place) => rewindIn(place, golden.id)),
  };
}

function restore(kind: string, place: Place, root: string = dirname(place.home)): void {
  copyFiles(join(goldenFolder, kind, "home"), place.home, marks(root));
  copyFiles(join(goldenFolder, kind, "workspace"), place.workspace, marks(root));
}

/** The key that names a workspace's checkpoints and saved rules. */
function keyOf(workspace: string): string {
  return createHash("sha256").update(workspace).digest("hex").slice(0, 24);
}

type Replacement = readonly [text: string, by: string];

/** Placeholders in recorded files for text that differs between places. */
function marks(root: string): readonly Replacement[] {
  return [
    ["@KEY@", keyOf(join(root, "workspace"))],
    ["@ROOT@", root],
    ['"host":"@HOST@"', `"host":"${hostname()}"`],
  ];
}

function turned(replacements: readonly Replacement[]): readonly Replacement[] {
  return replacements.map(([mark, text]) => [text, mark]);
}

/** Git stores no modes and no empty folders, so those that commands read are set here. */
function copyFiles(from: string, to: string, replacements: readonly Replacement[]): void {
  for (const entry of existsSync(from) ? readdirSync(from, { withFileTypes: true }) : []) {
    const [source, target] = [join(from, entry.name), join(to, replaced(entry.name, replacements))];
    if (entry.isDirectory()) copyFiles(source, target, replacements);
    if (!entry.isFile()) continue;
    mkdirSync(to, { recursive: true });
    // In Latin-1 each byte is a character, so binary files stay unchanged.
    const text = readFileSync(source, "latin1");
    writeFileSync(target, replaced(text, replacements), "latin1");
    chmodSync(target, statSync(source).mode & 0o100 ? 0o755 : 0o644);
  }
}

function replaced(text: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((left, [mark, by]) => left.replaceAll(mark, by), text);
}

async function outputsIn(
  place: Place,
  id: string,
  commands: readonly (readonly string[])[],
): Promise<Observed["outputs"]> {
  const outputs: Record<string, Lines> = {};
  for (const words of commands) {
    const args = words.map((word) => (word === "ID" ? id : word));
    outputs[words.join(" ")] = linesOf(place, await place.run(args, { env: { TZ: "UTC", NO_COLOR: "1" } }));
  }
  return outputs;
}

function linesOf(place: Place, { code, out, err }: Ended): Lines {
  const text = code === 0 ? out : `exit ${code}\n${out}${err}`;
  return withoutPlace(place, text).split("\n");
}

function withoutPlace(place: Place, text: string): string {
  return replaced(text, turned(marks(dirname(place.home))));
}

async function resumeIn(place: Place, { id, resume }: Golden): Promise<Observed["resumed"]> {
  const server = await startWireServer(() => ({ parts: [{ type: "text", text: "Resumed." }] }));
  try {
    const args = ["run", "--no-sandbox", "--resume", id, ...resume];
    const { code, out, err } = await place.run(args, { env: wireEnv(server.url) });
    const [first] = server.records;
    const request = first && JSON.parse(withoutPlace(place, JSON.stringify(requestOf(first))));
    return { code, out: withoutPlace(place, code === 0 ? out : out + err), request };
  } finally {
    await server.close();
  }
}

function requestOf({ body, request }: WireRecord): unknown {
  return { model: body.model, system: request.system, tools: request.tools, messages: request.messages };
}

/** Rewinds to before the last turn, and undoes that. */
async function rewindIn(place: Place, id: string): Promise<Observed["rewound"]> {
  const rewound = [];
  for (const words of [[], ["--undo"]]) {
    const { code } = await place.run(["sessions", "rewind", id, ...words]);
    rewound.push({ code, files: Object.fromEntries(Object.entries(treeOf(place.workspace))) });
  }
  return rewound;
}
