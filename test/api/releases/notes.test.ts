import { describe, expect, it } from "vitest";

import { insertManyMerged } from "../../support/bulk.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makePull } from "../../support/pulls.ts";
import { storeRefs } from "../../support/push.ts";
import { makeRelease } from "../../support/releases.ts";

/** More merged pull requests than notes list. */
const MANY = 620;

const pathOf = ({ owner, name }: TestRepo, rest = "/generate-notes") =>
  `/repos/${owner}/${name}/releases${rest}`;
const htmlOf = ({ owner, name }: TestRepo) => `https://forge.example/${owner}/${name}`;

/** A history of five commits with tags on the first and the third, and a commit beside it. */
async function makeWorld(fields: Parameters<typeof make.repo>[1] = {}) {
  const [owner, newcomer] = [await make.user(), await make.user()];
  const repo = await make.repo(owner, fields);
  const history = new History();
  const commits: string[] = [];
  for (let at = 0; at < 5; at++) commits.push(history.commit({ parents: commits.slice(-1) }));
  const beside = history.commit({ parents: commits.slice(0, 1), message: "beside\n" });
  const [first = "", , third = "", , tip = ""] = commits;
  const refs = [
    { ref: "refs/heads/main", oid: tip },
    { ref: "refs/heads/beside", oid: beside },
    { ref: "refs/tags/v1", oid: first },
    { ref: "refs/tags/v2", oid: third },
  ];
  await storeRefs(repo, refs, history.build());
  const merge = (by: TestUser, title: string, mergeCommitOid: string, mergedAt: number) =>
    makePull(
      repo,
      { mergeCommitOid, mergedAt, mergerId: owner.id, mergeKind: "merge", isClosed: true },
      { posterId: by.id, title, isClosed: true },
    );
  const pulls = {
    old: await merge(owner, "Old", commits[1] ?? "", 1000),
    newer: await merge(newcomer, "Newer", commits[3] ?? "", 3000),
    latest: await merge(owner, "Latest", tip, 4000),
    beside: await merge(newcomer, "Beside", beside, 5000),
  };
  return { owner, newcomer, repo, pulls };
}

const generate = (repo: TestRepo, as: TestUser, json: object) =>
  call("POST", pathOf(repo), { as, json });

describe("POST /repos/{owner}/{repo}/releases/generate-notes", () => {
  it("lists what was merged since the last release, who is new, and the comparison", async () => {
    const { owner, newcomer, repo, pulls } = await makeWorld();
    await makeRelease(repo, { tagName: "v1", createdAt: 1000 });
    await makeRelease(repo, { tagName: "v2", createdAt: 2000 });
    await makeRelease(repo, { tagName: "v2-draft", createdAt: 9000, isDraft: true });
    const html = htmlOf(repo);
    const lines = [
      "## What's Changed",
      `* Newer by @${newcomer.name} in ${html}/pulls/${pulls.newer.number}`,
      `* Latest by @${owner.name} in ${html}/pulls/${pulls.latest.number}`,
      "",
      "## New Contributors",
      `* @${newcomer.name} made their first contribution in ${html}/pulls/${pulls.newer.number}`,
      "",
      `**Full Changelog**: ${html}/compare/v2...v3`,
    ];
    expect(await generate(repo, owner, { tag_name: "v3" })).toMatchObject({
      status: 200,
      body: { name: "v3", body: lines.join("\n") },
    });
  });

  it("goes from a given tag to an existing one, or from the beginning", async () => {
    const { owner, repo } = await makeWorld();
    const between = await generate(repo, owner, { tag_name: "v2", previous_tag_name: "v1" });
    expect(between.body.body).toContain("* Old by");
    expect(between.body.body).not.toContain("Newer");
    expect(between.body.body).toContain("/compare/v1...v2");
    const all = await generate(repo, owner, { tag_name: "v9" });
    expect(all.body.body).toContain("* Old by");
    expect(all.body.body).toContain("* Latest by");
    expect(all.body.body).not.toContain("Beside");
    expect(all.body.body).toContain(`${htmlOf(repo)}/commits/tag/v9`);
    const branch = { tag_name: "v9", target_commitish: "beside", previous_tag_name: "v1" };
    const ofBranch = await generate(repo, owner, branch);
    expect(ofBranch.body.body).toContain("* Beside by");
    expect(ofBranch.body.body).not.toContain("Latest");
  });

  it("is appended to the text of a new release, and names it", async () => {
    const { owner, repo } = await makeWorld();
    await makeRelease(repo, { tagName: "v2" });
    const json = { tag_name: "v3", body: "Hello", generate_notes: true };
    const made = await call("POST", pathOf(repo, ""), { as: owner, json });
    expect(made).toMatchObject({ status: 201, body: { name: "v3" } });
    expect(made.body.body).toMatch(/^Hello\n\n## What's Changed\n\* Newer/);
  });

  it("lists the first of very many, and the number of the others", async () => {
    const [owner, helper] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    const history = new History();
    const commits: string[] = [];
    for (let at = 0; at <= MANY; at++) {
      commits.push(history.commit({ parents: commits.slice(-1), message: `${at}\n` }));
    }
    const [first = "", ...others] = commits;
    const refs = [
      { ref: "refs/heads/main", oid: others.at(-1) ?? "" },
      { ref: "refs/tags/v1", oid: first },
    ];
    await storeRefs(repo, refs, history.build());
    await makeRelease(repo, { tagName: "v1", createdAt: 1 });
    await insertManyMerged(repo, [owner, helper], others);

    const { status, body } = await generate(repo, owner, { tag_name: "v2" });

    expect(status).toBe(200);
    const text = body.body as string;
    const listed = [...text.matchAll(/^\* Change (\d+) /gm)].map(([, at]) => Number(at));
    expect(listed).toEqual(Array.from(listed, (_, at) => at));
    expect(listed.length).toBeGreaterThan(100);
    expect(text).toContain(`* … and ${MANY - listed.length} more`);
    const newcomers = text.split("## New Contributors\n")[1]?.split("\n\n")[0]?.split("\n");
    expect(newcomers).toHaveLength(2);
    expect(text.length).toBeLessThan(60_000);
    const json = { tag_name: "v2", generate_notes: true };
    const made = await call("POST", pathOf(repo, ""), { as: owner, json });
    expect(made).toMatchObject({ status: 201, body: { body: text } });
  });

  it("refuses what is not there, empty repositories and readers", async () => {
    const { owner, newcomer, repo } = await makeWorld();
    const empty = await make.repo(owner, { isEmpty: true });
    const answers = [
      [404, await generate(repo, owner, { tag_name: "v3", previous_tag_name: "nowhere" })],
      [404, await generate(repo, owner, { tag_name: "v3", target_commitish: "nowhere" })],
      [422, await generate(repo, owner, { tag_name: "a..b" })],
      [422, await generate(repo, owner, {})],
      [422, await generate(empty, owner, { tag_name: "v1" })],
      [403, await generate(repo, newcomer, { tag_name: "v3" })],
      [401, await call("POST", pathOf(repo), { json: { tag_name: "v3" } })],
    ] as const;
    for (const [status, answer] of answers) expect(answer).toMatchObject({ status });
  });

  // SECURITY: titles of pull requests are for those who may read them.
  it("lists no pull requests where they are off", async () => {
    const { owner, repo } = await makeWorld({ hasPullRequests: false });
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    const { status, body } = await generate(repo, writer, { tag_name: "v3" });
    expect(status).toBe(200);
    expect(body.body).not.toContain("Latest");
    expect((await generate(repo, owner, { tag_name: "v3" })).body.body).toContain("Latest");
  });
});
