import { eq } from "drizzle-orm";

import { callerSql } from "../../../auth/caller-sql.ts";
import { OWNER_PERMISSION, repositories } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";
import { findRef } from "../../code/git/open-snapshot.ts";
import { updateRefs } from "../../code/git/update-refs.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { headRefOf, mergeRefOf, queueRefOf } from "./open-pull.ts";

/**
 * Removes the refs of a deleted pull request. What only they reach is removed by maintenance.
 *
 * Idempotent: refs that are gone are skipped. No later pull request has the number.
 */
export const removePullRefs: Consequence = {
  name: "pull-refs",
  kinds: ["issue.deleted"],
  async handle(ctx, { event }) {
    if (event.type !== "issue.deleted" || !event.isPull) return undefined;
    const [row] = await selectRepositories(ctx.db, callerSql(ctx.actor)).where(
      eq(repositories.id, event.repoId),
    );
    if (!row) return undefined;
    const repo = { ...toRepositoryContext(ctx.actor, row), permission: OWNER_PERMISSION };
    const stored = ctx.git.repository(repo.row);
    const state = await stored.snapshot([event.number]);
    const updates = [headRefOf, mergeRefOf, queueRefOf].flatMap((refOf) => {
      const ref = refOf(event.number);
      const oid = findRef({ state }, ref)?.oid;
      return oid === undefined ? [] : [{ ref, from: oid }];
    });
    if (updates.length === 0) return undefined;
    const snapshot = { state, repository: await stored.openByBlock(state) };
    await updateRefs(ctx, repo, snapshot, updates, { cause: "service" });
    return undefined;
  },
};
