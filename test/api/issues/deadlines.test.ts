import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { entriesOf, eventsOf, issueStateOf } from "../../support/issue-state.ts";
import { makeIssue } from "../../support/issues.ts";
import { make } from "../../support/make.ts";

describe("POST /repos/{owner}/{repo}/issues/{index}/deadline", () => {
  it("sets the end of the named day, and removes the date", async () => {
    const [owner, writer] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    await make.collaborator(repo, writer, ACCESS.write);
    const issue = await makeIssue(repo);
    const path = `/repos/${repo.owner}/${repo.name}/issues/1`;
    const post = async (json: object) => {
      const answer = await call("POST", `${path}/deadline`, { as: writer, json });
      return [answer.status, answer.body.due_date, (await call("GET", path)).body.due_date];
    };
    const day = "2030-03-04T23:59:59Z";
    expect(await post({ due_date: "2030-03-04T05:06:07Z" })).toEqual([201, day, day]);
    // The day as it is written, whatever its offset.
    expect(await post({ due_date: "2030-03-04T23:06:07-08:00" })).toEqual([201, day, day]);
    expect(await post({ due_date: "2030-03-05T00:06:07+08:00" })).toEqual([
      201,
      "2030-03-05T23:59:59Z",
      "2030-03-05T23:59:59Z",
    ]);
    const never = "1970-01-01T00:00:00Z";
    expect(await post({ due_date: null })).toEqual([201, never, null]);
    expect(await post({})).toEqual([201, never, null]);
    // The time that clients in Go send for none.
    expect(await post({ due_date: "0001-01-01T00:00:00Z" })).toEqual([201, never, null]);
    expect((await entriesOf(issue.id)).map(({ kind, body }) => [kind, body])).toEqual([
      ["added_deadline", "2030-03-04"],
      ["modified_deadline", "2030-03-05|2030-03-04"],
      ["removed_deadline", "2030-03-05"],
    ]);
    const change = "issue.deadline_changed";
    expect(await eventsOf(repo)).toEqual([change, change, change]);
  });

  it("is for writers, in a repository that is not archived", async () => {
    const [owner, poster] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    await makeIssue(repo, { posterId: poster.id });
    const path = `/repos/${repo.owner}/${repo.name}/issues/1/deadline`;
    const json = { due_date: "2030-03-04T05:06:07Z" };
    const before = await issueStateOf(repo);
    expect((await call("POST", path, { json })).status).toBe(401);
    expect((await call("POST", path, { as: poster, json })).status).toBe(403);
    for (const wrong of ["x", "2030-03-04", "2030-13-04T05:06:07Z", "0001-01-02T00:00:00Z"]) {
      const answer = await call("POST", path, { as: owner, json: { due_date: wrong } });
      expect(answer).toMatchObject({ status: 422, body: { message: expect.any(String) } });
    }
    const unknown = path.replace("issues/1", "issues/9");
    expect((await call("POST", unknown, { as: owner, json })).status).toBe(404);
    expect(await issueStateOf(repo)).toEqual(before);
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, repo.id));
    expect((await call("POST", path, { as: owner, json })).status).toBe(423);
    expect(await eventsOf(repo)).toEqual([]);
  });
});
