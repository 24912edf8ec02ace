/** Spellings of hosts, the rules that allow them, and the kinds of addresses. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { addressKind } from "./address-kind.ts";
import { canonicalHost, endpointText, isProblem, parseEndpoint } from "./canonical-host.ts";
import { type HostRule, matchingRule, parseHostRule, proposedRule } from "./host-rule.ts";
import { registryHosts, registryKinds } from "./registry-hosts.ts";

function rules(...texts: readonly string[]): readonly HostRule[] {
  return texts.map((text) => {
    const rule = parseHostRule(text);
    if (isFailure(rule)) throw new Error(rule.text);
    return rule;
  });
}

function allowedBy(texts: readonly string[], address: string): string | undefined {
  const target = parseEndpoint(address);
  return isProblem(target) ? undefined : matchingRule(rules(...texts), target)?.text;
}

describe("canonical host", () => {
  const same: readonly (readonly [string, string])[] = [
    ["Example.COM", "example.com"],
    ["example.com.", "example.com"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["BÜCHER.example.", "xn--bcher-kva.example"],
    ["evil。com", "evil.com"],
    ["ｅｖｉｌ.com", "evil.com"],
    ["_dmarc.example.com", "_dmarc.example.com"],
    ["localhost", "localhost"],
    ["192.0.2.7", "192.0.2.7"],
    ["[2001:DB8:0::1]", "2001:db8::1"],
    ["::1", "::1"],
  ];
  for (const [spelling, name] of same) {
    it(`reads ${spelling} as ${name}`, () => {
      const host = canonicalHost(spelling);
      assert.ok(!isProblem(host), JSON.stringify(host));
      assert.equal(host.name, name);
    });
  }

  const refused = [
    "",
    ".",
    "a..b",
    ".a.com",
    "a.com..",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "127.1",
    "127.0.0.01",
    "127.0.0.1.",
    "１２７.0.0.1",
    "1.2.3",
    "1.2.3.256",
    "example.1",
    "::ffff:127.0.0.1",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "fe80::1%eth0",
    "[::1",
    "evil.com\0.example.com",
    "evil.com\r\nHost: x",
    "evil.com\t",
    "evil com",
    "exa%6dple.com",
    "evil.com％00.example.com",
    "user@example.com",
    "evil.com/x",
    "evil.com#.example.com",
    "evil.com\\.example.com",
    "evil.com?.example.com",
    "-a.com",
    `${"a".repeat(64)}.com`,
    `${"a.".repeat(130)}com`,
    "a".repeat(5_000),
    "exam*ple.com",
    "*",
  ];
  for (const spelling of refused) {
    it(`refuses ${JSON.stringify(spelling.slice(0, 40))}`, () => {
      assert.ok(isProblem(canonicalHost(spelling)));
    });
  }

  it("is its own canonical form, and always a name that a rule can express", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.domain(), fc.ipV4Extended(), fc.ipV6()),
        (spelling) => {
          const host = canonicalHost(spelling);
          if (isProblem(host)) return;
          assert.match(host.name, /^[a-z0-9_.:-]+$/);
          assert.deepEqual(canonicalHost(host.name), host);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("parses host and port in only one way", () => {
    for (const bad of [
      "a.com:0",
      "a.com:65536",
      "a.com:080",
      "a.com:80:80",
      "a.com:",
      "[::1]80",
      "a.com:8 0",
      "ä.com:80",
    ]) {
      assert.ok(isProblem(parseEndpoint(bad)), bad);
    }
    const target = parseEndpoint("[::1]:8080");
    assert.equal(isProblem(target) ? "" : endpointText(target), "[::1]:8080");
  });
});

describe("host rules", () => {
  it("allow a name's web ports, or the port they name", () => {
    assert.equal(allowedBy(["example.com"], "EXAMPLE.com.:443"), "example.com");
    assert.equal(allowedBy(["example.com"], "example.com:80"), "example.com");
    assert.equal(allowedBy(["example.com"], "example.com:22"), undefined);
    assert.equal(allowedBy(["example.com:22"], "example.com:22"), "example.com:22");
    assert.equal(allowedBy(["example.com:22"], "example.com:443"), undefined);
    assert.equal(allowedBy(["example.com", "example.com:443"], "example.com:443"), "example.com:443");
  });

  it("with a star allow subdomains, by whole labels, and no address", () => {
    assert.equal(allowedBy(["*.example.com"], "a.b.example.com:443"), "*.example.com");
    for (const other of ["example.com", "badexample.com", "example.com.evil.com", "example.org", "com"]) {
      assert.equal(allowedBy(["*.example.com"], `${other}:443`), undefined, other);
    }
    assert.equal(allowedBy(["*.example.com:8443"], "a.example.com:8443"), "*.example.com:8443");
  });

  it("name addresses exactly", () => {
    assert.equal(allowedBy(["127.0.0.1:3000"], "127.0.0.1:3000"), "127.0.0.1:3000");
    assert.equal(allowedBy(["[2001:DB8::1]:99"], "[2001:db8:0::1]:99"), "[2001:DB8::1]:99");
  });

  it("are refused if they are invalid, or cover strangers' hosts", () => {
    for (const text of [
      "",
      "*",
      "*.",
      "*.com",
      "*.co.uk",
      "*.github.io",
      "*.1.2.3.4",
      "a.*.com",
      "*a.com",
      "http://a.com",
      "a.com/",
      "a.com:0",
      "a.com:99999",
      "0x7f.1",
      "::1",
    ]) {
      const rule = parseHostRule(text);
      assert.ok(isFailure(rule) && rule.code === "config-invalid", text);
    }
  });

  it("are proposed as narrow as possible", () => {
    const proposed = (text: string): string => {
      const target = parseEndpoint(text);
      return isProblem(target) ? "" : proposedRule(target);
    };
    assert.equal(proposed("Example.com:443"), "example.com");
    assert.equal(proposed("example.com:8080"), "example.com:8080");
    assert.equal(proposed("[::1]:8080"), "[::1]:8080");
  });

  it("for the registries are all valid, and only for the web's ports", () => {
    for (const text of registryHosts(registryKinds)) {
      const [rule] = rules(text);
      assert.equal(rule?.kind, "name");
      assert.equal(rule?.port, undefined);
    }
    assert.deepEqual(registryHosts(["npm", "npm"]), ["registry.npmjs.org"]);
    assert.deepEqual(registryHosts([]), []);
  });
});

describe("address kind", () => {
  const kinds: Readonly<Record<string, readonly string[]>> = {
    public: ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"],
    loopback: ["127.0.0.1", "127.255.255.254", "::1"],
    private: [
      "10.0.0.1",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "100.64.0.1",
      "198.18.0.1",
      "192.0.2.1",
      "198.51.100.1",
      "203.0.113.1",
      "fd00::1",
      "fec0::1",
    ],
    "link-local": ["169.254.1.1", "fe80::1"],
    metadata: ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"],
    multicast: ["224.0.0.1", "239.255.255.250", "ff02::1"],
    unspecified: ["0.0.0.0", "0.1.2.3", "::"],
    reserved: [
      "192.0.0.1",
      "240.0.0.1",
      "255.255.255.255",
      "192.88.99.1",
      "::ffff:8.8.8.8",
      "::ffff:127.0.0.1",
      "0:0:0:0:0:ffff:0808:0808",
      "::8.8.8.8",
      "64:ff9b::8.8.8.8",
      "64:ff9b:1::1",
      "2002:7f00:1::",
      "2001::1",
      "2001:db8::1",
      "3fff::1",
      "100::1",
      "4000::1",
      "fe80::1%eth0",
      "no address",
    ],
  };
  for (const [kind, addresses] of Object.entries(kinds)) {
    it(`recognizes ${kind}`, () => {
      for (const address of addresses) assert.equal(addressKind(address), kind, address);
    });
  }
});
