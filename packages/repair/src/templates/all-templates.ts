/** The list of templates. A new template is one file and one line here. */

import { callArguments } from "./arguments.ts";
import { bounds } from "./bounds.ts";
import { calls } from "./calls.ts";
import { conditions } from "./conditions.ts";
import { constants } from "./constants.ts";
import { copiedGuards } from "./copied-guards.ts";
import { expressions } from "./expressions.ts";
import { insertions } from "./insertions.ts";
import { names } from "./names.ts";
import { operators } from "./operators.ts";
import { patterns } from "./patterns.ts";
import { statements } from "./statements.ts";
import type { Template } from "./template.ts";

export const allTemplates: readonly Template[] = [
  operators,
  bounds,
  constants,
  conditions,
  names,
  callArguments,
  calls,
  expressions,
  statements,
  insertions,
  copiedGuards,
  patterns,
];
