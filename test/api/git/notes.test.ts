import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

/** A repository of two commits on `main`, the first with a note at `place`, and two commits of notes. */
async function makeNoted(
  owner: TestUser,
  place: (oid: string) => string = (oid) => oid,
  fields: Parameters<typeof make.repo>[1] = {},
) {
  const repo = await make.repo(owner, fields);
  const history = new History();
  const noted = history.commit({ files: { a: "a" }, message: "Noted" });
  const bare = history.commit({ files: { a: "b" }, parents: [noted], message: "Not noted" });
  const files = { [place(noted)]: "Tests: bestanden ✓\n" };
  const written = history.commit({ files, author: `Ada <${owner.email}>`, message: "Add a note" });
  const other = { ...files, ["e".repeat(40)]: "Of a commit that is not here\n" };
  const last = history.commit({ files: other, parents: [written], message: "Add another" });
  await pushCommands(
    owner,
    repo,
    [
      { ref: "refs/heads/main", new: bare },
      { ref: "refs/tags/noted", new: noted },
      { ref: "refs/notes/commits", new: last },
    ],
    { pack: history.build() },
  );
  return { repo, noted, bare, written };
}

const noteOf = (repo: TestRepo, name: string, as?: TestUser) =>
  call("GET", `/repos/${repo.owner}/${repo.name}/git/notes/${encodeURIComponent(name)}`, {
    ...(as && { as }),
  });

describe("GET /repos/{owner}/{repo}/git/notes/{sha}", () => {
  it("answers with the note and the commit that wrote it", async () => {
    const owner = await make.user();
    const { repo, noted, written } = await makeNoted(owner);
    const { answer, line } = await logged(() => noteOf(repo, noted));
    expect(answer).toMatchObject({
      status: 200,
      body: {
        message: "Tests: bestanden ✓\n",
        commit: {
          sha: written,
          author: { login: owner.name },
          commit: { message: "Add a note" },
          files: [{ filename: noted, status: "added" }],
          stats: { additions: 1 },
        },
      },
    });
    expect(line).toMatchObject({ d1Rounds: 2, objectCalls: 1 });
    for (const name of ["noted", noted.slice(0, 7), "refs/tags/noted"]) {
      expect((await noteOf(repo, name)).body, name).toEqual(answer.body);
    }
    const path = `/repos/${repo.owner}/${repo.name}/git/notes/noted`;
    const { body } = await call("GET", `${path}?stat=false&files=false&verification=false`);
    expect(body.commit).toMatchObject({ files: null, stats: null, commit: { verification: null } });
  });

  // Git cuts names into directories when there are many notes.
  it.each([1, 2, 3, 19])("finds it below %i directories", async (depth) => {
    const place = (oid: string): string => {
      const pairs = oid.match(/../g) ?? [];
      return [...pairs.slice(0, depth), pairs.slice(depth).join("")].join("/");
    };
    const { repo, noted, written } = await makeNoted(await make.user(), place);
    const { status, body } = await noteOf(repo, noted);
    expect([status, body.message, body.commit?.sha]).toEqual([
      200,
      "Tests: bestanden ✓\n",
      written,
    ]);
  });

  it("finds nothing for a commit without a note, or what is no commit", async () => {
    const { repo, bare } = await makeNoted(await make.user());
    const long = "x".repeat(5000);
    const names = [bare, "main", "none", "e".repeat(40), "e", "..", "../main", "a\u0000", long];
    for (const name of names) {
      expect(await noteOf(repo, name), name).toMatchObject({ status: 404, body: "" });
    }
  });

  it("finds nothing where there are no notes at all", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    expect((await noteOf(repo, "main")).status).toBe(404);
    const history = new History();
    const oid = history.commit();
    await pushCommands(owner, repo, [{ ref: "refs/heads/main", new: oid }], {
      pack: history.build(),
    });
    expect((await noteOf(repo, oid)).status).toBe(404);
  });

  it("tells nobody about a repository that they may not see", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    const { repo } = await makeNoted(owner, undefined, { isPrivate: true });
    expect(await noteOf(repo, "noted")).toMatchObject({ status: 404, body: "" });
    expect(await noteOf(repo, "noted", stranger)).toMatchObject({ status: 404, body: "" });
    expect((await noteOf(repo, "noted", owner)).status).toBe(200);
  });
});
