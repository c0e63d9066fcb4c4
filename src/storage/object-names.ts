/**
 * Maximum characters of a name that contains the object of which it is a fork: it is part of keys
 * of the bucket.
 */
const FORK_NAME_MAX = 200;

/**
 * The name of the object of a new fork. It ends with the name of the fork's source, so that the
 * object finds what it takes over at its first use. That of a fork of a fork of many others does
 * not, since names grow with each.
 */
export function newForkName(sourceName: string): string {
  const id = crypto.randomUUID();
  const name = `${id}.${sourceName}`;
  return name.length > FORK_NAME_MAX ? id : name;
}

/**
 * The name of the object from which a fork of some name takes over its state; undefined for any
 * other name.
 */
export function sourceOfFork(name: string): string | undefined {
  const at = name.indexOf(".");
  return at < 0 ? undefined : name.slice(at + 1);
}
