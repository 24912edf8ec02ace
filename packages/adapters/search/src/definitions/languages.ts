/** Which language a file is in by its name, and what kind of file it is: code, test, documentation or data. */

export const codeLanguages = [
  "none",
  "script",
  "python",
  "go",
  "rust",
  "java",
  "kotlin",
  "c",
  "ruby",
  "php",
  "shell",
  "lua",
  "markdown",
  "text",
  "data",
] as const;

export type CodeLanguage = (typeof codeLanguages)[number];

const byExtension: ReadonlyMap<string, CodeLanguage> = new Map(
  Object.entries({
    script: "js jsx mjs cjs ts tsx mts cts vue svelte astro",
    python: "py pyi pyx",
    go: "go",
    rust: "rs",
    java: "java cs groovy dart",
    kotlin: "kt kts swift scala",
    c: "c h cc cpp cxx hh hpp hxx m mm cu inc",
    ruby: "rb rake gemspec ex exs",
    php: "php",
    shell: "sh bash zsh fish tcl",
    lua: "lua",
    markdown: "md mdx markdown",
    text: "rst txt adoc org html css scss less sql graphql proto tf hcl tex 1 3 y l pl pm r jl hs ml erl clj zig nix cmake",
    data: "json jsonc yaml yml toml ini cfg conf xml properties gradle mk lock csv tsv",
  }).flatMap(([language, extensions]) =>
    extensions.split(" ").map((extension) => [extension, language as CodeLanguage] as const),
  ),
);

const withoutWords =
  /(?:^|\/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|go\.sum|poetry\.lock|uv\.lock|Gemfile\.lock|composer\.lock)$|\.min\.(?:js|css)$|\.(?:map|svg|png|jpe?g|gif|ico|pdf|zip|gz|woff2?|ttf|snap|wasm|lock)$/i;

/** `none` for what only its name is known of. */
export function languageOf(path: string): CodeLanguage {
  if (withoutWords.test(path)) return "none";
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return byExtension.get(dot < 0 ? "" : name.slice(dot + 1).toLowerCase()) ?? "text";
}

export type FileKind = "code" | "test" | "doc" | "data";

const testPath =
  /(?:^|\/)(?:tests?|__tests__|spec|specs|testing|testdata|fixtures|__fixtures__|e2e|jvmTest|commonTest|benches|bench|benchmarks?)(?:\/|$)|(?:^|\/)(?:test_[^/]*|conftest)\.py$|[._-](?:test|tests|spec|bench|test-d|tst)\.[^/]+$|_test\.[^/]+$|Tests?\.(?:java|kt|cs|swift|scala)$|(?:^|\/)(?:test|tests)\.[^/]+$|(?:^|\/)[\w-]+-(?:tests?|testing)\//;
const docPath =
  /(?:^|\/)(?:docs?|documentation|examples?|samples?|website|changelogs?|changelog\.d|news|releasenotes|i18n)\/|(?:^|\/)(?:changelog|changes|history|news|readme|authors|contributing|license|release[_-]?notes)[^/]*$/i;

export function kindOf(path: string, language: CodeLanguage): FileKind {
  if (testPath.test(path)) return "test";
  if (docPath.test(path) || language === "markdown" || /\.(?:rst|txt|adoc|html)$/.test(path)) return "doc";
  return language === "data" || language === "none" || /(?:^|\/)\.[^/]+\//.test(path) ? "data" : "code";
}
