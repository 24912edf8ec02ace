/** Concrete syntax trees for JavaScript, TypeScript and Python. */

export { createSyntax } from "./src/create-syntax.ts";
