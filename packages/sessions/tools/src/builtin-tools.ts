/** The tools of every session, one line each. */
import type { Tool } from "@lathe/protocol";
import { askUser } from "./ask-user.ts";
import { applyPatch } from "./changing/apply-patch.ts";
import { deleteFile } from "./changing/delete.ts";
import { edit } from "./changing/edit.ts";
import { move } from "./changing/move.ts";
import { write } from "./changing/write.ts";
import { findFiles } from "./finding/find-files.ts";
import { grep } from "./finding/grep.ts";
import { list } from "./finding/list.ts";
import { read } from "./finding/read.ts";
import { searchCode } from "./finding/search-code.ts";
import { symbols } from "./finding/symbols.ts";
import { processTool } from "./running/process.ts";
import { createShell } from "./running/shell.ts";
import { tryMutations } from "./running/try-mutations.ts";
import { todo } from "./todo.ts";

/**
 * Milliseconds to wait for a command before it moves to the background: the model gets an answer within 10 s.
 */
const patienceMs = 9_800;

export const builtinTools: readonly Tool[] = [
  read,
  edit,
  write,
  deleteFile,
  move,
  applyPatch,
  searchCode,
  grep,
  symbols,
  findFiles,
  list,
  createShell({ patienceMs }),
  processTool,
  todo,
  askUser,
  tryMutations,
];
