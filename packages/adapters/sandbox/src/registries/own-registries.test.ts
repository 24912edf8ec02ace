/** The user's own registries: only from their settings, without logins, each for one host and port. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { parseHostRule } from "../proxy/host-rule.ts";
import { ownRegistries } from "./own-registries.ts";
import { openRegistryBench } from "./registry-bench.test.ts";

const at = openRegistryBench();

it("are none without settings", () => {
  assert.deepEqual([at.hosts(), at.files()], [[], {}]);
});

it("come from npm's, pip's, Go's and Cargo's own files", () => {
  at.put(
    join(at.home, ".npmrc"),
    "; ours\nregistry = http://npm.corp.example:4873/\n@corp:registry=https://packages.corp.example/npm/\n//other.corp.example:4873/:_authToken=abc\n",
  );
  at.put(
    join(at.home, ".config/pip/pip.conf"),
    "[global]\nindex-url = https://pypi.corp.example/simple\nextra-index-url =\n    https://one.corp.example/simple\n    https://two.corp.example:8443/simple\ntimeout = 60\n",
  );
  at.put(join(at.home, ".config/go/env"), "GOPROXY=https://go.corp.example,direct\n");
  at.put(
    join(at.home, ".cargo/config.toml"),
    '[build]\njobs = 2\n[source.crates-io]\nreplace-with = "corp"\n[source.corp]\nregistry = "sparse+https://cargo.corp.example/index/"\n[source.git]\nregistry = "https://github.com/x/y"\n[registry]\ntoken = "abc"\n',
  );
  assert.deepEqual(at.hosts(), [
    "npm.corp.example:4873",
    "packages.corp.example:443",
    "pypi.corp.example:443",
    "one.corp.example:443",
    "two.corp.example:8443",
    "go.corp.example:443",
    "cargo.corp.example:443",
  ]);
  const written = at.files();
  assert.deepEqual(Object.keys(written).sort(), [
    ".cargo/config.toml",
    ".config/go/env",
    ".config/pip/pip.conf",
    ".npmrc",
  ]);
  assert.doesNotMatch(JSON.stringify(written), /abc|token|github|jobs|timeout/);
  assert.match(written[".cargo/config.toml"] ?? "", /replace-with = "corp"/);
});

it("come from the user's variables before their files, each listed once", () => {
  at.put(join(at.home, ".npmrc"), "registry=https://one.example/\n");
  const env = {
    NPM_CONFIG_REGISTRY: "https://two.example/",
    PIP_INDEX_URL: "https://two.example/simple",
    GOPROXY: "off",
  };
  assert.deepEqual(at.hosts(env), ["two.example:443"]);
  assert.deepEqual(at.files(env), {
    ".npmrc": "registry=https://two.example/\n",
    ".config/pip/pip.conf": "[global]\nindex-url = https://two.example/simple\n",
  });
});

it("omit a registry that needs a login, and report it without the login", () => {
  const env = {
    PIP_INDEX_URL: "https://me:hidden@pypi.corp.example/simple",
    PIP_EXTRA_INDEX_URL: "https://hidden@one.corp.example/simple https://two.corp.example/simple",
    GOPROXY: "https://me:hidden@go.corp.example,direct",
  };
  at.put(join(at.home, ".npmrc"), "registry=https://me:hidden@npm.corp.example/\n");
  assert.deepEqual(at.hosts(env), ["two.corp.example:443"]);
  assert.deepEqual(at.files(env), {
    ".config/pip/pip.conf": "[global]\nextra-index-url = https://two.corp.example/simple\n",
  });
  assert.match(at.remark(env) ?? "", /npm\.corp\.example of npm wants a login, which commands are not given/);
  assert.doesNotMatch(at.remark(env) ?? "", /hidden|me:|two/);
});

it("respect the logins of pip and Go in .netrc, and not those in macros", () => {
  const netrc =
    "# machine no.corp.example\nmachine PyPI.corp.example\n  login me password hidden\nmacdef all\nmachine one.corp.example\n\ndefault login me password hidden\nmachine go.corp.example login me password hidden\n";
  at.put(join(at.home, ".netrc"), netrc);
  at.put(join(at.home, "other"), "machine one.corp.example login me password hidden");
  const env = {
    PIP_INDEX_URL: "https://pypi.corp.example/simple",
    PIP_EXTRA_INDEX_URL: "https://one.corp.example/simple https://no.corp.example/simple",
    GOPROXY: "https://go.corp.example",
    NPM_CONFIG_REGISTRY: "https://pypi.corp.example/npm/",
  };
  assert.deepEqual(at.hosts(env), ["pypi.corp.example:443", "one.corp.example:443", "no.corp.example:443"]);
  assert.deepEqual(Object.keys(at.files(env)), [".npmrc", ".config/pip/pip.conf"]);
  assert.match(
    at.remark(env) ?? "",
    /pypi\.corp\.example of pip wants a login.*go\.corp\.example of Go wants/,
  );
  assert.doesNotMatch(at.remark(env) ?? "", /hidden|one\./);
  const elsewhere = { ...env, NETRC: join(at.home, "other") };
  assert.match(at.remark(elsewhere) ?? "", /: the registry one\.corp\.example of pip wants a login, [^;]*$/);
});

it("never pass on a key that is part of an address", () => {
  const env = {
    NPM_CONFIG_REGISTRY: "https://npm.corp.example/npm/?token=hidden#hidden",
    PIP_EXTRA_INDEX_URL: "https://one.corp.example/artifactory/api/pypi/pypi-remote-virtual-2/simple",
    GOPROXY: "https://go.corp.example/?hidden",
  };
  assert.deepEqual(at.files(env), {
    ".npmrc": "registry=https://npm.corp.example/npm/\n",
    ".config/pip/pip.conf":
      "[global]\nextra-index-url = https://one.corp.example/artifactory/api/pypi/pypi-remote-virtual-2/simple\n",
    ".config/go/env": "GOPROXY=https://go.corp.example/\n",
  });
  assert.equal(at.remark(env), undefined);
  for (const path of [
    "dl.cloudsmith.io/SECRETTOKEN/corp/repo/python/simple/",
    "pypi.fury.example/Yq8sLk29dfPqXz01/corp/",
    "pypi.fury.example/Yq8s%4Ck29dfPqXz01/corp/",
    "corp.example/3f2504e04f8911d39a0c0305e82c3301/simple",
    "corp.example/aB3_dE5-gH7_jK9-mN1_pQ/simple",
  ]) {
    const named = { PIP_INDEX_URL: `https://${path}`, NPM_CONFIG_REGISTRY: `https://${path}` };
    at.put(join(at.home, ".npmrc"), `@corp:registry=https://${path}\n`);
    assert.deepEqual([at.hosts(named), at.files(named)], [[], {}], path);
    const said = at.remark(named) ?? "";
    assert.match(said, /of pip has what looks like a key/);
    assert.ok(!said.includes(path.split("/")[1] ?? ""), said);
  }
  rmSync(join(at.home, ".npmrc"));
  for (const path of [
    "dl.cloudsmith.io/public/corp/repo/python/simple/",
    "pkgs.dev.azure.com/corp/3f2504e0-4f89-11d3-9a0c-0305e82c3301/_packaging/feed/pypi/simple/",
    "gitlab.example/api/v4/projects/12345678/packages/pypi/simple",
    "artifactory.example/artifactory/api/pypi/virtual-pypi-7d/simple",
  ])
    assert.equal(at.hosts({ PIP_INDEX_URL: `https://${path}` }).length, 1, path);
});

const cargoOf = (text: string, credentials = ""): readonly [readonly string[], string | undefined] => {
  at.put(join(at.home, ".cargo/config.toml"), text);
  at.put(join(at.home, ".cargo/credentials.toml"), credentials);
  return [at.hosts(), at.files()[".cargo/config.toml"]];
};

it("follow the replacements of crates.io to the end, and ignore them if that one is left out", () => {
  const source =
    '[source.crates-io]\nreplace-with = "b"\n[source.b]\nregistry = "sparse+https://cargo.example/i/"\n';
  for (const text of [
    source,
    '[source]\ncrates-io = { replace-with = "b" }\nb = { registry = "sparse+https://cargo.example/i/" }\n',
    'source.crates-io.replace-with = "b"\nsource.b.registry = "sparse+https://cargo.example/i/"\n',
    '[source.crates-io]\nreplace-with = "a"\n[source.a]\nregistry = "https://git.example/i"\nreplace-with = "b"\n[source.b]\nregistry = "sparse+https://cargo.example/i/"\n',
  ])
    assert.deepEqual(cargoOf(text), [["cargo.example:443"], source], text);
  assert.deepEqual(
    cargoOf(
      '[source.crates-io]\nreplace-with = "corp"\n[registries]\ncorp = { index = "sparse+https://cargo.example/i/" }\n',
    )[1],
    '[source.crates-io]\nreplace-with = "corp"\n[registries.corp]\nindex = "sparse+https://cargo.example/i/"\n',
  );
  for (const text of [
    '[source.crates-io]\nreplace-with = "a"\n[source.a]\nregistry = "https://git.example/i"\n',
    '[source.crates-io]\nreplace-with = "a"\n[source.a]\nlocal-registry = "/vendor"\n',
    '[source.crates-io]\nreplace-with = "nowhere"\n',
    '[source.crates-io]\nreplace-with = "a"\n[source.a]\nreplace-with = "crates-io"\n',
    '[source.crates-io]\nreplace-with = "a"\n[source.a]\nregistry = "sparse+http://localhost/"\n',
    '[source.crates-io]\nreplace-with = "a"\n[source.a]\nregistry = "sparse+https://me:hidden@cargo.example/"\n',
    "[source.crates-io\n",
  ])
    assert.deepEqual(cargoOf(text), [[], undefined], text);
});

it("respect Cargo's logins, in either file", () => {
  const source =
    '[source.crates-io]\nreplace-with = "a"\n[source.a]\nregistry = "sparse+https://cargo.example/"\n';
  const beside = '[registries.corp]\nindex = "sparse+https://cargo.example/"\n';
  assert.deepEqual(cargoOf(source + beside)[1], source + beside);
  for (const [config, credentials] of [
    [`${source}${beside}token = "hidden"\n`, ""],
    [source + beside, '[registries.corp]\ntoken = "hidden"\n'],
  ] as const) {
    assert.deepEqual(cargoOf(config, credentials)[1], beside);
    assert.match(at.remark() ?? "", /cargo\.example of Cargo wants a login/);
  }
});

it("prefer pip's settings for installs over those for all, in any order and file", () => {
  const [all, install] = [
    "[global]\nindex-url = https://all.example/\n",
    "[install]\nindex-url = https://own.example/\n",
  ];
  for (const [one, two] of [
    [`${install}${all}`, ""],
    [`${all}${install}`, ""],
    [install, all],
    [all, install],
  ] as const) {
    at.put(join(at.home, ".pip/pip.conf"), one);
    at.put(join(at.home, ".config/pip/pip.conf"), `${two}[download]\nindex-url = https://third.example/\n`);
    assert.deepEqual(at.hosts(), ["own.example:443"], one + two);
  }
});

it("rewrite Go's list, so that an address's spelling can hide nothing", () => {
  for (const GOPROXY of ["https:/me:hidden@go.example", "https:me:hidden@go.example,direct"])
    assert.deepEqual([at.files({ GOPROXY }), at.hosts({ GOPROXY })], [{}, []], GOPROXY);
  const GOPROXY = "https:/one.example|HTTPS://two.example/?hidden#hidden , direct";
  assert.equal(
    at.files({ GOPROXY })[".config/go/env"],
    "GOPROXY=https://one.example/|https://two.example/,direct\n",
  );
});

it("respect npm's logins for the registry, its folder and those above", () => {
  for (const login of [
    "//npm.corp.example/one/:_authToken=hidden",
    "//npm.corp.example/:_auth=hidden",
    "//npm.corp.example/:_password=hidden",
    `//npm.corp.example/:_authToken=$\{NPM_TOKEN}`,
    "_auth=hidden",
  ]) {
    at.put(join(at.home, ".npmrc"), `registry=https://npm.corp.example/one\n${login}\n`);
    assert.deepEqual([at.hosts(), at.files()], [[], {}], login);
    assert.match(at.remark() ?? "", /wants a login/);
  }
  for (const login of ["//npm.corp.example/two/:_authToken=x", "//npm.corp.example:8443/:_authToken=x"]) {
    at.put(join(at.home, ".npmrc"), `registry=https://npm.corp.example/one\n${login}\n`);
    assert.deepEqual([at.hosts(), at.remark()], [["npm.corp.example:443"], undefined], login);
  }
});

it("respect npm's logins in variables, too", () => {
  const env = { NPM_CONFIG_REGISTRY: "https://npm.corp.example/one/" };
  assert.deepEqual(at.hosts({ ...env, "npm_config_//npm.corp.example/other/:_authToken": "hidden" }), [
    "npm.corp.example:443",
  ]);
  const withLogin = { ...env, "NPM_CONFIG_//npm.corp.example/:_authToken": "hidden" };
  assert.deepEqual([at.hosts(withLogin), at.files(withLogin)], [[], {}]);
  assert.match(at.remark(withLogin) ?? "", /of npm wants a login/);
});

it("keep a scope's registry that needs a login, and the public one with a login for publishing", () => {
  at.put(
    join(at.home, ".npmrc"),
    "@corp:registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=hidden\nregistry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=hidden\n",
  );
  assert.deepEqual(at.hosts(), ["npm.corp.example:443", "registry.npmjs.org:443"]);
  assert.doesNotMatch(at.files()[".npmrc"] ?? "", /hidden|npmjs\.org\/:/);
  assert.match(at.files()[".npmrc"] ?? "", /^@corp:registry=https:\/\/npm\.corp\.example\/$/m);
  assert.match(at.remark() ?? "", /npm\.corp\.example of npm wants a login/);
  assert.doesNotMatch(at.remark() ?? "", /npmjs/);
});

it("mean all hosts of a named public registry, which a mirror answers for", () => {
  const env = {
    PIP_INDEX_URL: "https://pypi.org/simple",
    NPM_CONFIG_REGISTRY: "https://registry.npmjs.org/",
  };
  assert.deepEqual(at.hosts(env), ["registry.npmjs.org:443", "pypi.org:443", "files.pythonhosted.org:443"]);
});

it("never include a cloud's credentials address or a link-local one", () => {
  for (const address of [
    "169.254.169.254",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "0.0.0.0",
    "2852039166",
    "0xA9FEA9FE",
  ])
    assert.deepEqual(at.hosts({ NPM_CONFIG_REGISTRY: `http://${address}/` }), [], address);
  assert.deepEqual(at.hosts({ NPM_CONFIG_REGISTRY: "http://10.1.2.3:8081/x/" }), ["10.1.2.3:8081"]);
});

it("omit addresses of the sandbox's own loopback, and report it", () => {
  for (const host of ["127.0.0.1:4873", "localhost:4873", "[::1]:4873", `${hostname().toLowerCase()}:4873`]) {
    const env = {
      NPM_CONFIG_REGISTRY: `http://${host}/`,
      PIP_INDEX_URL: `http://${host}/simple`,
      GOPROXY: `http://${host},direct`,
    };
    at.put(
      join(at.home, ".cargo/config.toml"),
      `[source.crates-io]\nreplace-with = "a"\n[source.a]\nregistry = "sparse+http://${host}/"\n`,
    );
    assert.deepEqual([at.hosts(env), at.files(env)], [[], {}]);
    assert.equal(at.remark(env)?.split(`the registry ${host} of`).length, 5);
    const open = ownRegistries({ cwd: at.cwd, env: { HOME: at.home, ...env }, reachesMachine: true });
    assert.deepEqual([open.registries.length, Object.keys(open.files).length, open.left], [4, 4, []]);
  }
  assert.deepEqual(at.hosts({ NPM_CONFIG_REGISTRY: "http://127.0.0.2/" }), ["127.0.0.2:80"]);
  assert.deepEqual(at.hosts({ GOPROXY: "http://127.0.0.2" }), [], "Go asks no proxy for it");
  rmSync(join(at.home, ".cargo"), { recursive: true });
  assert.equal(at.remark(), undefined);
});

it("never let a scope's packages come from elsewhere", () => {
  at.put(join(at.home, ".npmrc"), "@corp:registry=http://localhost:4873/\nregistry=https://one.example/\n");
  assert.deepEqual(at.hosts(), ["one.example:443"]);
  assert.equal(
    at.files()[".npmrc"],
    "@corp:registry=http://localhost:4873/\nregistry=https://one.example/\n",
  );
  assert.match(at.remark() ?? "", /localhost:4873/);
});

it("give rules for one host and port each, whatever the files contain", () => {
  const word = fc.oneof(
    fc.constantFrom(
      "registry",
      "=",
      "\n",
      "[global]",
      "index-url",
      "https://",
      "a.example",
      ":80",
      "*.",
      "@",
      " ",
      "$",
      '"',
      "\0",
      "[source.x]",
      "sparse+",
      "//",
    ),
    fc.string({ maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 30 }), (words) => {
      const text = words.join("");
      for (const path of [".npmrc", ".config/pip/pip.conf", ".config/go/env", ".cargo/config.toml"])
        at.put(join(at.home, path), text);
      for (const rule of at.hosts().map(parseHostRule))
        assert.ok("host" in rule && rule.kind !== "suffix" && rule.port !== undefined);
    }),
  );
});
