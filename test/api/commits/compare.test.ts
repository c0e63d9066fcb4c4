import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

/** A repository whose branches `main` and `topic/new` have one and two commits on a common base. */
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
  it("lists the commits of the head that the base does not have", async () => {
    const owner = await make.user();
    const { repo, base, main, older, topic } = await makeForked(owner);
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
    expect(await shas(`${base.slice(0, 8)}...${older}`)).toEqual([older]);
    expect(await shas(`main...${owner.name.toUpperCase()}:topic/new`)).toEqual([topic, older]);
    expect(await shas("topic/new")).toEqual([topic, older]);
  });

  it("returns the ahead and behind counts, the merge base and the changed files", async () => {
    const owner = await make.user();
    const { repo, base, main, topic, orphan } = await makeForked(owner);
    const { body } = await compare(repo, "main...topic/new");
    expect(body).toMatchObject({ ahead_by: 2, behind_by: 1, merge_base_commit: { sha: base } });
    const at = `${repo.owner}/${repo.name}`;
    expect(body.files).toEqual([
      {
        filename: "b",
        sha: expect.stringMatching(/^[0-9a-f]{40}$/),
        status: "added",
        additions: 1,
        deletions: 0,
        changes: 1,
        html_url: `https://forge.example/${at}/src/commit/${topic}/b`,
        contents_url: `https://forge.example/api/v1/repos/${at}/contents/b?ref=${topic}`,
        raw_url: `https://forge.example/${at}/raw/commit/${topic}/b`,
      },
    ]);
    const direct = await compare(repo, "topic/new..main");
    expect(direct.body.files).toMatchObject([
      { filename: "a", status: "changed", additions: 1, deletions: 1, changes: 2 },
      { filename: "b", status: "deleted", additions: 0, deletions: 1 },
    ]);
    expect(direct.body.files[1].contents_url).toContain(`/contents/b?ref=${topic}`);
    expect(direct.body.files[0].contents_url).toContain(`/contents/a?ref=${main}`);
    expect((await compare(repo, `${orphan}...${orphan}`)).body).toMatchObject({
      total_commits: 0,
      ahead_by: 0,
      behind_by: 0,
      merge_base_commit: { sha: orphan },
      files: [],
    });
  });

  it("lists no commits of unrelated histories, and counts those of each side", async () => {
    const owner = await make.user();
    const { repo, main, orphan } = await makeForked(owner);
    const forker = await make.user();
    const fork = await call("POST", `/repos/${repo.owner}/${repo.name}/forks`, {
      as: forker,
      json: {},
    });
    expect(fork.status).toBe(202);
    const none = { total_commits: 0, commits: [], merge_base_commit: null };
    const added = (filename: string) => ({ filename, status: "added" });
    for (const [basehead, ahead, behind, files] of [
      ["main...orphan", 1, 2, [added("c")]],
      ["orphan...main", 2, 1, [added("a")]],
      ["v1.0...orphan", 1, 1, [added("c")]],
      [`${main}...${orphan}`, 1, 2, [added("c")]],
      ["orphan", 1, 2, [added("c")]],
      [`orphan...${forker.name}:main`, 2, 1, [added("a")]],
    ] as const) {
      const answer = await compare(repo, basehead);
      expect([basehead, answer]).toMatchObject([
        basehead,
        { status: 200, body: { ...none, ahead_by: ahead, behind_by: behind, files } },
      ]);
      expect(answer.headers.get("X-Total-Count")).toBe("0");
    }
    // A page of nothing is empty, too.
    expect((await compare(repo, "main...orphan?page=2&limit=1")).body.commits).toEqual([]);
    // With two dots, they are those that `git log` lists.
    const files = [{ filename: "a", status: "deleted" }, added("c")];
    for (const basehead of ["main..orphan", `main..${forker.name}:orphan`]) {
      const answer = await compare(repo, basehead);
      expect(answer.body, basehead).toMatchObject({
        total_commits: 1,
        commits: [{ sha: orphan }],
        merge_base_commit: null,
        ahead_by: 1,
        behind_by: 2,
        files,
      });
      expect(answer.headers.get("X-Total-Count")).toBe("1");
    }
  });

  it("returns the commits in pages", async () => {
    const { repo, older, topic } = await makeForked(await make.user());
    const { body, headers } = await compare(repo, "main...topic/new?limit=1&page=2");
    expect(body).toMatchObject({ total_commits: 2, commits: [{ sha: older }] });
    expect(headers.get("X-Total-Count")).toBe("2");
    expect(headers.get("Link")).toContain('page=1>; rel="prev"');
    const first = await compare(repo, "main...topic/new?limit=1");
    expect(first.body.commits).toMatchObject([{ sha: topic }]);
    expect(first.headers.get("X-HasMore")).toBe("true");
    expect((await compare(repo, "main...topic/new?page=9")).body.commits).toEqual([]);
  });

  it("omits parts that are not requested", async () => {
    const { repo } = await makeForked(await make.user());
    const { body } = await compare(repo, "v1.0...main?stat=0&files=0&verification=0");
    expect(body.files).toBeNull();
    expect(body.commits).toMatchObject([
      { stats: null, files: null, commit: { verification: null } },
    ]);
  });

  it("counts all commits, and lists the latest 250", async () => {
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

  it("answers 404 if either side is not a commit", async () => {
    const owner = await make.user();
    const stranger = await make.user();
    const { repo } = await makeForked(owner);
    const long = "x".repeat(5000);
    const sides = ["none", "", "%F0%9F%98%80", long];
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

  it("answers 404 to callers who may not see the repository", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    const { repo } = await makeForked(owner, { isPrivate: true });
    expect(await compare(repo, "main...orphan")).toMatchObject({ status: 404, body: "" });
    expect(await compare(repo, "main...orphan", stranger)).toMatchObject({ status: 404, body: "" });
    expect((await compare(repo, "main...orphan", owner)).status).toBe(200);
  });
});

describe("a comparison across forks", () => {
  /** A fork of `repo` with a commit of its own, on the branch `its`, or `file` if given. */
  async function makeFork(repo: TestRepo, as: TestUser, parent: string, file = "own") {
    const { body } = await call("POST", `/repos/${repo.owner}/${repo.name}/forks`, {
      as,
      json: { name: `${repo.name}-${file}` },
    });
    const fork = { ...repo, id: body.id, owner: as.name, name: body.name };
    const history = new History();
    const oid = history.commit({ files: { a: "1\n", [file]: "x\n" }, parents: [parent] });
    const ref = `refs/heads/${file === "own" ? "its" : file}`;
    expect(
      (await pushCommands(as, fork, [{ ref, new: oid }], { pack: history.build() })).body,
    ).toContain("ok");
    return { fork, oid };
  }

  it("finds the head in a fork, in the parent, and in another fork of the network", async () => {
    const [owner, ada, bob] = [await make.user(), await make.user(), await make.user()];
    const { repo, base, main } = await makeForked(owner);
    const { fork: adas, oid } = await makeFork(repo, ada, base);
    const { fork: bobs, oid: bobsOid } = await makeFork(adas, bob, base, "bobs");

    const { answer, line } = await logged(() => compare(repo, `main...${ada.name}:its`));
    expect(answer).toMatchObject({
      status: 200,
      body: {
        commits: [{ sha: oid, url: expect.stringContaining(`/${ada.name}/${adas.name}/`) }],
        ahead_by: 1,
        behind_by: 1,
        merge_base_commit: { sha: base, url: expect.stringContaining(`/${owner.name}/`) },
        files: [{ filename: "own", contents_url: expect.stringContaining(`/${ada.name}/`) }],
      },
    });
    // One call of each repository's Durable Object.
    expect(line).toMatchObject({ d1Rounds: 2, objectCalls: 2 });
    const shas = async (of: TestRepo, basehead: string) =>
      (await compare(of, basehead)).body.commits.map(({ sha }: { sha: string }) => sha);
    expect(await shas(repo, `main...${ada.name}%2F${adas.name}:its`)).toEqual([oid]);
    expect(await shas(repo, `main...${ada.name.toUpperCase()}:${oid}`)).toEqual([oid]);
    expect(await shas(adas, `its...${owner.name}:main`)).toEqual([main]);
    expect(await shas(bobs, `bobs...${owner.name}:main`)).toEqual([main]);
    expect(await shas(repo, `main...${bob.name}:bobs`)).toEqual([bobsOid]);
    expect(await shas(bobs, `bobs...${ada.name}:its`)).toEqual([oid]);
    expect(await shas(repo, `main...${owner.name}/${repo.name}:topic/new`)).toHaveLength(2);
  });

  // SECURITY: a fork network shares packs, but access to their objects is per repository.
  it("finds no commit of one fork in another by id", async () => {
    const [owner, ada] = [await make.user(), await make.user()];
    const { repo, base, main } = await makeForked(owner);
    const { fork, oid } = await makeFork(repo, ada, base);
    const history = new History();
    const later = history.commit({ files: { later: "1" }, parents: [main] });
    await pushCommands(owner, repo, [{ ref: "refs/heads/later", new: later }], {
      pack: history.build(),
    });
    const gone = [
      [repo, `${oid}...${ada.name}:its`],
      [repo, `main...${oid}`],
      [repo, `main...${ada.name}:${later}`],
      [repo, `main...${ada.name}:${later.slice(0, 12)}`],
      [fork, `${later}...${owner.name}:main`],
    ] as const;
    for (const [of, basehead] of gone) {
      expect(await compare(of, basehead), basehead).toMatchObject({ status: 404, body: "" });
    }
  });

  // SECURITY: the existence of a private fork must not be revealed.
  it("answers for an invisible fork exactly as for a missing one", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    // Forks of a private account are visible to that account only.
    const ada = await make.user({ visibility: "private" });
    const { repo, base } = await makeForked(owner);
    const { fork, oid } = await makeFork(repo, ada, base);
    const heads = [`${ada.name}:its`, `${ada.name}/${fork.name}:its`, `${ada.name}:${oid}`];
    for (const head of heads) {
      for (const as of [undefined, stranger, owner]) {
        const answer = await compare(repo, `main...${head}`, as);
        const nobody = await compare(repo, "main...nobody-at-all:its", as);
        expect(answer, head).toMatchObject({ status: 404, body: "" });
        expect(Object.fromEntries(answer.headers)).toEqual({
          ...Object.fromEntries(nobody.headers),
          "x-request-id": expect.any(String),
        });
      }
      expect((await compare(repo, `main...${head}`, ada)).status).toBe(200);
    }
    // Nor can a fork with the code unit disabled, except by those who can enable it.
    const friend = await make.user();
    await make.collaborator(fork, friend, 1);
    const their = `main...${ada.name}:its`;
    expect((await compare(repo, their, friend)).status).toBe(200);
    const json = { has_code: false };
    expect((await call("PATCH", `/repos/${ada.name}/${fork.name}`, { as: ada, json })).status).toBe(
      200,
    );
    expect((await compare(repo, their, friend)).status).toBe(404);
    expect((await compare(repo, their, ada)).status).toBe(200);
  });

  it("answers 404 for repositories outside the fork network", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const { repo } = await makeForked(owner);
    const { repo: elsewhere } = await makeForked(other);
    const heads = [":", "/", "/:main", `${other.name}/:main`, `/${elsewhere.name}:main`];
    for (const head of [
      ...heads,
      `${other.name}:main`,
      `${other.name}/${elsewhere.name}:main`,
      `${other.name}:`,
      `${other.name}/${"x".repeat(5000)}:main`,
      `%00:main`,
    ]) {
      const answer = await compare(repo, `main...${head}`);
      expect(answer, head).toMatchObject({ status: 404, body: "" });
    }
  });
});
