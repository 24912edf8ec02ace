/** Tool files: what shells, containers, debuggers and language tools obey in their working folder. */
import type { RunLaterEntry } from "./run-later-entry.ts";

export const toolFiles: readonly RunLaterEntry[] = [
  {
    paths: [".envrc"],
    reader: "direnv",
    why: "it is run when a shell enters the folder",
    source: "https://direnv.net/man/direnv.1.html",
  },
  {
    paths: [".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh"],
    reader: "autoenv",
    why: "it is run when a shell enters or leaves the folder",
    source: "https://github.com/Tarrasch/zsh-autoenv#readme",
  },
  {
    paths: [
      "mise.toml",
      ".mise.toml",
      "mise.*.toml",
      ".mise.*.toml",
      ".mise/",
      "mise/config.toml",
      ".config/mise.toml",
      ".config/mise.*.toml",
      ".config/mise/",
      ".rtx.toml",
    ],
    reader: "mise",
    why: "hooks and environment are applied when a shell enters the folder",
    source: "https://mise.jdx.dev/configuration.html",
  },
  {
    paths: [".devcontainer/", ".devcontainer.json"],
    reader: "development containers",
    why: "initializeCommand is run on the host",
    source: "https://containers.dev/implementors/json_reference/",
  },
  {
    paths: [".gdbinit"],
    reader: "GDB",
    why: "it is run when GDB starts in the folder",
    source: "https://sourceware.org/gdb/current/onlinedocs/gdb.html/Init-File-in-the-Current-Directory.html",
  },
  {
    paths: [".lldbinit"],
    reader: "LLDB",
    why: "it is run when LLDB starts in the folder",
    source: "https://lldb.llvm.org/man/lldb.html",
  },
  {
    paths: [".pdbrc"],
    reader: "Python's debugger",
    why: "it is run when the debugger starts in the folder",
    source: "https://docs.python.org/3/library/pdb.html",
  },
  {
    paths: [".perldb"],
    reader: "Perl's debugger",
    why: "it is run when the debugger starts in the folder",
    source: "https://perldoc.perl.org/perldebug",
  },
  {
    paths: [".irbrc", "_irbrc"],
    reader: "irb",
    why: "it is run when irb starts in the folder",
    source: "https://docs.ruby-lang.org/en/master/IRB.html",
  },
  {
    paths: [".pryrc"],
    reader: "Pry",
    why: "it is run when Pry starts in the folder",
    source: "https://github.com/pry/pry/wiki/Pry-rc",
  },
  {
    paths: [".iex.exs"],
    reader: "Elixir's shell",
    why: "it is run when iex starts in the folder",
    source: "https://hexdocs.pm/iex/IEx.html#module-the-iex-exs-file",
  },
  {
    paths: [".ghci"],
    reader: "GHCi",
    why: "it is run when GHCi starts in the folder",
    source:
      "https://downloads.haskell.org/ghc/latest/docs/users_guide/ghci.html#the-ghci-and-haskeline-files",
  },
  {
    paths: [".ocamlinit"],
    reader: "OCaml's toplevel",
    why: "it is run when the toplevel starts in the folder",
    source: "https://ocaml.org/manual/toplevel.html",
  },
  {
    paths: [".rprofile", ".renviron"],
    reader: "R",
    why: "they are run or applied when R starts in the folder",
    source: "https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html",
  },
  {
    paths: [".octaverc"],
    reader: "Octave",
    why: "it is run when Octave starts in the folder",
    source: "https://docs.octave.org/latest/Startup-Files.html",
  },
  {
    paths: [".cargo/config.toml", ".cargo/config"],
    reader: "Cargo",
    why: "it names compilers, wrappers, linkers and credential programs for every call of cargo",
    source: "https://doc.rust-lang.org/cargo/reference/config.html",
  },
  {
    paths: ["rust-toolchain.toml", "rust-toolchain"],
    reader: "rustup",
    why: "it can name a folder whose cargo and rustc are run",
    source: "https://rust-lang.github.io/rustup/overrides.html",
  },
  {
    paths: [".yarnrc.yml", ".yarnrc", ".yarn/releases/", ".yarn/plugins/"],
    reader: "Yarn",
    why: "every call of yarn runs the release and the plugins that are named",
    source: "https://yarnpkg.com/configuration/yarnrc#yarnPath",
    isRewritten: true,
  },
  {
    paths: [".npmrc"],
    reader: "npm and pnpm",
    why: "it names the programs that npm runs as shell, editor and git",
    source: "https://docs.npmjs.com/cli/configuring-npm/npmrc",
    isRewritten: true,
  },
];
