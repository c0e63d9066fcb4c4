import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { issues, pulls, timelineEntries } from "../../../../src/db/schema/index.ts";
import { maintainRepository } from "../../../../src/domain/code/git/maintain-repository.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { eventsOf } from "../../../support/events.ts";
import { failCalls, failing, serveFailing } from "../../../support/faults.ts";
import { git } from "../../../support/git.ts";
import { makeReadyPull, type ReadyPull } from "../../../support/merges.ts";
import { systemCtx } from "../../../support/system.ts";

/** What the repository and the database have of a merge, once the jobs have run. */
async function settle({ repo, pull, baseOid }: ReadyPull) {
  await maintainRepository(systemCtx({}, Date.now() + 1000), repo);
  const { refs } = await git.repository(repo).snapshot();
  const baseNow = refs.find(({ name }) => name === "refs/heads/main")?.oid;
  const [row] = await db.select().from(pulls).where(eq(pulls.issueId, pull.id));
  const [issue] = await db.select().from(issues).where(eq(issues.id, pull.id));
  const entries = await db
    .select({ kind: timelineEntries.kind })
    .from(timelineEntries)
    .where(eq(timelineEntries.issueId, pull.id));
  const recorded = (await eventsOf(repo)).slice(1).map(({ type }) => type);
  return {
    isMoved: baseNow !== baseOid,
    mergeCommitOid: row?.mergeCommitOid,
    baseNow,
    isClosed: [row?.isClosed, issue?.isClosed],
    entries: entries.map(({ kind }) => kind),
    recorded,
  };
}

const requestOf = ({ owner, path }: ReadyPull, style: string): Request =>
  new Request(`https://forge.example/api/v1${path}/merge`, {
    method: "POST",
    headers: { Authorization: `token ${owner.token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ Do: style }),
  });

describe("a merge", { timeout: 180_000 }, () => {
  it.each(["merge", "rebase"])(
    "by %s is made or not, never half, whichever call fails, and if the Worker dies at it",
    async (style) => {
      const outcomes = new Set<boolean>();
      const calls = await failCalls(async (fault) => {
        const ready = await makeReadyPull();
        const faults = failing(fault);
        const answer = await serveFailing(requestOf(ready, style), faults.bindings);
        const { isMoved, mergeCommitOid, baseNow, isClosed, entries, recorded } =
          await settle(ready);
        // A confirmed merge is made; one whose response was lost may be.
        expect(isMoved || answer?.status !== 200).toBe(true);
        expect({ isMoved, mergeCommitOid, isClosed, entries, recorded }).toEqual({
          isMoved,
          mergeCommitOid: isMoved ? baseNow : "",
          isClosed: [isMoved, isMoved],
          entries: isMoved ? ["merge_pull"] : [],
          recorded: isMoved ? ["repository.pushed", "pull.merged"] : [],
        });
        outcomes.add(isMoved);
        return faults;
      });
      expect(calls).toBeGreaterThan(3);
      expect(outcomes).toEqual(new Set([false, true]));
    },
  );

  // The second caller reads the database before the first merge is recorded there.
  it("is not made twice while the first is not recorded", async () => {
    const ready = await makeReadyPull({}, {});
    const { owner, repo, path, pull } = ready;
    let firstTip: string | undefined;
    const most = await failCalls(async (fault) => {
      const faults = failing(fault);
      if (firstTip === undefined) {
        await serveFailing(requestOf(ready, "squash"), faults.bindings);
        const { refs } = await git.repository(repo).snapshot();
        const tip = refs.find(({ name }) => name === "refs/heads/main")?.oid;
        if (tip !== ready.baseOid) firstTip = tip;
        return faults;
      }
      const { status } = await call("POST", `${path}/merge`, { as: owner, json: { Do: "rebase" } });
      expect([405, 409]).toContain(status);
      return { ...faults, hasFailed: () => false };
    });
    expect(most).toBeGreaterThan(0);
    const { baseNow, entries } = await settle(ready);
    expect(baseNow).toBe(firstTip);
    expect(entries).toEqual(["merge_pull"]);
    expect(pull.number).toBe(1);
  });
});
