/** The supported checkers, one line each. */
import type { Checker } from "./checker.ts";
import { biome } from "./checkers/biome.ts";
import { cargoCheck } from "./checkers/cargo-check.ts";
import { eslint } from "./checkers/eslint.ts";
import { goVet } from "./checkers/go-vet.ts";
import { mypy } from "./checkers/mypy.ts";
import { pyright } from "./checkers/pyright.ts";
import { ruff } from "./checkers/ruff.ts";
import { tsc } from "./checkers/tsc.ts";

export const checkers: readonly Checker[] = [tsc, eslint, biome, ruff, pyright, mypy, goVet, cargoCheck];
