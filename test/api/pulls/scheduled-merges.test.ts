import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  accessTokens,
  issues,
  pulls,
  scheduledMerges,
  timelineEntries,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { drawConsequences } from "../../support/consequences.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { make, type TestUser } from "../../support/make.ts";
import { listHistory, makeReadyPull, type ReadyPull } from "../../support/merges.ts";

const SCHEDULE = { Do: "squash", merge_when_checks_succeed: true, MergeTitleField: "Later" };

const merge = ({ path }: ReadyPull, as: TestUser, json: object = SCHEDULE) =>
  call("POST", `${path}/merge`, { as, json });

const ownOf = ({ repo }: ReadyPull): string => `/repos/${repo.owner}/${repo.name}`;

/** A pull request whose base requires a status of `ci/*`, and a writer. */
async function makeGuarded() {
  const ready = await makeReadyPull();
  const writer = await make.user();
  const own = ownOf(ready);
  await call("PUT", `${own}/collaborators/${writer.name}`, {
    as: ready.owner,
    json: { permission: "write" },
  });
  const rule = { rule_name: "main", enable_status_check: true, status_check_contexts: ["ci/*"] };
  await call("POST", `${own}/branch_protections`, { as: ready.owner, json: rule });
  const report = (state: string, context = "ci/test") =>
    call("POST", `${own}/statuses/${ready.headOid}`, {
      as: ready.owner,
      json: { state, context },
    });
  return { ready, writer, report };
}

const isMerged = async ({ path, owner }: ReadyPull): Promise<boolean> =>
  (await call("GET", `${path}/merge`, { as: owner })).status === 204;

const scheduledOf = ({ pull }: ReadyPull) =>
  db.select().from(scheduledMerges).where(eq(scheduledMerges.issueId, pull.id));

const kindsOf = async ({ pull }: ReadyPull): Promise<string[]> =>
  (await db.select().from(timelineEntries).where(eq(timelineEntries.issueId, pull.id))).map(
    ({ kind }) => kind,
  );

describe("a merge when checks succeed", () => {
  it("is made once the required checks are there, by who scheduled it", async () => {
    const { ready, writer, report } = await makeGuarded();
    const refusal = { status: 405, body: { message: "Not all required status checks successful" } };
    expect(await merge(ready, writer, { Do: "merge" })).toMatchObject(refusal);
    expect(await merge(ready, writer, { Do: "merge", force_merge: true })).toMatchObject(refusal);
    const json = { ...SCHEDULE, delete_branch_after_merge: true };
    expect((await merge(ready, writer, json)).status).toBe(201);
    expect(await merge(ready, writer)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining("already scheduled to auto merge") },
    });
    await report("failure");
    await report("success", "other");
    await drawConsequences();
    expect(await isMerged(ready)).toBe(false);
    await report("success");
    await drawConsequences();
    expect(await isMerged(ready)).toBe(true);
    expect((await listHistory(ready))[0]).toMatchObject({
      message: expect.stringMatching(/^Later\n/),
      committer: writer.name,
    });
    expect(await scheduledOf(ready)).toEqual([]);
    expect(await kindsOf(ready)).toEqual(["pull_scheduled_merge", "merge_pull", "delete_branch"]);
    const merged = (await eventsOf(ready.repo)).filter(({ type }) => type === "pull.merged");
    expect(merged).toMatchObject([{ actorId: writer.id, payload: { isAutomatic: true } }]);
  });

  it("is made at once if nothing is missing", async () => {
    const ready = await makeReadyPull();
    expect((await merge(ready, ready.owner)).status).toBe(201);
    await drawConsequences();
    expect(await isMerged(ready)).toBe(true);
  });

  it("is not made by somebody who may not merge any more", async () => {
    const { ready, writer, report } = await makeGuarded();
    await merge(ready, writer);
    await call("DELETE", `${ownOf(ready)}/collaborators/${writer.name}`, { as: ready.owner });
    await report("success");
    await drawConsequences();
    expect(await isMerged(ready)).toBe(false);
  });

  it("is cancelled by who scheduled it, or an administrator", async () => {
    const { ready, writer } = await makeGuarded();
    const cancel = (as?: TestUser) => call("DELETE", `${ready.path}/merge`, as ? { as } : {});
    expect((await cancel(writer)).status).toBe(404);
    await merge(ready, ready.owner);
    expect((await cancel()).status).toBe(401);
    for (const other of [writer, await make.user()]) {
      expect(await cancel(other)).toMatchObject({
        status: 403,
        body: { message: "user has no permission to cancel the scheduled auto merge" },
      });
    }
    expect(await scheduledOf(ready)).toHaveLength(1);
    expect((await cancel(ready.owner)).status).toBe(204);
    expect((await cancel(ready.owner)).status).toBe(404);
    await merge(ready, writer);
    expect((await cancel(ready.owner)).status).toBe(204);
    expect(await kindsOf(ready)).toEqual([
      "pull_scheduled_merge",
      "pull_cancel_scheduled_merge",
      "pull_scheduled_merge",
      "pull_cancel_scheduled_merge",
    ]);
  });

  it("is cancelled with the pull request, announced once, and not made after a reopening", async () => {
    const { ready, writer, report } = await makeGuarded();
    await merge(ready, writer);
    const patch = (state: string) =>
      call("PATCH", ready.path, { as: ready.owner, json: { state } });
    await patch("closed");
    await patch("closed");
    expect(await scheduledOf(ready)).toEqual([]);
    await patch("open");
    await report("success");
    await drawConsequences();
    expect(await isMerged(ready)).toBe(false);
    expect(await kindsOf(ready)).toEqual([
      "pull_scheduled_merge",
      "pull_cancel_scheduled_merge",
      "close",
      "reopen",
    ]);
    const recorded = (await eventsOf(ready.repo)).map(({ type }) => type);
    expect(recorded.filter((type) => type === "pull.merge_unscheduled")).toHaveLength(1);
  });

  it("is cancelled where the branch of the head is deleted", async () => {
    const { ready, writer } = await makeGuarded();
    await merge(ready, writer);
    await call("DELETE", `${ownOf(ready)}/branches/topic`, { as: ready.owner });
    await drawConsequences();
    expect(await scheduledOf(ready)).toEqual([]);
    expect(await kindsOf(ready)).toEqual([
      "pull_scheduled_merge",
      "pull_cancel_scheduled_merge",
      "close",
      "delete_branch",
    ]);
  });

  it("is refused to strangers, for drafts, and for styles that are off", async () => {
    const ready = await makeReadyPull();
    expect((await merge(ready, await make.user())).status).toBe(405);
    const draft = await makeReadyPull({}, { title: "WIP: topic" });
    expect((await merge(draft, draft.owner)).status).toBe(405);
    const off = await makeReadyPull();
    await call("PATCH", ownOf(off), { as: off.owner, json: { allow_squash_merge: false } });
    expect((await merge(off, off.owner)).status).toBe(405);
    for (const each of [ready, draft, off]) expect(await scheduledOf(each)).toEqual([]);
  });

  // SECURITY: it is made with the rights of the account, so a bound token would reach beyond its
  // bindings.
  it("is refused to tokens that are bound to other refs, or to paths", async () => {
    const ready = await makeReadyPull();
    const bind = (fields: Partial<typeof accessTokens.$inferInsert>) =>
      db.update(accessTokens).set(fields).where(eq(accessTokens.userId, ready.owner.id));
    await bind({ boundRefs: ["refs/heads/topic"] });
    expect((await merge(ready, ready.owner)).status).toBe(403);
    await bind({ boundRefs: null, boundPaths: ["docs/**"] });
    expect((await merge(ready, ready.owner)).status).toBe(403);
    expect((await merge(ready, ready.owner, { Do: "merge" })).status).toBe(403);
    expect(await scheduledOf(ready)).toEqual([]);
    expect(await isMerged(ready)).toBe(false);
    await bind({ boundRefs: ["refs/heads/main"], boundPaths: null });
    expect((await merge(ready, ready.owner)).status).toBe(201);
  });
});

