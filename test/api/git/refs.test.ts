import { describe, expect, it } from "vitest";

import { disableCode } from "../../support/disable-code.ts";
import { call } from "../../support/call.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { makeCommit, storePush } from "../../support/push.ts";
import { makeTag } from "../../support/tag.ts";
import { logged } from "../../support/usage.ts";

const pathOf = (repo: TestRepo, ref?: string) =>
  `/repos/${repo.owner}/${repo.name}/git/refs${ref === undefined ? "" : `/${ref}`}`;

/** A repository with branches, a tag of a tree, an annotated tag, and notes. */
async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const commit = makeCommit(repo.name);
  const tag = makeTag(commit.oid, "v1");
  await storePush(repo, "refs/heads/main", commit.oid, commit.pack);
  await storePush(repo, "refs/heads/a/b#c", commit.oid, commit.pack);
  await storePush(repo, "refs/notes/commits", commit.oid, commit.pack);
  await storePush(repo, "refs/tags/tree", commit.treeOid, commit.pack);
  await storePush(repo, "refs/tags/v1", tag.oid, tag.pack, commit.oid);
  return { owner, repo, commit, tag };
}

const namesOf = (body: { ref: string }[]) => body.map(({ ref }) => ref);

describe("GET /repos/{owner}/{repo}/git/refs", () => {
  it("lists all refs by name with their objects, also in pages", async () => {
    const { owner, repo, commit, tag } = await makePushed();
    const { answer, line } = await logged(() => call("GET", pathOf(repo), { as: owner }));
    const url = `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}/git`;
    const object = (type: string, sha: string) => ({ type, sha, url: `${url}/${type}s/${sha}` });
    expect(answer.body).toEqual([
      {
        ref: "refs/heads/a/b#c",
        url: `${url}/refs/heads/a/b%23c`,
        object: object("commit", commit.oid),
      },
      {
        ref: "refs/heads/main",
        url: `${url}/refs/heads/main`,
        object: object("commit", commit.oid),
      },
      {
        ref: "refs/notes/commits",
        url: `${url}/refs/notes/commits`,
        object: object("commit", commit.oid),
      },
      {
        ref: "refs/tags/tree",
        url: `${url}/refs/tags/tree`,
        object: object("tree", commit.treeOid),
      },
      { ref: "refs/tags/v1", url: `${url}/refs/tags/v1`, object: object("tag", tag.oid) },
    ]);
    expect(answer.headers.get("X-Total-Count")).toBe("5");
    expect(line).toMatchObject({ d1Rounds: 1, objectCalls: 1 });
    const { body, headers } = await call("GET", `${pathOf(repo)}?page=2&limit=4`);
    expect([namesOf(body), headers.get("X-Total-Count")]).toEqual([["refs/tags/v1"], "5"]);
  });

  it("answers 404 for a repository without refs, and for an invisible one", async () => {
    const owner = await make.user();
    const empty = await make.repo(owner);
    expect((await call("GET", pathOf(empty))).status).toBe(404);
    const { owner: other, repo } = await makePushed({ isPrivate: true });
    for (const path of [pathOf(repo), pathOf(repo, "heads/main")]) {
      expect((await call("GET", path)).status).toBe(404);
      expect((await call("GET", path, { as: owner })).status).toBe(404);
      expect((await call("GET", path, { as: other })).status).toBe(200);
    }
    await disableCode(repo);
    expect((await call("GET", pathOf(repo))).status).toBe(404);
    expect((await call("GET", pathOf(repo), { as: other })).status).toBe(200);
  });
});

describe("GET /repos/{owner}/{repo}/git/refs/{ref}", () => {
  it("lists the refs with a prefix", async () => {
    const { repo } = await makePushed();
    const prefixes = [
      ["heads/main", ["refs/heads/main"]],
      ["heads", ["refs/heads/a/b#c", "refs/heads/main"]],
      ["heads/ma", ["refs/heads/main"]],
      ["heads%2Fa%2Fb%23c", ["refs/heads/a/b#c"]],
      ["tags/", ["refs/tags/tree", "refs/tags/v1"]],
      ["notes/commits", ["refs/notes/commits"]],
    ] as const;
    for (const [prefix, names] of prefixes) {
      const { status, body, headers } = await call("GET", pathOf(repo, prefix));
      expect([status, namesOf(body)], prefix).toEqual([200, names]);
      expect(headers.get("X-Total-Count")).toBe(String(names.length));
    }
  });

  it("answers 404 for a prefix without refs", async () => {
    const { owner, repo } = await makePushed();
    const dots = ["heads%2f..%2fheads/main", "..%2fheads", "%2e%2e%2fheads"];
    const wrong = ["nothing", "refs/heads/main", "main", "heads/main%2f", "%00", "%ff"];
    for (const prefix of [...dots, ...wrong, "x".repeat(5000)]) {
      const { status, body } = await call("GET", pathOf(repo, prefix), { as: owner });
      expect([status, body], prefix).toEqual([404, ""]);
    }
  });
});
