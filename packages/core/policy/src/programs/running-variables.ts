/** Environment variables that make a program run or load something else: data, with sources. */

/**
 * The meaning of the value. `command`: a command line. `prompt`: text in which a shell makes substitutions.
 * `script`: a file that a shell reads first. `code`: a file in the language of `program`. `options`: options
 * of `program`. `modules`: folders in which `program` looks for modules. `programs`: folders with programs.
 * `setting`: the name of a git setting. `function`: the body of a shell function. `opaque`: a library, a
 * plugin or settings that are not read.
 */
export type Meaning =
  | "command"
  | "prompt"
  | "script"
  | "code"
  | "options"
  | "modules"
  | "programs"
  | "setting"
  | "function"
  | "opaque";

export interface RunningVariable {
  readonly names: RegExp;
  readonly means: Meaning;
  readonly program?: string;
  /** Only values that match run something. */
  readonly only?: RegExp;
  /** The manual that documents it. */
  readonly source: string;
}

const java = /(?:^|\s)(?:-javaagent|-agent(?:lib|path)|-Xbootclasspath|-XX:On\w+Error|--patch-module|@)/u;
const compiler = /(?:^|\s)(?:-fplugin|-wrapper|-B|-fuse-ld=\S*\/|-specs?=|-Xclang|-load|--ld-path)/u;

