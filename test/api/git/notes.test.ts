import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";

import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { History } from "../../support/commits.ts";
import { eventsOf } from "../../support/events.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { filesOf, pushCommands, refsOf } from "../../support/push.ts";
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

const sendNote = (
  method: string,
  repo: TestRepo,
  name: string,
  sending: Parameters<typeof call>[2],
) =>
  call(method, `/repos/${repo.owner}/${repo.name}/git/notes/${encodeURIComponent(name)}`, sending);

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
    const path = `/repos/${repo.owner}/${repo.name}/git/notes/refs/tags/noted`;
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

/** Runs what shall be refused, and proves that nothing has come of it. */
async function refused(repo: TestRepo, send: () => ReturnType<typeof call>) {
  const look = async () => [await refsOf(repo), await eventsOf(repo), await filesOf(repo)];
  const before = await look();
  const { status } = await send();
  expect(await look()).toEqual(before);
  return status;
}

const headOf = async (repo: TestRepo) =>
  (await refsOf(repo)).find(({ name }) => name === "refs/notes/commits")?.oid;

describe("POST /repos/{owner}/{repo}/git/notes/{sha}", () => {
  it("writes a note as git does, and announces it as a push", async () => {
    const owner = await make.user();
    const { repo, bare } = await makeNoted(owner);
    const before = await headOf(repo);
    const json = { message: "\n  Tests: passed ✓  \n\n\nby nobody\t\n\n" };
    const { answer, line } = await logged(() =>
      sendNote("POST", repo, "main", { as: owner, json }),
    );
    const head = await headOf(repo);
    expect(answer).toMatchObject({
      status: 201,
      body: {
        message: "  Tests: passed ✓\n\nby nobody\n",
        commit: {
          sha: head,
          parents: [{ sha: before }],
          author: { login: owner.name },
          commit: {
            message: "Notes added by 'git notes add'\n",
            author: { name: owner.name, email: owner.email },
          },
          files: [{ filename: bare, status: "added" }],
        },
      },
    });
    // The last call of the object waits for nobody.
    expect(line).toMatchObject({ d1Rounds: 3, objectCalls: 3 });
    expect((await noteOf(repo, bare.slice(0, 8), owner)).body).toEqual(answer.body);
    expect((await noteOf(repo, "noted")).status).toBe(200);
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      type: "repository.pushed",
      actorId: owner.id,
      payload: { updates: [{ ref: "refs/notes/commits", before, after: head }] },
    });
  });

  it("writes the first note of a repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oid = history.commit();
    const pack = history.build();
    await pushCommands(owner, repo, [{ ref: "refs/heads/main", new: oid }], { pack });
    const json = { message: "first" };
    const query = `${oid.slice(0, 4)}?stat=false&files=false`;
    const path = `/repos/${repo.owner}/${repo.name}/git/notes/${query}`;
    const { status, body } = await call("POST", path, { as: owner, json });
    expect([status, body]).toMatchObject([
      201,
      { message: "first\n", commit: { parents: [], files: null, stats: null } },
    ]);
  });

  it("refuses a second note, words that say nothing, and what is no commit", async () => {
    const owner = await make.user();
    const { repo, bare } = await makeNoted(owner);
    const send = (name: string, json: unknown) =>
      refused(repo, () => sendNote("POST", repo, name, { as: owner, json }));
    expect(await send("noted", { message: "again" })).toBe(409);
    for (const message of ["", " \n\t\n", "a\u0000b", "\uD800", 7, null, [], "x".repeat(500_001)]) {
      expect(await send(bare, { message })).toBe(422);
    }
    const long = "x".repeat(5000);
    for (const name of ["none", "e".repeat(40), "e", "..", "../main", "a\u0000", long]) {
      expect(await send(name, { message: "x" }), name).toBe(404);
    }
  });
});

