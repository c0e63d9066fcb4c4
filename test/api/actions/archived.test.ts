import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories, workflowRuns } from "../../../src/db/schema/index.ts";
import { drawConsequences } from "../../support/consequences.ts";
import { db } from "../../support/db.ts";
import { make } from "../../support/make.ts";
import { quietly } from "../../support/merge-queues.ts";
import { rowsOfRepository } from "../../support/rows-of-repository.ts";
import { jobsOf, makePushed, reach, runsOf } from "../../support/workflow-runs.ts";

const FILE = `
on: [push, workflow_dispatch, fork]
jobs: { a: { runs-on: x, steps: [{ run: a }] } }
`;

/** A repository with a run that waits, and one that waits for an approval. */
async function makeArchived() {
  const made = await makePushed({ ".gitea/workflows/a.yml": FILE });
  const { owner, repo } = made;
  const [run] = await runsOf(repo);
  if (!run) throw new Error("no run was made");
  const archive = (archivedAt: number | null) =>
    db.update(repositories).set({ archivedAt }).where(eq(repositories.id, repo.id));
  await archive(1000);
  const send = (method: string, path: string, json?: unknown) =>
    quietly(method, `/repos/${repo.owner}/${repo.name}/actions/${path}`, {
      as: owner,
      ...(json !== undefined && { json }),
    });
  return { ...made, run, archive, send };
}

describe("an archived repository", () => {
  it("refuses each change of its runs and workflows, and stays as it is", async () => {
    const { repo, run, archive, send } = await makeArchived();
    const [job] = await jobsOf(run);
    await archive(null);
    await reach(run, "a", "failure");
    await archive(1000);
    const refused = async (method: string, path: string, json?: unknown) => {
      const before = await rowsOfRepository(repo.id);
      expect((await send(method, path, json)).status).toBe(423);
      expect(await rowsOfRepository(repo.id)).toEqual(before);
    };
    await refused("POST", "workflows/a.yml/dispatches", { ref: "main" });
    await refused("PUT", "workflows/a.yml/disable");
    await refused("PUT", "workflows/a.yml/enable");
    await refused("POST", `runs/${run.id}/rerun`);
    await refused("POST", `runs/${run.id}/rerun-failed-jobs`);
    await refused("POST", `jobs/${job?.id}/rerun`);
    await refused("DELETE", `runs/${run.id}`);
    await db
      .update(workflowRuns)
      .set({ needsApproval: true, state: "blocked" })
      .where(eq(workflowRuns.id, run.id));
    await refused("POST", `runs/${run.id}/approve`);
    await refused("POST", `runs/${run.id}/cancel`);
  });

  it("starts nothing when it is forked", async () => {
    const { repo } = await makeArchived();

    const other = await make.user();
    const path = `/repos/${repo.owner}/${repo.name}/forks`;
    expect((await quietly("POST", path, { as: other, json: {} })).status).toBe(202);
    await drawConsequences();
    expect((await runsOf(repo)).map(({ event }) => event)).toEqual(["push"]);
  });
});
