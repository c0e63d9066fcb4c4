import { z } from "@hono/zod-openapi";

import type {
  RepositoryTransfer,
  Team as TeamRow,
  User as UserRow,
} from "../../db/schema/index.ts";
import { Team, toTeam } from "../orgs/team.ts";
import { User, toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

export const RepoTransfer = z
  .object({
    doer: User,
    recipient: User,
    teams: z.array(Team).openapi({
      description: "The recipient's teams that are to reach the repository, for its members only",
    }),
  })
  .openapi("RepoTransfer");

/** A pending transfer as queries return it. */
export interface PendingTransfer {
  readonly row: RepositoryTransfer;
  /** The user who offers the repository. */
  readonly doer: UserRow;
  /** The user or organization that is to own it. */
  readonly recipient: UserRow;
  /** The recipient's teams that are to reach it, as far as the viewer may know them. */
  readonly teams: readonly TeamRow[];
}

/**
 * Formats a pending transfer; its parties are shown as to anonymous callers, without their
 * addresses.
 */
export function toRepoTransfer(
  { doer, recipient, teams }: PendingTransfer,
  viewer: Viewer,
): z.infer<typeof RepoTransfer> {
  const anonymous: Viewer = { ...viewer, userId: undefined, isSiteAdmin: false };
  return {
    doer: toUser(doer, anonymous),
    recipient: toUser(recipient, anonymous),
    teams: teams.map((team) => toTeam(team, recipient, viewer)),
  };
}
