/** Rules for keys that are recognized by their own shape, as documented by the issuers. */
import { isRealKey, isRealPassword, type SecretRule } from "./secret-rule.ts";

const random36 = "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5";
const hex32 = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

const begin = "-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----";
const end = "-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----";
/** A line of a key with the prefix of a numbered listing or an escaped string. */
const keyLine = "(?:[^A-Za-z+/=]{0,24}(?:\\\\[nrt]){0,4}[^A-Za-z+/=]{0,8}[A-Za-z0-9+/]{40,4096}={0,2})";

export const secretRules: readonly SecretRule[] = [
  {
    kind: "private-key",
    anchor: "-----BEGIN ",
    // Up to its end marker, or as far as it goes in truncated output.
    shape: new RegExp(`${begin}(?:(?:(?!-----BEGIN)[\\s\\S]){40,20000}?${end}|${keyLine}{1,400})`, "y"),
    check: (text) => /[A-Za-z0-9+/]{40}/.test(text) && !/(.)\1{39}/.test(text),
    inWord: true,
    examples: {
      secret: [
        `-----BEGIN ~RSA PRIVATE KEY-----\n${random36}${random36}\n${random36}\n-----END RSA PRIVATE KEY-----`,
        `-----BEGIN ~PRIVATE KEY-----\n  2\t${random36}${random36}\n  3\t${random36}${random36}`,
      ],
      harmless: [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        `-----BEGIN CERTIFICATE-----\n${random36}${random36}\n-----END CERTIFICATE-----`,
      ],
    },
  },
  {
    kind: "aws-access-key-id",
    anchor: "A(?:KIA|SIA|BIA|CCA)",
    shape: /A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![\w/+=])/y,
    check: isRealKey,
    examples: {
      secret: ["AKIA~Q4J7XVYK2MZN3RPT"],
      harmless: ["AKIAIOSFODNN7EXAMPLE", "AKIA", "AKIA~Q4J7XVYK2MZN3RPTA", "xAKIA~Q4J7XVYK2MZN3RPT"],
    },
  },
  {
    kind: "github-token",
    anchor: "gh[pousr]_|github_pat_",
    shape: /(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{50,255})(?!\w)/y,
    check: isRealKey,
    examples: {
      secret: [`ghp_~${random36}`, `gho_~${random36}`, `github_pat_~11${random36}_${random36}`],
      harmless: ["ghp_short", `ghp_${"x".repeat(36)}`, "high_p", `ghx_~${random36}`],
    },
  },
  {
    kind: "gitlab-token",
    anchor: "gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-",
    shape: /gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\w-]{20,128}(?:\.[\w.]{2,32})?/y,
    check: isRealKey,
    examples: {
      secret: ["glpat-~aB3dE5gH7jK9mN1pQ3rS"],
      harmless: ["glpat-", "glft-library-of-many-words-here"],
    },
  },
  {
    kind: "slack-token",
    anchor: "xox[abeoprsc]-|xapp-",
    shape: /(?:xox[abeoprsc]-|xapp-\d-)[A-Za-z0-9-]{20,256}/y,
    check: isRealKey,
    examples: {
      secret: [
        "xoxb-~204861357924-9182736450817-aB3dE5gH7jK9mN1pQ3rS5tU7",
        "xapp-~1-A0B1C2D3E4F-918273645-0f1e2d3c4b",
      ],
      harmless: ["xoxb-your-token", "xox-b"],
    },
  },
  {
    kind: "slack-webhook",
    anchor: "hooks\\.slack\\.com/",
    shape: /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[A-Za-z0-9/]{30,128})/y,
    examples: {
      secret: ["https://hooks.slack.com/services/~T0A1B2C3D/B0A1B2C3D/aB3dE5gH7jK9mN1pQ3rS5tU7"],
      harmless: ["https://hooks.slack.com/services/"],
    },
  },
  {
    kind: "stripe-key",
    anchor: "[rs]k_(?:live|test)_|whsec_",
    shape: /(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,247}|whsec_[A-Za-z0-9+/=]{24,128})/y,
    check: isRealKey,
    examples: {
      secret: ["sk_live_~aB3dE5gH7jK9mN1pQ3rS5tU7", "whsec_~aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA"],
      harmless: ["sk_test_", "pk_live_~aB3dE5gH7jK9mN1pQ3rS5tU7", "risk_live_~aB3dE5gH7jK9mN1pQ3rS5tU7"],
    },
  },
  {
    kind: "anthropic-key",
    anchor: "sk-ant-",
    shape: /sk-ant-[\w-]{20,200}/y,
    check: isRealKey,
    examples: {
      secret: [`sk-ant-~api03-${random36}`],
      harmless: ["sk-ant-your-key-goes-here-now", "sk-ant-"],
    },
  },
  {
    kind: "openai-key",
    anchor: "sk-",
    shape: /sk-(?!ant-)(?:[a-z]+-(?:v\d-)?)?[\w-]{20,200}/y,
    check: (text) =>
      isRealKey(text) &&
      !/^sk-(?:[a-z]+-)*[a-z]*\d{0,4}$/.test(text) &&
      !/^sk-[a-z0-9]+(?:-[a-z0-9]{1,12})+$/.test(text),
    examples: {
      secret: [`sk-~proj-${random36}`, `sk-~${random36}`, `sk-~${hex32}`, `sk-~or-v1-${hex32}${hex32}`],
      harmless: [
        "task-aB3dE5gH7jK9mN1pQ3rS5tU7",
        "sk-fading-circle12-and-more-classes",
        "sk-cube-grid-item-nine-of-9",
        "sk-",
      ],
    },
  },
  {
    kind: "google-key",
    anchor: "AIza|ya29\\.|GOCSPX-",
    shape: /(?:AIza[\w-]{35}|ya29\.[\w-]{20,1024}|GOCSPX-[\w-]{28})(?![\w-])/y,
    check: isRealKey,
    examples: {
      secret: ["AIza~SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "GOCSPX-~aB3dE5gH7jK9mN1pQ3rS5tU7vW9x"],
      harmless: ["AIzaSy...", "AIza"],
    },
  },
  {
    kind: "azure-key",
    anchor: "AccountKey=|SharedAccessKey=",
    shape: /(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{40,100}={0,2})/y,
    check: (text) => isRealKey(text) && !text.startsWith("Eby8vdM02xNOcqFl"),
    examples: {
      secret: [`AccountKey=~${random36}${random36}aB3dE5gH7jK9mN==`],
      // The emulator's key, the same on every machine.
      harmless: [
        "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw",
        "AccountKey=...",
      ],
    },
  },
  {
    kind: "huggingface-token",
    anchor: "hf_",
    shape: /hf_[A-Za-z0-9]{30,64}(?!\w)/y,
    check: (text) => /[a-z]/.test(text.slice(3)) && /[A-Z]/.test(text) && !/(.)\1{5}/.test(text),
    examples: {
      secret: ["hf_~aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"],
      harmless: ["hf_hub_download", `hf_${"x".repeat(34)}`],
    },
  },
  {
    kind: "package-registry-token",
    anchor: "npm_|pypi-|cio|rubygems_|dckr_pat_",
    shape:
      /(?:npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{50,300}|cio[A-Za-z0-9]{32}|rubygems_[a-f0-9]{48}|dckr_pat_[\w-]{27})(?![\w-])/y,
    check: isRealKey,
    examples: {
      secret: [
        `npm_~${random36}`,
        `pypi-~AgEIcHlwaS5vcmc${random36}${random36}`,
        `cio~${random36.slice(4)}`,
        `dckr_pat_~${random36.slice(9)}`,
      ],
      harmless: ["npm_config_registry", "cio", "pypi-publish", "npm_lifecycle_event"],
    },
  },
  {
    kind: "api-key",
    anchor:
      "SG\\.|do[opr]_v1_|shp(?:at|ss|ca|pa)_|xai-|gsk_|r8_|lin_api_|hvs\\.|dapi|AGE-SECRET-KEY-|nfp_|sntrys_|glc_|pplx-",
    shape:
      /(?:SG\.[\w-]{22}\.[\w-]{43}|do[opr]_v1_[a-f0-9]{64}|shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}|xai-[A-Za-z0-9]{40,100}|gsk_[A-Za-z0-9]{40,64}|r8_[A-Za-z0-9]{37}|lin_api_[A-Za-z0-9]{40}|hvs\.[\w-]{24,200}|dapi[a-f0-9]{32}|AGE-SECRET-KEY-1[0-9A-Z]{58}|nfp_[A-Za-z0-9]{36}|sntrys_[\w+/=-]{40,200}|glc_[\w+/=-]{40,200}|pplx-[A-Za-z0-9]{40,64})(?!\w)/y,
    check: isRealKey,
    examples: {
      secret: [
        `SG.~aB3dE5gH7jK9mN1pQ3rS5t.${random36}aB3dE5g`,
        `gsk_~${random36}${random36.slice(0, 16)}`,
        `dapi~${hex32}`,
        `lin_api_~${random36}aB3d`,
      ],
      harmless: ["SG.js", "xai-sdk", "dapi", "SG.aB3dE5gH7jK9mN1pQ3rS5t"],
    },
  },
  {
    kind: "json-web-token",
    anchor: "eyJ",
    shape: /eyJ[\w-]{10,4096}\.eyJ[\w-]{10,8192}\.[\w-]{20,1024}/y,
    // The token of most documentation: John Doe, subject 1234567890.
    check: (text) => !text.includes(".eyJzdWIiOiIxMjM0NTY3ODkwIi"),
    examples: {
      secret: [
        "eyJ~hbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiIsImFkbSI6MX0.aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7fG9h",
      ],
      harmless: [
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.aB3dE5gH7jK9mN1pQ3rS5tU7",
      ],
    },
  },
  {
    kind: "bearer-token",
    anchor: "[Bb]earer ",
    shape: /[Bb]earer {1,4}(?<secret>[\w.~+/-]{16,4096}={0,2})/y,
    check: (text) => isRealKey(text) && !/^[A-Za-z_.]+\d?$/.test(text),
    examples: {
      secret: ["Authorization: Bearer ~aB3dE5gH7jK9mN1pQ3rS"],
      harmless: [
        "Bearer token_of_the_user_here",
        "Bearer $token",
        "Bearer authentication2-is-needed-for-this".slice(0, 20),
      ],
    },
  },
  {
    kind: "url-password",
    anchor: "://",
    shape: /:\/\/[^\s/?#@:"'<>`]{0,128}:(?<secret>[^\s/?#"'<>`]{4,256})@(?!(?:[\w-]{1,64}\.){0,4}example\b)/y,
    check: isRealPassword,
    inWord: true,
    examples: {
      secret: [
        "postgres://app:~tr0ub4dor@db.internal/app",
        "https://u:~aB3@x@host/",
        "redis://:~s3cr3tpw@cache:6379",
      ],
      harmless: [
        "https://example.com:8080/a@b",
        "postgres://postgres:postgres@localhost/db",
        "https://user:password@example.com",
        "https://$user:$token@host",
        "https://%s:%s@host",
        "http://[::1]:80/",
      ],
    },
  },
];
