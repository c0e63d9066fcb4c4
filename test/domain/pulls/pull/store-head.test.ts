import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  branchTips,
  events,
  issues,
  pulls,
  timelineEntries,
} from "../../../../src/db/schema/index.ts";
import { drawConsequences, silentBindings } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { failing, serveFailing } from "../../../support/faults.ts";
import { git } from "../../../support/git.ts";
import { make, type TestRepo } from "../../../support/make.ts";
import { makeSampleTopic, storeSampleCode } from "../../../support/samples/sample-code.ts";
import { serviceWith } from "../../../support/service.ts";

// No job runs by itself here.
const call = serviceWith({}, silentBindings());

const pathOf = ({ owner, name }: Pick<TestRepo, "owner" | "name">, rest = "") =>
  `/repos/${owner}/${name}/pulls${rest}`;

/** A repository with `main` and a branch `topic` with a commit more. */
async function makeWithTopic() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const code = await storeSampleCode(repo);
  const topic = makeSampleTopic(repo, code.oid);
  await topic.store("refs/heads/topic");
  return { owner, repo, topic };
}

const headOf = async (repo: TestRepo, number: number) => {
  const { refs } = await git.repository(repo).snapshot();
  return refs.find(({ name }) => name === `refs/pull/${number}/head`)?.oid;
};

describe("the head of a pull request", () => {
  it("is stored by a job if the Worker ends before it is", async () => {
    const seen = { none: 0, rows: 0, all: 0 };
    for (let at = 0; seen.all === 0; at += 1) {
      const { owner, repo, topic } = await makeWithTopic();
      const request = new Request(`http://x/api/v1${pathOf(repo)}`, {
        method: "POST",
        headers: { Authorization: `token ${owner.token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ title: "x", head: "topic", base: "main" }),
      });
      const faults = failing({ at, isDone: true, isDeath: true });
      await serveFailing(request, faults.bindings);
      const rows = await db.select().from(issues).where(eq(issues.repoId, repo.id));
      const isStored = (await headOf(repo, 1)) === topic.oid;
      // The ref never precedes the rows.
      expect(isStored && rows.length === 0).toBe(false);
      seen[rows.length === 0 ? "none" : isStored ? "all" : "rows"] += 1;
      if (rows.length === 0) continue;
      await drawConsequences();
      expect(await headOf(repo, 1)).toBe(topic.oid);
      const isTip = and(eq(branchTips.repoId, repo.id), eq(branchTips.branch, "topic"));
      expect(await db.select().from(branchTips).where(isTip)).toMatchObject([{ oid: topic.oid }]);
    }
    expect(seen.none).toBeGreaterThan(0);
    expect(seen.rows).toBeGreaterThan(0);
  });

  it("is stored with one write to the database, and leaves nothing to be recorded", async () => {
    const { owner, repo, topic } = await makeWithTopic();
    const faults = failing({ at: Infinity, isDone: true, isDeath: false });
    const counted = serviceWith({}, faults.bindings);
    const json = { title: "x", head: "topic", base: "main" };

    const { status } = await counted("POST", pathOf(repo), { as: owner, json });

    expect(status).toBe(201);
    expect(await headOf(repo, 1)).toBe(topic.oid);
    // The guard's, and the one that opens it.
    expect(faults.calls.filter((name) => name === "d1.batch")).toHaveLength(2);
    expect(await env.REPOSITORY.getByName(repo.objectName).listOutbox()).toEqual([]);
  });

  it("goes with the pull request", async () => {
    const { owner, repo, topic } = await makeWithTopic();
    const json = { title: "x", head: "topic", base: "main" };
    const { body } = await call("POST", pathOf(repo), { as: owner, json });
    await drawConsequences();
    expect(await headOf(repo, 1)).toBe(topic.oid);
    const path = `/repos/${repo.owner}/${repo.name}/issues/1`;
    expect((await call("DELETE", path, { as: owner })).status).toBe(204);
    await drawConsequences();
    const { refs } = await git.repository(repo).snapshot();
    expect(refs.filter(({ name }) => name.startsWith("refs/pull/"))).toEqual([]);
    expect((await call("GET", pathOf(repo, "/1"))).status).toBe(404);
    expect(await db.select().from(pulls).where(eq(pulls.issueId, body.id))).toEqual([]);
    const left = eq(timelineEntries.issueId, body.id);
    expect(await db.select().from(timelineEntries).where(left)).toEqual([]);
    const recorded = await db.select().from(events).where(eq(events.repoId, repo.id));
    expect(recorded.map(({ type }) => type)).toContain("issue.deleted");
  });
});
