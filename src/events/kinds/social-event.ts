/** Stars, watches, follows and blocks. */
export type SocialEvent =
  | { type: "star.created" | "star.deleted"; repoId: number; ownerId: number }
  | { type: "watch.created" | "watch.deleted"; repoId: number; ownerId: number }
  | { type: "follow.created" | "follow.deleted"; ownerId: number }
  | { type: "block.created" | "block.deleted"; ownerId: number; userId: number };
