import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { pulls, scheduledMerges, timelineEntries } from "../../../../src/db/schema/index.ts";
import { maintainRepository } from "../../../../src/domain/code/git/maintain-repository.ts";
import { cleanUpMerged } from "../../../../src/domain/pulls/merge/clean-up-merged.ts";
import { runScheduledMerges } from "../../../../src/domain/pulls/merge/run-scheduled-merges.ts";
import { record } from "../../../../src/events/record.ts";
import { ANONYMOUS } from "../../../../src/auth/actor.ts";
import { drawConsequences, silentBindings } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { eventsOf } from "../../../support/events.ts";
import { failCalls, failing, serveFailing } from "../../../support/faults.ts";
import { git } from "../../../support/git.ts";
import { makeReadyPull, type ReadyPull } from "../../../support/merges.ts";
import { systemCtx } from "../../../support/system.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const SETTINGS = { ROOT_URL: "https://forge.example" };

/** Draws the consequences of merges at a time. */
const draw = (bindings: Partial<Env> | undefined, now: number) =>
  drawConsequences(bindings, now, [runScheduledMerges, cleanUpMerged]);

/** Runs the jobs of later days, and returns the state of a pull request. */
async function settle({ repo, pull, baseOid }: ReadyPull) {
  const later = Date.now() + DAY_MS;
  await maintainRepository(systemCtx({}, later), repo);
  await draw(undefined, later);
  const { refs } = await git.repository(repo).snapshot();
  const names = refs.map(({ name }) => name);
  const [row] = await db.select().from(pulls).where(eq(pulls.issueId, pull.id));
  const entries = await db
    .select({ kind: timelineEntries.kind })
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, pull.id));
  const recorded = (await eventsOf(repo)).map(({ type }) => type);
  return {
    isMoved: refs.find(({ name }) => name === "refs/heads/main")?.oid !== baseOid,
    isMerged: row?.mergedAt !== null,
    hasBranch: names.includes("refs/heads/topic"),
    merges: entries.filter(({ kind }) => kind === "merge_pull").length,
    recorded: recorded.filter((type) => type === "pull.merged").length,
  };
}

const DONE = { isMoved: true, isMerged: true, hasBranch: false, merges: 1, recorded: 1 };

describe("a merge, if any call fails or the Worker dies at it", { timeout: 600_000 }, () => {
  it("that was scheduled is made once, and its branch is deleted", async () => {
    const calls = await failCalls(async (fault) => {
      const ready = await makeReadyPull();
      const { id: issueId, repoId, number } = ready.pull;
      const { owner } = ready;
      await db.insert(scheduledMerges).values({
        issueId,
        repoId,
        doerId: owner.id,
        style: "merge",
        isBranchDeleted: true,
        createdAt: 1,
      });
      const ctx = systemCtx(silentBindings(), Date.now(), SETTINGS);
      await record(
        { ...ctx, actor: { ...ANONYMOUS, user: owner } },
        { type: "pull.merge_scheduled", ownerId: owner.id, repoId, issueId, number },
      );
      const faults = failing(fault);
      await draw(faults.bindings, Date.now() + 1000).catch(() => undefined);
      expect(await settle(ready)).toEqual(DONE);
      return faults;
    });
    expect(calls).toBeGreaterThan(12);
  });

  it("that asks for the deletion of the branch does not leave it behind its push", async () => {
    const request = ({ path, owner }: ReadyPull): Request =>
      new Request(`https://forge.example/api/v1${path}/merge`, {
        method: "POST",
        headers: { Authorization: `token ${owner.token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ Do: "merge", delete_branch_after_merge: true }),
      });
    const whole = failing({ at: Infinity, isDone: false, isDeath: false });
    await serveFailing(request(await makeReadyPull()), whole.bindings);
    const push = whole.calls.indexOf("object.commitPush");
    expect(push).toBeGreaterThan(0);
    for (let at = push; at < whole.calls.length; at++) {
      const ready = await makeReadyPull();
      const faults = failing({ at, isDone: true, isDeath: true });
      await serveFailing(request(ready), faults.bindings);
      expect(await settle(ready)).toEqual(DONE);
    }
  });
});
