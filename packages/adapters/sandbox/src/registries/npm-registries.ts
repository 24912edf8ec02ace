/** Registries of npm: what npmrc files say. */
import { readSections, type Section } from "./read-sections.ts";
import { plainUrl, type RegistryKeeping } from "./registry-keeping.ts";

/** Of the texts, later ones win; what commands find as their npmrc. */
export function npmRegistries(texts: readonly string[], { keep }: RegistryKeeping): readonly string[] {
  const values = texts.flatMap(readSections).flatMap((section) => section.values);
  const found = new Map(
    values.filter(([name, value]) => /^(?:@[\w.~-]+:)?registry$/.test(name) && plainUrl(value)),
  );
  return [...found].flatMap(([name, value]) => {
    const isNamed = name.startsWith("@");
    const hasLogin = isLoggedIn(value, values) || (!isNamed && values.some(([one]) => loginName.test(one)));
    const kept = keep(value, { hasLogin, isNamed });
    return kept === undefined ? [] : [`${name}=${kept}`];
  });
}

/** Before npm 9 one without an address was for the default registry. */
const loginName = /^_(?:auth|authToken|password)$/;

/** `//host/path/:_authToken=...`, of the registry or of a folder above it, as npm looks for it. */
function isLoggedIn(registry: string, values: Section["values"]): boolean {
  const url = plainUrl(registry);
  const place = `//${url?.host}${url?.pathname.replace(/\/*$/, "/")}`;
  return values.some(([name]) => {
    const at = /^(\/\/.*):(?:_auth|_authToken|_password|certfile)$/.exec(name)?.[1];
    return at !== undefined && place.startsWith(at.replace(/\/*$/, "/"));
  });
}
