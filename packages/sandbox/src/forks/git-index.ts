/** Whether two of git's indexes say the same: `git status` alone writes one anew, with other times in it. */

/** gitformat-index(5): times, device, inode, owner and size come before what an entry says. */
const headBytes = 12;
const modeAt = 24;
const ownerAt = 28;
const hashAt = 40;
const hashBytes = 20;
const flagsAt = hashAt + hashBytes;
const extended = 0x40_00;
const longestName = 0xf_ff;

/** *Contract:* false where it cannot be told. */
export function isSameIndex(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  const [words, others] = [entriesOf(one), entriesOf(other)];
  return words !== undefined && others !== undefined && words.equals(others);
}

/** All entries without what is only true of a file on a disk; undefined for what is no index of that kind. */
function entriesOf(index: Buffer): Buffer | undefined {
  if (index.length < headBytes || index.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const [version, count] = [index.readUInt32BE(4), index.readUInt32BE(8)];
  // Names of the fourth version are cut short by the one before: their ends are found another way.
  if (version !== 2 && version !== 3) return undefined;
  const parts: Buffer[] = [];
  let at = headBytes;
  for (let entry = 0; entry < count; entry++) {
    const end = endOf(index, at);
    if (end === undefined) return undefined;
    parts.push(index.subarray(at + modeAt, at + ownerAt), index.subarray(at + hashAt, end));
    at += Math.ceil((end - at + 1) / 8) * 8;
  }
  return Buffer.concat(parts);
}

/** Where its name ends, if it is a whole entry. */
function endOf(index: Buffer, at: number): number | undefined {
  if (at + flagsAt + 2 > index.length) return undefined;
  const flags = index.readUInt16BE(at + flagsAt);
  const name = at + flagsAt + (flags & extended ? 4 : 2);
  const length = flags & longestName;
  const end = length < longestName ? name + length : index.indexOf(0, name);
  return end >= name && end < index.length && index[end] === 0 ? end : undefined;
}
