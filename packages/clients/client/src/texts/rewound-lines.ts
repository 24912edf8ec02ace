/** Describes a rewind's changes, one per line. */
import type { Rewound } from "@lathe/sessions";
import { harmless, type Palette } from "@lathe/terminal";

/** How many paths are named; the rest are counted. */
const pathsNamed = 20;

export interface Telling {
  readonly parts: { readonly files: boolean; readonly conversation: boolean };
  readonly isUndo: boolean;
  readonly paint: Palette;
}

export function rewoundLines(rewound: Rewound, { parts, isUndo, paint }: Telling): readonly string[] {
  const { step, opens, restored } = rewound;
  if (isUndo) return [paint.bold("The rewind is undone."), ...(restored ? filesLines(restored, paint) : [])];
  const where = opens ? `before the turn that began with step ${step}` : `before step ${step}`;
  const what =
    parts.conversation && parts.files
      ? "Files and conversation are"
      : parts.files
        ? "The files are"
        : "The conversation is";
  const files = parts.files ? filesLines(restored, paint) : [];
  const head = `${paint.bold(what)} as they were ${where}.`;
  return [head.replace(/(is.*) as they were/, "$1 as it was"), ...files];
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
