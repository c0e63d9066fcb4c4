import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { reviews } from "../../../../src/db/schema/index.ts";
import { call } from "../../../support/call.ts";
import { History } from "../../../support/commits.ts";
import { drawConsequences } from "../../../support/consequences.ts";
import { db } from "../../../support/db.ts";
import { make, type TestUser } from "../../../support/make.ts";
import { storeRefs } from "../../../support/push.ts";

/** A repository whose base names owners of its code, and a branch `topic` that adds files. */
async function makeOwned(
  owner: TestUser,
  org: Parameters<typeof make.repo>[0],
  owners: Readonly<Record<string, string>>,
  files: readonly string[],
  fields: Parameters<typeof make.repo>[1] = {},
) {
  const repo = await make.repo(org, fields);
  const history = new History();
  const base = history.commit({ files: { "a.txt": "a\n", ...owners } });
  const added = Object.fromEntries(files.map((path) => [path, "new\n"]));
  const all = { "a.txt": "a\n", ...owners, ...added };
  const head = history.commit({ files: all, parents: [base] });
  const refs = [
    { ref: "refs/heads/main", oid: base },
    { ref: "refs/heads/topic", oid: head },
  ];
  await storeRefs(repo, refs, history.build());
  const path = `/repos/${repo.owner}/${repo.name}/pulls`;
  const open = async (title = "A topic", as = owner) => {
    const json = { title, head: "topic", base: "main" };
    return (await call("POST", path, { as, json })).body;
  };
  return { repo, path, open };
}

const askedFor = async ({ id }: { id: number }) => {
  const rows = await db
    .select()
    .from(reviews)
    .where(eq(reviews.issueId, id))
    .orderBy(asc(reviews.id));
  return rows.map(({ state, reviewerId, teamId }) => [state, reviewerId ?? 0, teamId ?? 0]);
};

describe("the owners of code", () => {
  it("are asked to review what changes it, users and teams", async () => {
    const [owner, go, docs, all] = [
      await make.user(),
      await make.user(),
      await make.user(),
      await make.user(),
    ];
    const org = await make.org([owner]);
    const team = await make.team(org);
    const text = [
      `.*\\.go @${go.name.toUpperCase()} @nobody-of-this-name`,
      `docs/.* @${docs.name}`,
      `src/.* @${org.name}/${team.name} @other-org/${team.name}`,
      `!docs/secret.* @${all.name}`,
      "[ @broken",
    ].join("\n");
    const owned = await makeOwned(owner, org, { CODEOWNERS: text }, ["src/a.go"]);
    const pull = await owned.open();
    await drawConsequences();
    expect(await askedFor(pull)).toEqual(
      expect.arrayContaining([
        ["request_review", go.id, 0],
        ["request_review", all.id, 0],
        ["request_review", 0, team.id],
      ]),
    );
    expect((await askedFor(pull)).length).toBe(3);
    await drawConsequences();
    expect((await askedFor(pull)).length).toBe(3);
  });

  it("are asked once a draft is ready, but neither the poster nor who has reviewed", async () => {
    const [owner, other, third] = [await make.user(), await make.user(), await make.user()];
    const text = `.* @${owner.name} @${other.name} @${third.name}\n`;
    const { path, open } = await makeOwned(owner, owner, { "docs/CODEOWNERS": text }, ["b"]);
    const pull = await open("WIP: a topic");
    await drawConsequences();
    expect(await askedFor(pull)).toEqual([]);
    const json = { event: "APPROVED" };
    await call("POST", `${path}/${pull.number}/reviews`, { as: other, json });
    await call("PATCH", `${path}/${pull.number}`, { as: owner, json: { title: "A topic" } });
    await drawConsequences();
    expect(await askedFor(pull)).toEqual([
      ["approved", other.id, 0],
      ["request_review", third.id, 0],
    ]);
  });

  // Who writes the head would choose their own reviewers.
  it("are those of the base, not those that the head names", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const { path, repo } = await makeOwned(owner, owner, {}, []);
    const history = new History();
    const base = history.commit({ files: { "a.txt": "a\n" } });
    const files = { "a.txt": "a\n", CODEOWNERS: `.* @${other.name}\n` };
    const head = history.commit({ files, parents: [base] });
    await storeRefs(repo, [{ ref: "refs/heads/named", oid: head }], history.build());
    const json = { title: "Mine", head: "named", base: "main" };
    const { body } = await call("POST", path, { as: owner, json });
    await drawConsequences();
    expect(await askedFor(body)).toEqual([]);
  });

  it.each([
    ["the top", ["CODEOWNERS", "docs/CODEOWNERS", ".gitea/CODEOWNERS"]],
    ["docs", ["docs/CODEOWNERS", ".gitea/CODEOWNERS"]],
    [".gitea", [".gitea/CODEOWNERS"]],
  ])("are those of the first file: in %s", async (_, paths) => {
    const [owner, first, later] = [await make.user(), await make.user(), await make.user()];
    const named = paths.map((path, at) => [path, `.* @${at === 0 ? first.name : later.name}\n`]);
    const { open } = await makeOwned(owner, owner, Object.fromEntries(named), ["b"]);
    const pull = await open();
    await drawConsequences();
    expect(await askedFor(pull)).toEqual([["request_review", first.id, 0]]);
  });

  it("are asked about files that are deleted", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const { path, repo } = await makeOwned(owner, owner, {}, []);
    const history = new History();
    const files = { CODEOWNERS: `gone\\.c @${other.name}\n` };
    const base = history.commit({ files: { ...files, "gone.c": "1" } });
    const head = history.commit({ files, parents: [base] });
    const refs = [
      { ref: "refs/heads/base", oid: base },
      { ref: "refs/heads/head", oid: head },
    ];
    await storeRefs(repo, refs, history.build());
    const json = { title: "Gone", head: "head", base: "base" };
    const { body } = await call("POST", path, { as: owner, json });
    await drawConsequences();
    expect(await askedFor(body)).toEqual([["request_review", other.id, 0]]);
  });

  // SECURITY: a request reveals the pull request, its title and its repository.
  it("are asked only as far as they may read the pull request", async () => {
    const [owner, reader, stranger] = [await make.user(), await make.user(), await make.user()];
    const { repo, open } = await makeOwned(
      owner,
      owner,
      { CODEOWNERS: `.* @${reader.name} @${stranger.name}\n` },
      ["b"],
      { isPrivate: true, visibility: "private" },
    );
    await make.collaborator(repo, reader, 1);
    const pull = await open();
    await drawConsequences();
    expect(await askedFor(pull)).toEqual([["request_review", reader.id, 0]]);
  });
});
