import type { User as UserRow } from "../../../db/schema/index.ts";
import { toGhost, toUser, type User } from "../../../shapes/users/user.ts";
import type { Viewer } from "../../../shapes/viewer.ts";

/**
 * Whoever a hook leads to, as a viewer.
 *
 * SECURITY: nobody knows who reads there, so it is shown what everybody is: no address of a user.
 */
export const toReceiver = ({
  rootUrl,
  noReplyDomain,
}: Pick<Viewer, "rootUrl" | "noReplyDomain">): Viewer => ({
  userId: undefined,
  isSiteAdmin: false,
  rootUrl,
  noReplyDomain,
});

/** Who did it; undefined for an account that is gone. */
export const toSender = (user: UserRow | undefined, viewer: Viewer): User =>
  user ? toUser(user, viewer) : toGhost(viewer);
