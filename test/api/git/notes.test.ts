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

/**
 * A repository of two commits on `main`, the first with a note at the path `notePath`, and two
 * notes commits.
 */
async function makeNoted(
  owner: TestUser,
  notePath: (oid: string) => string = (oid) => oid,
  fields: Parameters<typeof make.repo>[1] = {},
) {
  const repo = await make.repo(owner, fields);
  const history = new History();
  const noted = history.commit({ files: { a: "a" }, message: "Noted" });
  const bare = history.commit({ files: { a: "b" }, parents: [noted], message: "Not noted" });
  const files = { [notePath(noted)]: "Tests: bestanden ✓\n" };
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
  it("returns the note and the commit that last changed it", async () => {
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

  // Git splits names into directories when there are many notes.
  it.each([1, 2, 3, 19])("finds a note below %i directories", async (depth) => {
    const notePath = (oid: string): string => {
      const pairs = oid.match(/../g) ?? [];
      return [...pairs.slice(0, depth), pairs.slice(depth).join("")].join("/");
    };
    const { repo, noted, written } = await makeNoted(await make.user(), notePath);
    const { status, body } = await noteOf(repo, noted);
    expect([status, body.message, body.commit?.sha]).toEqual([
      200,
      "Tests: bestanden ✓\n",
      written,
    ]);
  });

  it("answers 404 for a commit without a note, and for names that are not commits", async () => {
    const { repo, bare } = await makeNoted(await make.user());
    const long = "x".repeat(5000);
    const names = [bare, "main", "none", "e".repeat(40), "e", long];
    for (const name of names) {
      expect(await noteOf(repo, name), name).toMatchObject({ status: 404, body: "" });
    }
  });

  it("answers 404 in a repository without notes", async () => {
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

  it("answers 404 to callers who may not see the repository", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    const { repo } = await makeNoted(owner, undefined, { isPrivate: true });
    expect(await noteOf(repo, "noted")).toMatchObject({ status: 404, body: "" });
    expect(await noteOf(repo, "noted", stranger)).toMatchObject({ status: 404, body: "" });
    expect((await noteOf(repo, "noted", owner)).status).toBe(200);
  });
});

/**
 * Sends a request that must be refused, and asserts that refs, events, stored files and the note
 * are unchanged.
 */
async function refused(repo: TestRepo, send: () => ReturnType<typeof call>) {
  const admin = await make.admin();
  const snapshot = async () => {
    const { status, body } = await noteOf(repo, "noted", admin);
    return [await refsOf(repo), await eventsOf(repo), await filesOf(repo), status, body];
  };
  const before = await snapshot();
  const { status } = await send();
  expect(await snapshot()).toEqual(before);
  return status;
}

const INVALID_MESSAGES = ["", " \n\t\n", "a\u0000b", "\uD800", 7, null, [], "x".repeat(500_001)];

const headOf = async (repo: TestRepo) =>
  (await refsOf(repo)).find(({ name }) => name === "refs/notes/commits")?.oid;

describe("POST /repos/{owner}/{repo}/git/notes/{sha}", () => {
  it("writes a note as git does, and records a push", async () => {
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
    // The last Durable Object call is deferred: it marks the push as recorded.
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
    expect((await noteOf(repo, oid)).body).toMatchObject({ message: "first\n" });
  });

  it("refuses a second note, invalid messages, and names that are not commits", async () => {
    const owner = await make.user();
    const { repo, bare } = await makeNoted(owner);
    const send = (name: string, json: unknown) =>
      refused(repo, () => sendNote("POST", repo, name, { as: owner, json }));
    expect(await send("noted", { message: "again" })).toBe(409);
    for (const message of INVALID_MESSAGES) {
      expect(await send(bare, { message })).toBe(422);
    }
    const long = "x".repeat(5000);
    for (const name of ["none", "e".repeat(40), "e", long]) {
      expect(await send(name, { message: "x" }), name).toBe(404);
    }
  });
});

describe("PATCH /repos/{owner}/{repo}/git/notes/{sha}", () => {
  it("replaces a note at any path", async () => {
    const owner = await make.user();
    for (const notePath of [undefined, (oid: string) => `${oid.slice(0, 2)}/${oid.slice(2)}`]) {
      const { repo, noted } = await makeNoted(owner, notePath);
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

  it("refuses invalid messages", async () => {
    const owner = await make.user();
    const { repo } = await makeNoted(owner);
    for (const message of INVALID_MESSAGES) {
      const send = () => sendNote("PATCH", repo, "noted", { as: owner, json: { message } });
      expect(await refused(repo, send)).toBe(422);
    }
  });

  it("answers 404 for a commit without a note", async () => {
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
  it("require write access to the code, and a token that grants it", async () => {
    const owner = await make.user();
    const [reader, stranger] = [await make.user(), await make.user()];
    const { repo } = await makeNoted(owner, undefined, { isPrivate: true });
    await make.collaborator(repo, reader, 1);
    const narrow = await make.token(owner, { scopes: "read:repository" });
    const visible = await makeNoted(owner);
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
      expect(await send(visible.repo, {})).toBe(401);
      expect(await send(visible.repo, { as: stranger })).toBe(403);
    }
  });

  it("can't be changed in archives and mirrors, and with the code unit disabled", async () => {
    const owner = await make.user();
    const { repo } = await makeNoted(owner);
    for (const [set, status] of [
      [{ archivedAt: 1000 }, 423],
      [{ archivedAt: null, isMirror: true }, 403],
      [{ isMirror: false, hasCode: false }, 403],
    ] as const) {
      await db.update(repositories).set(set).where(eq(repositories.id, repo.id));
      for (const method of ["POST", "PATCH", "DELETE"]) {
        const sending = { as: owner, json: { message: "x" } };
        expect(await refused(repo, () => sendNote(method, repo, "main", sending))).toBe(status);
      }
    }
  });

  it("are not lost when written concurrently: refused writers get a conflict", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oids = ["a", "b", "c", "d"].map((message) => history.commit({ message }));
    const commands = oids.map((oid) => ({ ref: `refs/heads/${oid}x`, new: oid }));
    await pushCommands(owner, repo, commands, { pack: history.build() });
    const sending = { as: owner, json: { message: "x" } };
    const answers = await Promise.all(oids.map((oid) => sendNote("POST", repo, oid, sending)));
    const winners = oids.filter((_, at) => answers[at]?.status === 201);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect([1, 2, 3]).toContain(winners.length);
    for (const oid of oids) {
      expect((await noteOf(repo, oid)).status).toBe(winners.includes(oid) ? 200 : 404);
    }
  });
});