describe("PATCH /repos/{owner}/{repo}/git/notes/{sha}", () => {
  it("puts other words into a note, wherever it lies", async () => {
    const owner = await make.user();
    for (const place of [undefined, (oid: string) => `${oid.slice(0, 2)}/${oid.slice(2)}`]) {
      const { repo, noted } = await makeNoted(owner, place);
      const json = { message: "other words" };
      const { status, body } = await sendNote("PATCH", repo, "noted", { as: owner, json });
      expect([status, body.message, body.commit.commit.message]).toEqual([
        200,
        "other words\n",
        "Notes added by 'git notes edit'\n",
      ]);
      expect((await noteOf(repo, noted, owner)).body).toEqual(body);
    }
  });

  it("finds nothing where there is no note", async () => {
    const owner = await make.user();
    const { repo, bare } = await makeNoted(owner);
    for (const name of [bare, "none"]) {
      const send = () => sendNote("PATCH", repo, name, { as: owner, json: { message: "x" } });
      expect(await refused(repo, send)).toBe(404);
    }
  });
});

describe("DELETE /repos/{owner}/{repo}/git/notes/{sha}", () => {
  it("removes a note and leaves the others", async () => {
    const owner = await make.user();
    const { repo } = await makeNoted(owner);
    const json = { message: "another" };
    expect((await sendNote("POST", repo, "main", { as: owner, json })).status).toBe(201);
    expect((await sendNote("DELETE", repo, "noted", { as: owner })).status).toBe(204);
    expect((await noteOf(repo, "noted")).status).toBe(404);
    expect((await noteOf(repo, "main")).status).toBe(200);
    const again = () => sendNote("DELETE", repo, "noted", { as: owner });
    expect(await refused(repo, again)).toBe(404);
    expect((await sendNote("POST", repo, "noted", { as: owner, json })).status).toBe(201);
  });
});

describe("notes", () => {
  it("are written by those alone who may write there", async () => {
    const owner = await make.user();
    const [reader, stranger] = [await make.user(), await make.user()];
    const { repo } = await makeNoted(owner, undefined, { isPrivate: true });
    await make.collaborator(repo, reader, 1);
    const narrow = await make.token(owner, { scopes: "read:repository" });
    const open = await makeNoted(owner);
    for (const [method, name] of [
      ["POST", "main"],
      ["PATCH", "noted"],
      ["DELETE", "noted"],
    ] as const) {
      const json = { message: "x" };
      const send = (to: TestRepo, sending: object) =>
        refused(to, () => sendNote(method, to, name, { json, ...sending }));
      expect(await send(repo, {})).toBe(404);
      expect(await send(repo, { as: stranger })).toBe(404);
      expect(await send(repo, { as: reader })).toBe(403);
      expect(await send(repo, { token: narrow })).toBe(403);
      expect(await send(open.repo, {})).toBe(401);
      expect(await send(open.repo, { as: stranger })).toBe(403);
    }
  });

  it("stay as they are in what is archived, a mirror or without code", async () => {
    const owner = await make.user();
    const { repo } = await makeNoted(owner);
    for (const [set, status] of [
      [{ archivedAt: 1000 }, 423],
      [{ archivedAt: null, isMirror: true }, 403],
      [{ isMirror: false, hasCode: false }, 404],
    ] as const) {
      await db.update(repositories).set(set).where(eq(repositories.id, repo.id));
      for (const method of ["POST", "PATCH", "DELETE"]) {
        const sending = { as: owner, json: { message: "x" } };
        expect(await refused(repo, () => sendNote(method, repo, "main", sending))).toBe(status);
      }
    }
  });

  it("are not lost when several are written at once: all but one are told to try again", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oids = ["a", "b", "c", "d"].map((message) => history.commit({ message }));
    const commands = oids.map((oid) => ({ ref: `refs/heads/${oid}x`, new: oid }));
    await pushCommands(owner, repo, commands, { pack: history.build() });
    const sending = { as: owner, json: { message: "x" } };
    const answers = await Promise.all(oids.map((oid) => sendNote("POST", repo, oid, sending)));
    const won = oids.filter((_, at) => answers[at]?.status === 201);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect([1, 2, 3]).toContain(won.length);
    for (const oid of oids) {
      expect((await noteOf(repo, oid)).status).toBe(won.includes(oid) ? 200 : 404);
    }
  });
});
