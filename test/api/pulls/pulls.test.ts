import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { git } from "../../support/git.ts";
import { World } from "../../support/samples/world.ts";

describe("POST /repos/{owner}/{repo}/pulls", () => {
  it("opens a pull request of a branch, and stores its head", async () => {
    const world = new World();
    const [owner, repo, first] = [await world.user(), await world.repo(), await world.pull()];
    const path = `/repos/${repo.owner}/${repo.name}/pulls`;
    const json = { title: "WIP: topic", body: "text", head: "topic", base: "some/branch" };
    const { status, body } = await call("POST", path, { as: owner, json });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      number: 2,
      state: "open",
      draft: true,
      mergeable: false,
      merged: false,
      additions: 1,
      deletions: 0,
      changed_files: 1,
      head: { label: "topic", ref: "topic", sha: first.pull.headOid, repo_id: repo.id },
      base: { label: "some/branch", repo: { id: repo.id } },
      merge_base: first.pull.judgedBaseOid,
    });
    expect((await call("GET", `${path}/2`)).body).toMatchObject({ number: 2, body: "text" });
    const { refs } = await git.repository(repo).snapshot();
    expect(refs.find(({ name }) => name === "refs/pull/2/head")?.oid).toBe(first.pull.headOid);
  });

  it("refuses a second one of the same branches", async () => {
    const world = new World();
    const [owner, repo, pull] = [await world.user(), await world.repo(), await world.pull()];
    const path = `/repos/${repo.owner}/${repo.name}/pulls`;
    const json = { title: "Again", head: "topic", base: "refs/heads/main" };
    const { status, body } = await call("POST", path, { as: owner, json });
    expect([status, body.message]).toEqual([
      409,
      `pull request already exists for these targets [id: ${pull.id}, issue_id: ${pull.id}, ` +
        `head_repo_id: ${repo.id}, base_repo_id: ${repo.id}, head_branch: topic, base_branch: main]`,
    ]);
  });
});
