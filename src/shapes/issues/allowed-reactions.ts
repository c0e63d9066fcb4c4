/** The reactions that issues and comments can have, in the order in which clients show them. */
export const ALLOWED_REACTIONS = [
  "+1",
  "-1",
  "laugh",
  "hooray",
  "confused",
  "heart",
  "rocket",
  "eyes",
] as const;
