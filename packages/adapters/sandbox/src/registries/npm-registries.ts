/** npm's registries, from npmrc files. */
import { readSections, type Section } from "./read-sections.ts";
import { plainUrl, type RegistryKeeping } from "./registry-keeping.ts";

/** Later texts override earlier ones; returns the npmrc for commands. */
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

/** Before npm 9 a login without an address was for the default registry. */
const loginName = /^_(?:auth|authToken|password)$/;

/** Matches `//host/path/:_authToken=...` for the registry or a folder above it, like npm. */
function isLoggedIn(registry: string, values: Section["values"]): boolean {
  const url = plainUrl(registry);
  const place = `//${url?.host}${url?.pathname.replace(/\/*$/, "/")}`;
  return values.some(([name]) => {
    const at = /^(\/\/.*):(?:_auth|_authToken|_password|certfile)$/.exec(name)?.[1];
    return at !== undefined && place.startsWith(at.replace(/\/*$/, "/"));
  });
}
