/** Concrete syntax trees of the languages that have a grammar. */

export { createSyntax } from "./src/create-syntax.ts";
