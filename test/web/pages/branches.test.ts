import { describe, expect, it } from "vitest";

import { call, visit } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";
import { storePush, storeRefs } from "../../support/push.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

const pathOf = ({ owner, name }: TestRepo): string => `/${owner}/${name}`;

/** The number of times that a text has another one. */
const count = (text: string, part: string): number => text.split(part).length - 1;

describe("the pull request of a branch", () => {
  it("is the open one, else the latest, for those who may read it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oid = history.commit();
    const names = ["main", "topic", "done", "none"];
    const refs = names.map((name) => ({ ref: `refs/heads/${name}`, oid }));
    await storeRefs(repo, refs, history.build());
    const open = await makePull(repo, { headBranch: "topic" });
    await makePull(repo, { headBranch: "topic", isClosed: true }, { isClosed: true });
    await makePull(repo, { headBranch: "done", isClosed: true }, { isClosed: true });
    const merged = { headBranch: "done", isClosed: true, mergedAt: 1 };
    const latest = await makePull(repo, merged, { isClosed: true });
    const path = `${pathOf(repo)}/branches`;
    const page = await read(path);
    expect(page).toMatch(new RegExp(`>topic</a>[^]*label open[^]*#${open.number} Open</a>`));
    expect(page).toMatch(new RegExp(`>done</a>[^]*label merged[^]*#${latest.number} Merged</a>`));
    expect(count(page, "/pulls/")).toBe(2);
    const off = await call("PATCH", `/repos${pathOf(repo)}`, {
      as: owner,
      json: { has_pull_requests: false },
    });
    expect(off.status).toBe(200);
    expect(await read(path)).not.toContain("/pulls/");
  });

  it("may be one of the repository that it was forked from", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const parent = await make.repo(owner);
    const history = new History();
    const oid = history.commit();
    await storePush(parent, "refs/heads/main", oid, history.build());
    const forked = await call("POST", `/repos${pathOf(parent)}/forks`, { as: forker, json: {} });
    expect(forked.status).toBe(202);
    const { number } = await makePull(parent, {
      headRepoId: Number(forked.body.id),
      headBranch: "main",
    });
    const path = `/${forker.name}/${parent.name}/branches`;
    expect(await read(path)).toContain(`href="${pathOf(parent)}/pulls/${number}"`);
    await call("PATCH", `/repos${pathOf(parent)}`, { as: owner, json: { private: true } });
    const answer = await visit("GET", path, { ...PEOPLE, as: forker });
    expect(String(answer.body)).not.toContain("/pulls/");
  });
});
