/** `lathe sessions rewind`: back to before a step, and back again. */
import { findSession } from "@lathe/hosts/local";
import { type Rewound, rewindSession, undoRewind } from "@lathe/hosts/rewind-session";
import { type Failure, isFailure } from "@lathe/protocol";
import { numberFlag } from "../flags.ts";
import { harmless } from "../render/fit.ts";
import { type Palette, paletteFor } from "../render/palette.ts";
import { whileBusy } from "../render/while-busy.ts";
import { usage } from "../run-options.ts";
import { problemLine } from "../show-failure.ts";

export interface RewindFlags {
  readonly to: string | undefined;
  readonly files: boolean;
  readonly conversation: boolean;
  readonly force: boolean;
  readonly undo: boolean;
  readonly json: boolean;
}

/** Paths that are named; the rest are counted. */
const pathsNamed = 20;

export async function rewindCommand(start: string, flags: RewindFlags): Promise<number | Failure> {
  const to = numberFlag("to", flags.to, 1);
  if (isFailure(to)) return to;
  if (flags.undo && (to !== undefined || flags.files || flags.conversation)) {
    return usage("--undo takes the last rewind back as it was: without --to, --files and --conversation");
  }
  const id = await findSession(process.env, start);
  if (isFailure(id)) return id;
  const both = flags.files === flags.conversation;
  const parts = { files: both || flags.files, conversation: both || flags.conversation };
  const rewound = await whileBusy(parts.files ? "putting the files back" : "going back", (tell) => {
    const manner = { force: flags.force, onRemark: (text: string) => tell(problemLine(text)) };
    return flags.undo
      ? undoRewind(process.env, id, manner)
      : rewindSession(process.env, id, { ...parts, ...manner, ...(to !== undefined && { to }) });
  });
  if (isFailure(rewound)) return rewound;
  const paint = paletteFor(process.stdout, process.env);
  const told = flags.undo ? undoneText(rewound, paint) : rewoundText(rewound, { id, parts, paint });
  process.stdout.write(flags.json ? `${JSON.stringify(rewound)}\n` : `${told}\n`);
  return 0;
}

interface Telling {
  readonly id: string;
  readonly parts: { readonly files: boolean; readonly conversation: boolean };
  readonly paint: Palette;
}

function rewoundText({ step, opens, restored }: Rewound, { id, parts, paint }: Telling): string {
  const where = opens ? `before the turn that began with step ${step}` : `before step ${step}`;
  const what =
    parts.conversation && parts.files
      ? "Files and conversation are"
      : parts.files
        ? "The files are"
        : "The conversation is";
  const files = parts.files ? filesLines(restored, paint) : [];
  const undo = paint.dim(`Take it back: lathe sessions rewind ${id} --undo`);
  return [
    `${paint.bold(what)} as they were ${where}.`.replace(/(is.*) as they were/, "$1 as it was"),
    ...files,
    undo,
  ].join("\n");
}

function undoneText({ restored }: Rewound, paint: Palette): string {
  return [paint.bold("The rewind is undone."), ...(restored ? filesLines(restored, paint) : [])].join("\n");
}

function filesLines(restored: Rewound["restored"], { dim, yellow }: Palette): readonly string[] {
  const changed = restored?.changed ?? [];
  if (changed.length === 0) return [dim("No file had to change.")];
  const named = changed.slice(0, pathsNamed).map((path) => `  ${harmless(path)}`);
  const more = changed.length > pathsNamed ? [dim(`  … ${changed.length - pathsNamed} more`)] : [];
  const left = (restored?.left ?? []).map(({ path, why }) =>
    yellow(`  left alone: ${harmless(path)} (${why})`),
  );
  return [
    `${changed.length} ${changed.length === 1 ? "file" : "files"} put back:`,
    ...named,
    ...more,
    ...left,
  ];
}