/** The first match counts. */
const runningVariables: readonly RunningVariable[] = [
  { names: /^BASH_ENV$/u, means: "script", source: "bash(1), BASH_ENV" },
  { names: /^ENV$/u, means: "script", program: "sh", source: "POSIX sh, ENV: only interactive shells" },
  { names: /^PROMPT_COMMAND$/u, means: "command", source: "bash(1), PROMPT_COMMAND" },
  { names: /^(?:PS[0-4]|PROMPT|RPROMPT)$/u, means: "prompt", source: "bash(1), PROMPTING; PS4 with -x" },
  { names: /^BASH_FUNC_[^=]*$/u, means: "function", source: "bash(1), exported functions" },
  { names: /^ZDOTDIR$/u, means: "opaque", source: "zsh(1), STARTUP/SHUTDOWN FILES" },
  {
    names: /^(?:LD_(?:PRELOAD|AUDIT|LIBRARY_PATH)|DYLD_\w+|GCONV_PATH|LOCPATH)$/u,
    means: "opaque",
    source: "ld.so(8), dyld(1), iconv_open(3)",
  },
  { names: /^NODE_OPTIONS$/u, means: "options", program: "node", source: "Node.js CLI, NODE_OPTIONS" },
  {
    names: /^NODE_REPL_EXTERNAL_MODULE$/u,
    means: "code",
    program: "node",
    source: "Node.js CLI, NODE_REPL_EXTERNAL_MODULE",
  },
  { names: /^NODE_PATH$/u, means: "modules", program: "node", source: "Node.js modules, global folders" },
  { names: /^PYTHONSTARTUP$/u, means: "code", program: "python", source: "Python, PYTHONSTARTUP" },
  { names: /^PYTHONPATH$/u, means: "modules", program: "python", source: "Python, PYTHONPATH; site" },
  {
    names: /^(?:PYTHONHOME|PYTHONBREAKPOINT|PYTHONUSERBASE|PYTHONPYCACHEPREFIX|PYTHONEXECUTABLE)$/u,
    means: "opaque",
    only: /[^0]/u,
    source: "Python command line, environment variables",
  },
  {
    names: /^PYTHONWARNINGS$/u,
    means: "opaque",
    only: /:[^:]*:\w+\.[\w.]+/u,
    source: "Python, PYTHONWARNINGS: the category is imported",
  },
  { names: /^PERL5OPT$/u, means: "options", program: "perl", source: "perlrun, PERL5OPT" },
  { names: /^PERL5?LIB$/u, means: "modules", program: "perl", source: "perlrun, PERL5LIB" },
  { names: /^PERL5DB$/u, means: "opaque", source: "perlrun, PERL5DB" },
  { names: /^RUBYOPT$/u, means: "options", program: "ruby", source: "ruby(1), RUBYOPT" },
  { names: /^RUBYLIB$/u, means: "modules", program: "ruby", source: "ruby(1), RUBYLIB" },
  {
    names:
      /^(?:BUNDLE_GEMFILE|PHPRC|PHP_INI_SCAN_DIR|LUA_INIT\w*|LUA_C?PATH\w*|R_PROFILE\w*|R_ENVIRON\w*|JULIA_LOAD_PATH)$/u,
    means: "opaque",
    source: "bundle-config(1), php(1), lua(1), R Startup, Julia environment variables",
  },
  {
    names: /^(?:_?JAVA_(?:TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|(?:JAVA|MAVEN|GRADLE|SBT|ANT|LEIN_JVM)_OPTS)$/u,
    means: "opaque",
    only: java,
    source: "JVM tool interface, JAVA_TOOL_OPTIONS; java(1), JDK_JAVA_OPTIONS",
  },
  { names: /^(?:GNU)?MAKEFLAGS$/u, means: "options", program: "make", source: "GNU make, MAKEFLAGS" },
  { names: /^MAKEFILES$/u, means: "code", program: "make", source: "GNU make, MAKEFILES" },
  { names: /^GIT_CONFIG_KEY_\d+$/u, means: "setting", source: "git-config(1), GIT_CONFIG_COUNT" },
  {
    names: /^GIT_CONFIG_VALUE_\d+$/u,
    means: "opaque",
    only: /^!|[\s;|&$`/]/u,
    source: "git-config(1), GIT_CONFIG_COUNT",
  },
  {
    names: /^GIT_(?:CONFIG(?:_GLOBAL|_SYSTEM|_PARAMETERS)?|EXEC_PATH|TEMPLATE_DIR)$/u,
    means: "opaque",
    only: /^(?!\/dev\/null$)./su,
    source: "git(1), git-config(1), git-init(1)",
  },
  { names: /^TAR_OPTIONS$/u, means: "options", program: "tar", source: "GNU tar, TAR_OPTIONS" },
  { names: /^RIPGREP_CONFIG_PATH$/u, means: "opaque", source: "rg(1), CONFIGURATION FILES" },
  {
    names: /^(?:GOFLAGS|FZF_DEFAULT_OPTS)$/u,
    means: "opaque",
    only: /exec|vettool|preview|execute|become|-ldflags|overlay/u,
    source: "go help environment; fzf(1)",
  },
  {
    names: /^(?:CGO_)?(?:C|CXX|CPP|LD)FLAGS(?:_\w+)?$/u,
    means: "opaque",
    only: compiler,
    source: "gcc(1), -fplugin, -wrapper and -B",
  },
  {
    names: /^(?:RUSTFLAGS|RUSTDOCFLAGS|CARGO_ENCODED_RUSTFLAGS|CARGO_BUILD_RUSTFLAGS)$/u,
    means: "opaque",
    only: /linker|link-arg|codegen-backend|plugin/u,
    source: "rustc, -C linker",
  },
  {
    names: /^(?:RUSTC|RUSTDOC|CARGO_(?:BUILD_RUST\w+|TARGET_\w+_(?:RUNNER|LINKER)))$/u,
    means: "command",
    source: "The Cargo Book, environment variables",
  },
  {
    names: /^npm_config_(?:script_shell|shell|editor|git|browser|viewer)$/iu,
    means: "command",
    source: "npm, config: script-shell, editor, git",
  },
  {
    names: /^npm_config_node_options$/iu,
    means: "options",
    program: "node",
    source: "npm, config: node-options",
  },
  {
    names: /^npm_config_(?:user|global)config$|^(?:NPM_CONFIG_)?(?:USERCONFIG|GLOBALCONFIG)$/iu,
    means: "opaque",
    source: "npm, npmrc",
  },
  { names: /^ANSIBLE_(?:CONFIG|\w*PLUGINS|LIBRARY)$/u, means: "opaque", source: "Ansible, configuration" },
  {
    names: /^PYTEST_(?:PLUGINS|ADDOPTS)$/u,
    means: "opaque",
    only: /-p|-c\b|PLUGIN|^[\w.,]+$/u,
    source: "pytest, PYTEST_PLUGINS",
  },
  {
    names: /^(?:VIMINIT|EXINIT|NVIM_APPNAME|VIMRUNTIME|MYVIMRC)$/u,
    means: "opaque",
    source: "Vim, initialization",
  },
  { names: /^PATH$/u, means: "programs", source: "POSIX, PATH" },
  {
    names:
      /(?:EDITOR|PAGER|VISUAL|COMMAND|CMD|BROWSER|ASKPASS|_SSH|_RSH|SHELL|_DIFF|WRAPPER|RUNNER|LAUNCHER|CONNECT_PROG)$|^(?:LESSOPEN|LESSCLOSE|CC|CXX|CPP|LD|AR|AS|FC|MAKE|HOSTCC)$/u,
    means: "command",
    source: "environ(7), git(1), less(1), GNU make implicit variables",
  },
];

export function runningVariable(name: string): RunningVariable | undefined {
  return runningVariables.find(({ names }) => names.test(name));
}
