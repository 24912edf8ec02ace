/** Changed files: what a model is told of files it has read that are not as it read them any more. */
import { isFailure, type Ports, type Session, type Texts, type Workspace } from "@lathe/protocol";

/** Files that are looked at, the latest ones that were shown first. */
const maxLooked = 500;
/** Files, and places in one of them, that are named. */
const maxNamed = 20;
const maxPlaces = 6;
/** Characters of a text in which it is looked for what has changed. */
const maxCompared = 500_000;

interface Changed {
  readonly path: string;
  /** As the model saw it last. */
  readonly shown: string;
  /** Null: it is gone. */
  readonly version: string | null;
  readonly text: string;
}

/**
 * *Contract:* one for a session; looks at each file by its stamp, and reads those alone that were written since. One that was
 * told is left alone until it is seen again. What they say is not told: only a result of a tool may bring that.
 */
export function createChangedFiles(
  workspace: Pick<Workspace, "read" | "stamp">,
  texts: Pick<Texts, "recall">,
): NonNullable<Ports["changedFiles"]> {
  const known = new Map<string, { readonly stamp: string; readonly version: string }>();
  /** Undefined where that cannot be said. */
  const look = async (path: string): Promise<Pick<Changed, "version" | "text"> | undefined> => {
    const stamp = await workspace.stamp(path);
    const before = known.get(path);
    if (stamp !== undefined && before?.stamp === stamp) return { version: before.version, text: "" };
    const file = await workspace.read(path);
    if (isFailure(file)) return file.code === "not-found" ? { version: null, text: "" } : undefined;
    // Written while it was read, it is read again the next time.
    if (stamp !== undefined) known.set(path, { stamp, version: file.version });
    return file;
  };
  return async ({ shown, noted = {} }) => {
    const changed: Changed[] = [];
    for (const [path, last] of lastShown(shown)) {
      // A log that grows is told once, and not at each step.
      if (noted[path] !== undefined) continue;
      const now = await look(path);
      if (now && now.version !== last) changed.push({ path, shown: last, ...now });
    }
    if (changed.length === 0) return undefined;
    const files = Object.fromEntries(changed.map(({ path, version }) => [path, version]));
    return { text: await changedText(changed, texts), files };
  };
}

/** Of files of the workspace, by their paths. */
function lastShown(shown: Session["shown"]): readonly (readonly [string, string])[] {
  return Object.entries(shown)
    .slice(-maxLooked)
    .flatMap(([path, versions]) => {
      const last = versions.at(-1)?.version;
      return last === undefined || path.startsWith("/") ? [] : [[path, last] as const];
    });
}

async function changedText(changed: readonly Changed[], texts: Pick<Texts, "recall">): Promise<string> {
  const there = changed.filter(({ version }) => version !== null);
  const gone = changed.filter(({ version }) => version === null).map(({ path }) => nameOf(path));
  const named = await Promise.all(there.slice(0, maxNamed).map((one) => placesText(one, texts)));
  const parts = [
    ...(there.length > 0 ? [`changed: ${listText(named, there.length)}`] : []),
    ...(gone.length > 0 ? [`gone: ${listText(gone.slice(0, maxNamed), gone.length)}`] : []),
  ];
  return `Files are not as you saw them any more, by a command or by somebody else; ${parts.join("; ")}. Read again what you build on.`;
}

function listText(named: readonly string[], count: number): string {
  const more = count - named.length;
  return more > 0 ? `${named.join(", ")} and ${more} more` : named.join(", ");
}

/** The path, and which lines of the file as it is now are others. */
async function placesText({ path, shown, text }: Changed, texts: Pick<Texts, "recall">): Promise<string> {
  const before = await texts.recall(shown);
  const name = nameOf(path);
  if (before === undefined || text === "" || before.length + text.length > maxCompared) return name;
  const { changedRanges } = await import("@lathe/edits");
  const ranges = changedRanges(before, text);
  if (ranges.length === 0 || ranges.length > maxPlaces) return name;
  const places = ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  const [first = [0, 0]] = ranges;
  const isOne = ranges.length === 1 && first[0] === first[1];
  return `${name} (${isOne ? "line" : "lines"} ${places.join(", ")})`;
}

/** On one line, whatever somebody has called it. */
function nameOf(path: string): string {
  return path.replaceAll(/\p{Cc}+/gu, " ");
}
