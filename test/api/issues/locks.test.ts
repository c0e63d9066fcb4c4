import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { entriesOf, eventsOf, issueStateOf } from "../../support/issue-state.ts";
import { makeIssue } from "../../support/issues.ts";
import { make } from "../../support/make.ts";

async function makeLockable() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const issue = await makeIssue(repo);
  const path = `/repos/${repo.owner}/${repo.name}/issues/1`;
  return { owner, repo, issue, path };
}

describe("PUT and DELETE /repos/{owner}/{repo}/issues/{index}/lock", () => {
  it("lock and unlock once, with the reason in the timeline", async () => {
    const { owner, repo, issue, path } = await makeLockable();
    const lock = (reason: string) =>
      call("PUT", `${path}/lock`, { as: owner, json: { lock_reason: reason } });
    const isLocked = async () => (await call("GET", path)).body.is_locked;
    expect([(await lock("Off-topic")).status, (await lock("Spam")).status]).toEqual([204, 204]);
    expect(await isLocked()).toBe(true);
    const unlock = () => call("DELETE", `${path}/lock`, { as: owner });
    expect([(await unlock()).status, (await unlock()).status]).toEqual([204, 204]);
    expect(await isLocked()).toBe(false);
    expect((await call("PUT", `${path}/lock`, { as: owner, json: {} })).status).toBe(204);
    expect((await entriesOf(issue.id)).map(({ kind, body }) => [kind, body])).toEqual([
      ["lock", "Off-topic"],
      ["unlock", ""],
      ["lock", ""],
    ]);
    expect(await eventsOf(repo)).toEqual(["issue.locked", "issue.unlocked", "issue.locked"]);
  });

  it("are for administrators of the repository, and change nothing for others", async () => {
    const { owner, repo, path } = await makeLockable();
    const [writer, stranger] = [await make.user(), await make.user()];
    await make.collaborator(repo, writer, ACCESS.write);
    const before = await issueStateOf(repo);
    for (const [as, status] of [
      [undefined, 401],
      [stranger, 403],
      [writer, 403],
    ] as const) {
      const who = as && { as };
      expect((await call("PUT", `${path}/lock`, { ...who, json: {} })).status).toBe(status);
      expect((await call("DELETE", `${path}/lock`, { ...who })).status).toBe(status);
    }
    const long = { lock_reason: "r".repeat(256) };
    expect((await call("PUT", `${path}/lock`, { as: owner, json: long })).status).toBe(422);
    const unknown = path.replace(/1$/, "9");
    expect((await call("PUT", `${unknown}/lock`, { as: owner, json: {} })).status).toBe(404);
    expect((await call("DELETE", `${unknown}/lock`, { as: owner })).status).toBe(404);
    expect(await issueStateOf(repo)).toEqual(before);
    const isThis = eq(repositories.id, repo.id);
    await db.update(repositories).set({ archivedAt: 1 }).where(isThis);
    expect((await call("PUT", `${path}/lock`, { as: owner, json: {} })).status).toBe(423);
    await db.update(repositories).set({ archivedAt: null, hasIssues: false }).where(isThis);
    expect((await call("PUT", `${path}/lock`, { as: owner, json: {} })).status).toBe(403);
    expect(await eventsOf(repo)).toEqual([]);
  });
});
