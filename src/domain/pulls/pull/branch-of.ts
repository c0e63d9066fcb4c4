const HEADS = "refs/heads/";

/** The short name of a branch; accepts the full ref name too. */
export const toBranch = (name: string): string =>
  name.startsWith(HEADS) ? name.slice(HEADS.length) : name;
