/** Derives a file's language from its path, and writes a comment in that language. */

const byExtension: Readonly<Record<string, string>> = {
  ts: "typescript",
  mts: "typescript",
  tsx: "typescript",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  py: "python",
  pyi: "python",
  go: "go",
  rs: "rust",
  java: "java",
  md: "markdown",
  rst: "text",
  txt: "text",
  json: "json",
  toml: "toml",
  yml: "yaml",
  yaml: "yaml",
  sh: "shell",
  css: "css",
  html: "html",
  mod: "go-mod",
};

const slashes = ["typescript", "javascript", "go", "rust", "java"];
const hashes = ["python", "shell", "toml", "yaml", "makefile"];

/** Undefined for unknown source text. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (/^makefile$/i.test(name)) return "makefile";
  return byExtension[name.slice(name.lastIndexOf(".") + 1).toLowerCase()];
}

/** Undefined if the language has no single-line comments. */
export function commentLine(language: string, text: string): string | undefined {
  if (slashes.includes(language)) return `// ${text}`;
  if (hashes.includes(language)) return `# ${text}`;
  if (language === "css") return `/* ${text} */`;
  if (language === "html") return `<!-- ${text} -->`;
  return language === "markdown" || language === "text" ? text : undefined;
}

export function isProse(language: string): boolean {
  return language === "markdown" || language === "text" || language === "html";
}

/** Indentation is syntax in these languages. */
export function isIndented(language: string): boolean {
  return ["python", "yaml", "makefile", "markdown", "text"].includes(language);
}
