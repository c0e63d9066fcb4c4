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

/** What the name of a wiki's object ends with. No other name does. */
const WIKI_ENDING = "-wiki";

/** The name of the object of a repository's wiki, which is also that of its network. */
export const wikiObjectName = (objectName: string): string => objectName + WIKI_ENDING;

/** The name of the repository's object that a wiki's object belongs to; undefined for others. */
export const repositoryOfWiki = (name: string): string | undefined =>
  name.endsWith(WIKI_ENDING) ? name.slice(0, -WIKI_ENDING.length) : undefined;

/**
 * The name of the object from which a fork of some name takes over its state; undefined for any
 * other name. The wiki of a fork is no fork.
 */
export function sourceOfFork(name: string): string | undefined {
  if (repositoryOfWiki(name) !== undefined) return undefined;
  const at = name.indexOf(".");
  return at < 0 ? undefined : name.slice(at + 1);
}
