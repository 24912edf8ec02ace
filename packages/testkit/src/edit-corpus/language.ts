/** What a path says about a file's language, and how that language writes a comment. */

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

/** Undefined for what is no source text known here. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (/^makefile$/i.test(name)) return "makefile";
  return byExtension[name.slice(name.lastIndexOf(".") + 1).toLowerCase()];
}

/** Undefined where the language has no comment of one line. */
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

/** Indentation is syntax there. */
export function isIndented(language: string): boolean {
  return ["python", "yaml", "makefile", "markdown", "text"].includes(language);
}