describe("closing keywords of a merged pull request", () => {
  it("close issues with the merge commit, once, also in other repositories", async () => {
    const [ready, other] = [await makeReadyPull(), await makeReadyPull()];
    const { owner, pull } = ready;
    await call("PUT", `${ownOf(other)}/collaborators/${owner.name}`, {
      as: other.owner,
      json: { permission: "write" },
    });
    const open = async (own: string, as: TestUser): Promise<number> =>
      (await call("POST", `${own}/issues`, { as, json: { title: "Bug" } })).body.number;
    const [first, second, third, mentioned] = [
      await open(ownOf(ready), owner),
      await open(ownOf(ready), owner),
      await open(ownOf(other), other.owner),
      await open(ownOf(ready), owner),
    ];
    const otherName = `${other.repo.owner}/${other.repo.name}`;
    const json = {
      title: `Fixes #${first}`,
      body: `Closes #${second} and resolves ${otherName}#${third}, see #${mentioned}`,
    };
    expect((await call("PATCH", ready.path, { as: owner, json })).status).toBe(201);
    expect((await merge(ready, owner, { Do: "merge" })).status).toBe(200);
    await drawConsequences();
    await drawConsequences();
    const stateOf = async (own: string, number: number) =>
      (await call("GET", `${own}/issues/${number}`, { as: owner })).body.state;
    expect(await stateOf(ownOf(ready), first)).toBe("closed");
    expect(await stateOf(ownOf(ready), second)).toBe("closed");
    expect(await stateOf(ownOf(other), third)).toBe("closed");
    expect(await stateOf(ownOf(ready), mentioned)).toBe("open");
    const [merged] = await db.select().from(pulls).where(eq(pulls.issueId, pull.id));
    const closed = await db.select().from(timelineEntries).where(eq(timelineEntries.kind, "close"));
    const ofMerge = closed.filter(({ commitOid }) => commitOid === merged?.mergeCommitOid);
    expect(ofMerge).toHaveLength(3);
  });

  // SECURITY: the maintainer who merges may write to both repositories, the contributor to none.
  it("of a contributor close issues of the base alone", async () => {
    const [contributor, ready] = [await make.user(), await makeReadyPull()];
    const { owner, pull, path } = ready;
    const elsewhere = await make.repo(owner);
    const own = [ownOf(ready), ownOf({ ...ready, repo: elsewhere })] as const;
    const numbers = [];
    for (const each of own) {
      const { body } = await call("POST", `${each}/issues`, { as: owner, json: { title: "Bug" } });
      numbers.push(body.number);
    }
    const foreign = `${elsewhere.owner}/${elsewhere.name}#${numbers[1]}`;
    await db.update(issues).set({ posterId: contributor.id }).where(eq(issues.id, pull.id));
    const json = { title: `Fixes #${numbers[0]}`, body: `Closes ${foreign}` };
    expect((await call("PATCH", path, { as: contributor, json })).status).toBe(201);
    await drawConsequences();
    expect((await merge(ready, owner, { Do: "merge" })).status).toBe(200);
    await drawConsequences();
    const states = [];
    for (const [at, each] of own.entries()) {
      const { body } = await call("GET", `${each}/issues/${numbers[at]}`, { as: owner });
      states.push(body.state);
    }
    expect(states).toEqual(["closed", "open"]);
  });
});
