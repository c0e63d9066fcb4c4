import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { make } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";

describe("GET /repos/{owner}/{repo}/pulls/{base}/{head}", () => {
  it("finds the open one, or else the last one", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const pull = await makePull(repo, {}, { isClosed: true });
    const at = async (rest: string) => {
      const { status, body } = await call("GET", `/repos/${repo.owner}/${repo.name}/pulls/${rest}`);
      return status === 200 ? body.number : status;
    };
    expect(await at("main/topic")).toBe(pull.number);
    const later = await makePull(repo, {}, { isClosed: true });
    expect(await at("main/topic")).toBe(later.number);
    const open = await makePull(repo);
    await makePull(repo, {}, { isClosed: true });
    expect(await at("main/topic")).toBe(open.number);
    expect(await at(`main/${owner.name}:topic`)).toBe(open.number);
    expect(await at(`main/${owner.name}/${repo.name}:topic`)).toBe(open.number);
    expect(await at("main/nothere")).toBe(404);
    expect(await at("nothere/topic")).toBe(404);
    expect(await at("main/nobody-at-all:topic")).toBe(404);
    const slash = await makePull(repo, { headBranch: "feat/x", baseBranch: "some/branch" });
    expect(await at("some%2Fbranch/feat/x")).toBe(slash.number);
    await db
      .update(repositories)
      .set({ hasPullRequests: false })
      .where(eq(repositories.id, repo.id));
    expect(await at("main/topic")).toBe(404);
  });
});
