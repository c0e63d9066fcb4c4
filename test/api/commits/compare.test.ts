import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

/** A repository whose branches `main` and `topic/new` both have two commits on one base. */
async function makeForked(owner: TestUser, fields: Parameters<typeof make.repo>[1] = {}) {
  const repo = await make.repo(owner, fields);
  const history = new History();
  const base = history.commit({ files: { a: "1\n" } });
  const main = history.commit({ files: { a: "2\n" }, parents: [base] });
  const older = history.commit({ files: { a: "1\n", b: "1\n" }, parents: [base] });
  const topic = history.commit({ files: { a: "1\n", b: "2\n" }, parents: [older] });
  const orphan = history.commit({ files: { c: "c" } });
  await pushCommands(
    owner,
    repo,
    [
      { ref: "refs/heads/main", new: main },
      { ref: "refs/heads/topic/new", new: topic },
      { ref: "refs/heads/orphan", new: orphan },
      { ref: "refs/tags/v1.0", new: history.tag(base, "v1.0") },
    ],
    { pack: history.build() },
  );
  return { repo, base, main, older, topic, orphan };
}

const compare = (repo: TestRepo, basehead: string, as?: TestUser) =>
  call("GET", `/repos/${repo.owner}/${repo.name}/compare/${basehead}`, as ? { as } : {});

describe("GET /repos/{owner}/{repo}/compare/{basehead}", () => {
  it("lists what the head has and the base has not", async () => {
    const owner = await make.user();
    const { repo, base, main, older, topic, orphan } = await makeForked(owner);
    const { answer, line } = await logged(() => compare(repo, "main...topic/new"));
    expect(answer).toMatchObject({
      status: 200,
      body: {
        total_commits: 2,
        commits: [
          { sha: topic, files: [{ filename: "b", status: "modified" }], stats: { total: 2 } },
          { sha: older, files: [{ filename: "b", status: "added" }], stats: { total: 1 } },
        ],
      },
    });
    expect(line).toMatchObject({ d1Rounds: 2, objectCalls: 1 });

    const shas = async (basehead: string) => {
      const { body } = await compare(repo, basehead);
      expect(body.total_commits, basehead).toBe(body.commits.length);
      return body.commits.map(({ sha }: { sha: string }) => sha);
    };
    expect(await shas("main..topic/new")).toEqual([topic, older]);
    expect(await shas("topic%2Fnew...main")).toEqual([main]);
    expect(await shas("v1.0...main")).toEqual([main]);
    expect(await shas("v1.0..v1.0")).toEqual([]);
    expect(await shas("main...v1.0")).toEqual([]);
    expect(await shas("orphan...main")).toEqual([main, base]);
    expect(await shas("main...orphan")).toEqual([orphan]);
    expect(await shas(`${base.slice(0, 8)}...${older}`)).toEqual([older]);
    expect(await shas(`main...${owner.name.toUpperCase()}:topic/new`)).toEqual([topic, older]);
    expect(await shas("topic/new")).toEqual([topic, older]);
  });

  it("leaves out what is not asked for", async () => {
    const { repo } = await makeForked(await make.user());
    const { body } = await compare(repo, "main...orphan?stat=0&files=0&verification=0");
    expect(body.commits).toMatchObject([
      { stats: null, files: null, commit: { verification: null } },
    ]);
  });

  it("counts all commits, and tells the latest", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const root = history.commit();
    let tip = root;
    for (let at = 0; at < 260; at++) tip = history.commit({ parents: [tip] });
    const commands = [
      { ref: "refs/heads/main", new: root },
      { ref: "refs/heads/long", new: tip },
    ];
    await pushCommands(owner, repo, commands, { pack: history.build() });
    const { body } = await compare(repo, "main...long");
    expect([body.total_commits, body.commits.length, body.commits[0].sha]).toEqual([260, 250, tip]);
  });

  it("finds nothing where one side is no commit", async () => {
    const owner = await make.user();
    const stranger = await make.user();
    const { repo } = await makeForked(owner);
    const long = "x".repeat(5000);
    const sides = ["none", "", "...", "..%2Fmain", "main..", "a%00b", "%F0%9F%98%80", long];
    for (const side of [...sides, `${stranger.name}:main`, ":main", `${owner.name}:none`]) {
      const answer = await compare(repo, `main...${side}`);
      expect(answer, side).toMatchObject({ status: 404, body: "" });
    }
    for (const side of sides) {
      const answer = await compare(repo, `${side}...main`);
      expect(answer, side).toMatchObject({ status: 404, body: "" });
    }
    expect((await compare(await make.repo(owner), "main...topic")).status).toBe(404);
  });

  it("tells nobody about a repository that they may not see", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    const { repo } = await makeForked(owner, { isPrivate: true });
    expect(await compare(repo, "main...orphan")).toMatchObject({ status: 404, body: "" });
    expect(await compare(repo, "main...orphan", stranger)).toMatchObject({ status: 404, body: "" });
    expect((await compare(repo, "main...orphan", owner)).status).toBe(200);
  });
});
