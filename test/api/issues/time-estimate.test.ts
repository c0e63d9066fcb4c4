import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { timelineEntries } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { makeIssue } from "../../support/issues.ts";
import { make, type TestUser } from "../../support/make.ts";

async function makeWorld() {
  const [owner, poster] = [await make.user(), await make.user()];
  const repo = await make.repo(owner);
  const issue = await makeIssue(repo, { posterId: poster.id });
  const patch = (as: TestUser, time_estimate: unknown) =>
    call("PATCH", `/repos/${repo.owner}/${repo.name}/issues/1`, { as, json: { time_estimate } });
  const timeline = async () => {
    const rows = await db
      .select()
      .from(timelineEntries)
      .where(eq(timelineEntries.issueId, issue.id))
      .orderBy(asc(timelineEntries.id));
    return rows.map(({ kind, body }) => [kind, body]);
  };
  return { owner, poster, repo, patch, timeline };
}

describe("time_estimate of PATCH /repos/{owner}/{repo}/issues/{index}", () => {
  it("sets and removes the estimate, and records each change once", async () => {
    const { owner, repo, patch, timeline } = await makeWorld();
    const answer = await patch(owner, 5400);
    expect(answer).toMatchObject({ status: 201, body: { time_estimate: 5400 } });
    expect(await patch(owner, 5400)).toMatchObject({ status: 201 });
    expect(await patch(owner, 0)).toMatchObject({ status: 201, body: { time_estimate: 0 } });
    expect(await timeline()).toEqual([
      ["change_time_estimate", "1h 30m"],
      ["change_time_estimate", ""],
    ]);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "issue.estimate_changed", payload: { seconds: 5400 } },
      { type: "issue.estimate_changed", payload: { seconds: 0 } },
    ]);
  });

  it("is ignored for a poster who may not write, and refuses what is no estimate", async () => {
    const { owner, poster, repo, patch, timeline } = await makeWorld();
    expect(await patch(poster, 60)).toMatchObject({ status: 201, body: { time_estimate: 0 } });
    for (const wrong of [-1, 1.5, "1h", 2 ** 31]) {
      expect(await patch(owner, wrong)).toMatchObject({ status: 422 });
    }
    expect(await timeline()).toEqual([]);
    expect(await eventsOf(repo)).toEqual([]);
  });
});
