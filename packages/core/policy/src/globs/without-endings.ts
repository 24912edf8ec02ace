/** A glob minus its exceptions, for programs that cannot take exceptions. */

/**
 * For `a/*b` with the exception `a/*cb`: all names whose starred part does not end in `c`, written with
 * braces and character sets. Other exceptions are ignored, so that the result matches too much. *Contract:*
 * globs as `plainGlobs` makes them.
 */
export function withoutEndings(glob: string, exceptions: readonly string[]): readonly string[] {
  const star = /(?<!\*)\*(?=[^*/]*$)/u.exec(glob);
  if (!star) return [glob];
  const [before, after] = [glob.slice(0, star.index), glob.slice(star.index + 1)];
  const endings = exceptions.flatMap((one) => {
    const isNarrower = one.startsWith(`${before}*`) && one.endsWith(after) && one.length > glob.length;
    const ending = one.slice(star.index + 1, one.length - after.length);
    return isNarrower && /^[\p{L}\d]+$/u.test(ending) ? [ending] : [];
  });
  if (endings.length === 0) return [glob];
  return [`${before}{${otherEndings(endings).join()}}${after}`, `${before}${after}`];
}

/**
 * All nonempty names that end in none of these: each glob differs from an ending at one position, counted
 * from the end.
 */
function otherEndings(endings: readonly string[]): readonly string[] {
  const tails = new Set(endings.flatMap((one) => Array.from(one, (_, at) => one.slice(at + 1))));
  const open = [...tails].filter((tail) => !endings.some((one) => tail.endsWith(one)));
  return open.flatMap((tail) => {
    const longer = endings.filter((one) => one.endsWith(tail)).map((one) => one.at(-tail.length - 1));
    const other = `*[!${[...new Set(longer)].join("")}]${tail}`;
    return tail === "" ? [other] : [other, tail];
  });
}
