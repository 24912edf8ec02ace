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
  if (isUndo) return [paint.bold("Rewind undone."), ...(restored ? filesLines(restored, paint) : [])];
  const where = opens ? `before the turn that began with step ${step}` : `before step ${step}`;
  const what =
    parts.conversation && parts.files ? "files and conversation" : parts.files ? "files" : "conversation";
  const files = parts.files ? filesLines(restored, paint) : [];
  return [`${paint.bold(`Reverted ${what}`)} to ${where}.`, ...files];
}

function filesLines(restored: Rewound["restored"], { dim, yellow }: Palette): readonly string[] {
  const changed = restored?.changed ?? [];
  if (changed.length === 0) return [dim("No files changed.")];
  const named = changed.slice(0, pathsNamed).map((path) => `  ${harmless(path)}`);
  const more = changed.length > pathsNamed ? [dim(`  … ${changed.length - pathsNamed} more`)] : [];
  const left = (restored?.left ?? []).map(({ path, why }) =>
    yellow(`  not restored: ${harmless(path)} (${why})`),
  );
  return [
    `${changed.length} ${changed.length === 1 ? "file" : "files"} restored:`,
    ...named,
    ...more,
    ...left,
  ];
}
