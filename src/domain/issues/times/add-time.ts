import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { TrackedTimeContext } from "../../../shapes/issues/tracked-time.ts";
import { findIssue } from "../issue/find-issue.ts";
import { bookTime } from "./book-time.ts";
import { selectTimeUser } from "./find-time-user.ts";
import { requireSpendingTime, requireTracker } from "./time-access.ts";

/** The input of a booking. */
interface NewTime {
  readonly seconds: number;
  /** When the work was done; null for now. */
  readonly doneAt: number | null;
  /** The name of the user whose time it is; "" for the caller. */
  readonly userName: string;
}

/**
 * Books time on an issue or pull request by its number: the caller's, or for administrators of the
 * repository that of another user.
 *
 * @throws Failure `malformed` where the repository does not track time, `forbidden` for callers who
 * may not spend time on the issue or not book for others, `invalid` for an unknown user, and as
 * `bookTime`.
 */
export async function addTime(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  caller: User,
  { seconds, doneAt, userName }: NewTime,
): Promise<TrackedTimeContext> {
  const isOwn = userName === "" || userName.toLowerCase() === caller.lowerName;
  const [issue, [other]] = await Promise.all([
    findIssue(ctx, repo, number),
    isOwn ? [] : selectTimeUser(ctx, repo, userName),
  ]);
  requireTracker(repo);
  requireSpendingTime(issue, caller);
  if (!isOwn && !isAllowed(repo, { mode: "admin" })) {
    throw forbidden("only administrators of the repository may add time for other users");
  }
  const user = isOwn ? caller : other;
  if (!user) throw invalid(`user does not exist [uid: 0, name: ${userName}]`);
  return bookTime(ctx, issue, { user, seconds, doneAt: doneAt ?? ctx.now });
}
