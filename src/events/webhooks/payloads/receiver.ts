import type { User as UserRow } from "../../../db/schema/index.ts";
import { toGhost, toUser, type User } from "../../../shapes/users/user.ts";
import type { Viewer } from "../../../shapes/viewer.ts";

/**
 * The receiver of a hook as a viewer.
 *
 * SECURITY: the readers at the receiver are unknown, so it is shown public data only, and no user's
 * email address.
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

/** The sender of a payload: a ghost if the account was deleted. */
export const toSender = (user: UserRow | undefined, viewer: Viewer): User =>
  user ? toUser(user, viewer) : toGhost(viewer);
