/** The tools every session has, one line each. */
import type { Tool } from "@lathe/protocol";
import { applyPatch } from "./apply-patch.ts";
import { askUser } from "./ask-user.ts";
import { deleteFile } from "./delete.ts";
import { edit } from "./edit.ts";
import { findFiles } from "./find-files.ts";
import { grep } from "./grep.ts";
import { list } from "./list.ts";
import { move } from "./move.ts";
import { processTool } from "./process.ts";
import { read } from "./read.ts";
import { searchCode } from "./search-code.ts";
import { createShell } from "./shell.ts";
import { symbols } from "./symbols.ts";
import { todo } from "./todo.ts";
import { tryMutations } from "./try-mutations.ts";
import { write } from "./write.ts";

/** How long a command is waited for before it goes on in the background: back with the model within 10 s. */
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
