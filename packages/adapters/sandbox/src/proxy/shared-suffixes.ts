/**
 * Shared suffixes: names below which strangers register hosts, so that one rule for all of them has no single
 * owner.
 */

/** Second-level names that a country's registry sells below, as in `co.uk`. */
const registered = new Set(
  "ac asso co com edu firm gen go gob gouv gov gv id ind info ltd me mil ne net nom or org plc priv pub sch web".split(
    " ",
  ),
);

/** Hosting where anyone can get a name; the best known, not the whole public suffix list. */
const hosting: ReadonlySet<string> = new Set([
  "amazonaws.com",
  "appspot.com",
  "azurewebsites.net",
  "blogspot.com",
  "cloudfront.net",
  "cloudfunctions.net",
  "deno.dev",
  "duckdns.org",
  "fastly.net",
  "firebaseapp.com",
  "fly.dev",
  "github.io",
  "gitlab.io",
  "herokuapp.com",
  "loca.lt",
  "netlify.app",
  "ngrok-free.app",
  "ngrok.app",
  "ngrok.io",
  "nip.io",
  "onrender.com",
  "pages.dev",
  "r2.dev",
  "railway.app",
  "repl.co",
  "run.app",
  "s3.amazonaws.com",
  "sslip.io",
  "surge.sh",
  "trycloudflare.com",
  "vercel.app",
  "web.app",
  "workers.dev",
  "xip.io",
]);

/** Whether `*.` and this name would allow strangers' hosts. */
export function isSharedSuffix(name: string): boolean {
  const labels = name.split(".");
  const [first = "", country = ""] = labels;
  if (labels.length === 1 || hosting.has(name)) return true;
  return labels.length === 2 && country.length === 2 && registered.has(first);
}
