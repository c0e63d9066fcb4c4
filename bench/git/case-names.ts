/** The measured cases, in order: cases that change a repository come last. */
export const CASE_NAMES = [
  "push",
  "clone",
  "depth-1",
  "blob-none",
  "ls-remote",
  "one-pack",
  "ten-packs",
  "fetch",
  "pushed-pack",
  "pushed-packs",
  "push-commit",
  "fork",
] as const;
export type CaseName = (typeof CASE_NAMES)[number];
