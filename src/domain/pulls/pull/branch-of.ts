const HEADS = "refs/heads/";

/** The short name of a branch that is given by either name. */
export const toBranch = (name: string): string =>
  name.startsWith(HEADS) ? name.slice(HEADS.length) : name;
