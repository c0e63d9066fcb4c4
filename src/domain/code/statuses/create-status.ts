import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import { isViolation } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import {
  commitStatuses,
  type CommitState,
  repositories,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, IF_CHANGED, recordBy } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { invalid, notFound } from "../../../lib/failure.ts";
import { checkWebAddress } from "../../../lib/web-address.ts";
import type { StatusEntry } from "../../../shapes/git/commit-status.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** Maximum number of statuses of a commit: the combined status reads all of them. */
const STATUSES_MAX = 10_000;

/** The input for a new commit status. */
export interface NewStatus {
  state: CommitState;
  context: string;
  description: string;
  targetUrl: string;
}

/**
 * Adds a status to a commit. Earlier statuses of the same context stay stored and are superseded.
 *
 * @throws Failure `invalid` for a target URL that is not HTTP or HTTPS, and for a commit with the
 * maximum number of statuses; `not_found` if the repository was deleted meanwhile.
 */
export async function createStatus(
  ctx: Ctx,
  { row, owner }: RepositoryContext,
  commitOid: Oid,
  creator: User,
  input: NewStatus,
): Promise<StatusEntry> {
  const { db } = ctx;
  const { state } = input;
  const context = input.context.trim();
  const targetUrl = input.targetUrl.trim();
  checkWebAddress(targetUrl, "target_url");
  try {
    const fields = { state, context, description: input.description.trim(), targetUrl };
    const statements = statusStatements(
      ctx,
      { id: row.id, ownerId: owner.id },
      { ...fields, commitOid, creatorId: creator.id },
    );
    const {
      inserted: [status],
    } = await batch(db, statements);
    if (!status) throw notFound();
    return { status, creator };
  } catch (error) {
    if (isViolation(error, "NOT NULL", "commit_statuses.number")) {
      throw invalid(`a commit has ${STATUSES_MAX} statuses at most`);
    }
    throw error;
  }
}

/**
 * The statements that add a status to a commit with its event, for the batch of what it reports.
 *
 * @param isIfChanged Whether they write only if the statement before them changed a row; then a
 * commit with the maximum number of statuses gets none.
 */
export const statusStatements = (
  ctx: Ctx,
  repo: Pick<Repository, "id" | "ownerId">,
  status: NewStatus & { commitOid: Oid; creatorId: number | null },
  isIfChanged = false,
) =>
  insertStatus(ctx.db, {
    row: boundRow(commitStatuses, { repoId: repo.id, createdAt: ctx.now, ...status }),
    isIfChanged: isIfChanged ? 1 : 0,
    event: eventArgument(ctx, {
      type: "commit_status.created",
      repoId: repo.id,
      ownerId: repo.ownerId,
      commitOid: status.commitOid,
      number: COMPUTED,
      state: status.state,
      context: status.context,
    }),
  });

type StatusRow = Omit<typeof commitStatuses.$inferInsert, "id" | "number">;

const insertStatus = prepareAll(
  (
    db,
    {
      row,
      isIfChanged,
      event,
    }: Params<{ row: BoundRow<StatusRow>; isIfChanged: 0 | 1; event: EventArgument }>,
  ) => {
    const isOfCommit = and(
      eq(commitStatuses.repoId, row.repoId),
      eq(commitStatuses.commitOid, row.commitOid),
    );
    const last = sql`(
      select max(${commitStatuses.number}) from ${commitStatuses} where ${isOfCommit}
    )`;
    const next = sql`case
      when coalesce(${last}, 0) < ${STATUSES_MAX} then coalesce(${last}, 0) + 1
    end`;
    return {
      inserted: insertSelect(
        db,
        commitStatuses,
        { ...row, repoId: repositories.id, number: next },
        sql`from ${repositories} where ${repositories.id} = ${row.repoId}
          and (${isIfChanged} = 0 or (changes() > 0 and ${next} is not null))`,
      ).returning(),
      event: recordBy(db, event, { number: last }, IF_CHANGED),
    };
  },
);
