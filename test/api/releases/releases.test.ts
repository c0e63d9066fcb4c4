import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, releases, repositories } from "../../../src/db/schema/index.ts";
import { CONSEQUENCES } from "../../../src/domain/operations/consequences/consequences.ts";
import { withdrawUntagged } from "../../../src/domain/packages/releases/withdraw-untagged.ts";
import type { RecordedEvent } from "../../../src/events/consequence.ts";
import { WorkBudget } from "../../../src/lib/work-budget.ts";
import { call } from "../../support/call.ts";
import { pushQuietly } from "../../support/consequences.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { readAll } from "../../support/list.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeTagRule } from "../../support/protections.ts";
import { makeCommit, refsOf, storePush } from "../../support/push.ts";
import { makeAsset, makeRelease } from "../../support/releases.ts";
import { systemCtx } from "../../support/system.ts";
import { makeTag } from "../../support/tag.ts";

const pathOf = ({ owner, name }: TestRepo, rest: number | string = "") =>
  `/repos/${owner}/${name}/releases${rest === "" ? "" : `/${rest}`}`;

/** A repository whose `main` has one commit, with a writer and a stranger. */
async function makeWorld(fields: Parameters<typeof make.repo>[1] = {}) {
  const [owner, writer, stranger] = [await make.user(), await make.user(), await make.user()];
  const repo = await make.repo(owner, fields);
  await make.collaborator(repo, writer, 2);
  const commit = makeCommit(repo.name);
  await storePush(repo, "refs/heads/main", commit.oid, commit.pack);
  return { owner, writer, stranger, repo, commit };
}

const create = (repo: TestRepo, as: TestUser, json: object) =>
  call("POST", pathOf(repo), { as, json });
const edit = (repo: TestRepo, as: TestUser, id: number, json: object) =>
  call("PATCH", pathOf(repo, id), { as, json });
const tagOf = ({ owner, name }: TestRepo, tag: string) =>
  call("GET", `/repos/${owner}/${name}/tags/${tag}`);
const rowsOf = ({ id }: TestRepo) => db.select().from(releases).where(eq(releases.repoId, id));
const counterOf = async ({ owner, name }: TestRepo) =>
  (await call("GET", `/repos/${owner}/${name}`)).body.release_counter;
const tagsIn = (answer: { body: { tag_name: string }[] }) =>
  answer.body.map(({ tag_name }) => tag_name);
/** The events since the pushes that the world began with. */
const releaseEvents = async (repo: TestRepo) =>
  typesOf(await eventsOf(repo)).filter((type) => type.startsWith("release."));

describe("POST /repos/{owner}/{repo}/releases", () => {
  it("creates a release and its tag, and announces both", async () => {
    const { writer, repo, commit } = await makeWorld();
    const json = { tag_name: "v1/é", name: "One", body: "*first*", prerelease: false };
    const { status, body } = await create(repo, writer, json);
    expect(status).toBe(201);
    const html = `https://forge.example/${repo.owner}/${repo.name}`;
    const url = `https://forge.example/api/v1${pathOf(repo, body.id)}`;
    expect(body).toMatchObject({
      tag_name: "v1/é",
      target_commitish: "main",
      name: "One",
      body: "*first*",
      url,
      html_url: `${html}/releases/tag/v1/%C3%A9`,
      tarball_url: `${html}/archive/v1/%C3%A9.tar.gz`,
      zipball_url: `${html}/archive/v1/%C3%A9.zip`,
      upload_url: `${url}/assets`,
      draft: false,
      prerelease: false,
      author: { login: writer.name },
      assets: [],
    });
    expect(body.published_at).toBe(body.created_at);
    expect((await tagOf(repo, "v1/%C3%A9")).body).toMatchObject({
      id: commit.oid,
      commit: { sha: commit.oid },
    });
    expect((await call("GET", pathOf(repo, body.id), { as: writer })).body).toEqual(body);
    expect((await call("GET", pathOf(repo, "tags/v1/%C3%A9"), { as: writer })).body).toEqual(body);
    expect((await call("GET", pathOf(repo, "latest"), { as: writer })).body).toEqual(body);
    expect(await counterOf(repo)).toBe(1);
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      type: "release.published",
      actorId: writer.id,
      payload: { releaseId: body.id, tagName: "v1/é" },
    });
  });

  it("annotates the tag with a message, at the target", async () => {
    const { owner, repo, commit } = await makeWorld();
    const json = { tag_name: "v1", tag_message: "a note", target_commitish: commit.oid };
    expect(await create(repo, owner, json)).toMatchObject({
      status: 201,
      body: { target_commitish: commit.oid },
    });
    const { body } = await tagOf(repo, "v1");
    expect(body).toMatchObject({ message: "a note", commit: { sha: commit.oid } });
    expect(body.id).not.toBe(commit.oid);
  });

  it("takes a tag that is there, with its time and without a target", async () => {
    const { owner, repo, commit } = await makeWorld();
    const tag = makeTag(commit.oid, "v1", { at: 1_650_000_000 });
    await storePush(repo, "refs/tags/v1", tag.oid, tag.pack, commit.oid);
    expect(await create(repo, owner, { tag_name: "v1" })).toMatchObject({
      status: 201,
      body: { target_commitish: "", created_at: "2022-04-15T05:20:00Z" },
    });
    expect(await refsOf(repo)).toContainEqual(
      expect.objectContaining({ name: "refs/tags/v1", oid: tag.oid }),
    );
    expect(await releaseEvents(repo)).toEqual(["release.published"]);
  });

  // Regression: listing the releases afterwards gave 500.
  it("takes a tag with a date after the year 9999", async () => {
    const { owner, repo, commit } = await makeWorld();
    const tag = makeTag(commit.oid, "v1", { at: 99_999_999_999_999 });
    await storePush(repo, "refs/tags/v1", tag.oid, tag.pack, commit.oid);
    const created_at = "1970-01-01T00:00:00Z";
    expect(await create(repo, owner, { tag_name: "v1" })).toMatchObject({
      status: 201,
      body: { created_at },
    });
    expect(await call("GET", pathOf(repo))).toMatchObject({ status: 200, body: [{ created_at }] });
  });

  it("keeps a draft from others, without a tag and an event", async () => {
    const { owner, writer, stranger, repo } = await makeWorld();
    const json = { tag_name: "v1", draft: true, target_commitish: "nowhere" };
    const { status, body } = await create(repo, owner, json);
    expect({ status, body }).toMatchObject({ status: 201, body: { draft: true } });
    expect(await tagOf(repo, "v1")).toMatchObject({ status: 404 });
    expect(await releaseEvents(repo)).toEqual([]);
    expect(await counterOf(repo)).toBe(0);
    for (const path of [
      pathOf(repo, body.id),
      pathOf(repo, "tags/v1"),
      `${pathOf(repo, body.id)}/assets`,
    ]) {
      expect(await call("GET", path, { as: writer })).toMatchObject({ status: 200 });
      expect(await call("GET", path, { as: stranger })).toMatchObject({ status: 404 });
      expect(await call("GET", path)).toMatchObject({ status: 404 });
    }
    expect(await call("GET", pathOf(repo, "latest"), { as: owner })).toMatchObject({ status: 404 });
  });

  it.each([
    [{ name: "x" }, 422],
    [{ tag_name: "" }, 422],
    [{ tag_name: 3 }, 422],
    [{ tag_name: "a b..c" }, 422],
    [{ tag_name: " v1" }, 422],
    [{ tag_name: "-v1" }, 422],
    [{ tag_name: "a".repeat(256) }, 422],
    [{ tag_name: "a\u0000b" }, 422],
    [{ tag_name: "\ud800" }, 422],
    [{ tag_name: "a b", draft: true }, 422],
    [{ tag_name: "v1", name: "x".repeat(256) }, 422],
    [{ tag_name: "v1", body: "x".repeat(65_537) }, 422],
    [{ tag_name: "v1", tag_message: "a\u0000" }, 422],
    [{ tag_name: "v1", target_commitish: "a..b" }, 422],
    [{ tag_name: "v1", target_commitish: "nowhere" }, 404],
  ])("refuses %j and writes nothing", async (json, status) => {
    const { owner, repo } = await makeWorld();
    const before = await refsOf(repo);
    expect(await create(repo, owner, json)).toMatchObject({ status });
    expect(await rowsOf(repo)).toEqual([]);
    expect(await refsOf(repo)).toEqual(before);
  });

  it("refuses an empty repository, also for a draft", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isEmpty: true });
    for (const draft of [false, true]) {
      expect(await create(repo, owner, { tag_name: "v1", draft })).toMatchObject({
        status: 422,
        body: { message: "repo is empty" },
      });
    }
    expect(await rowsOf(repo)).toEqual([]);
  });

  // As in Gitea, names are compared without case, and a draft counts.
  it.each(["v1", "V1"])("refuses a second release of %s, also of a draft", async (tag_name) => {
    const { owner, repo } = await makeWorld();
    await create(repo, owner, { tag_name: "v1", draft: true });
    const before = await refsOf(repo);
    expect(await create(repo, owner, { tag_name })).toMatchObject({
      status: 409,
      body: { message: "Release is has no Tag" },
    });
    expect(await rowsOf(repo)).toMatchObject([{ tagName: "v1", isDraft: true }]);
    expect(await refsOf(repo)).toEqual(before);
  });

  it("refuses a tag that a rule keeps from the caller, and takes it once it is there", async () => {
    const { owner, writer, repo, commit } = await makeWorld();
    await makeTagRule(repo, { userIds: [owner.id] });
    for (const json of [{ tag_name: "v1" }, { tag_name: "v1", tag_message: "a note" }]) {
      expect(await create(repo, writer, json)).toMatchObject({
        status: 422,
        body: { message: "release tag name is protected [tag_name: v1]" },
      });
    }
    const draft = await create(repo, writer, { tag_name: "v1", draft: true });
    const published = await edit(repo, writer, draft.body.id, { draft: false });
    expect(published).toMatchObject({ status: 422 });
    expect(await rowsOf(repo)).toMatchObject([{ isDraft: true }]);
    expect((await refsOf(repo)).map(({ name }) => name)).toEqual(["refs/heads/main"]);
    await storePush(repo, "refs/tags/v1", commit.oid, commit.pack);
    expect(await edit(repo, writer, draft.body.id, { draft: false })).toMatchObject({
      status: 200,
    });
  });

  it("creates one release where several are created at once", async () => {
    const { owner, repo } = await makeWorld();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => create(repo, owner, { tag_name: "v1" })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201, 409, 409, 409, 409,
    ]);
    expect(await rowsOf(repo)).toHaveLength(1);
    expect(await releaseEvents(repo)).toEqual(["release.published"]);
    expect(await counterOf(repo)).toBe(1);
  });

  it("refuses those who may not, and archived repositories, with nothing written", async () => {
    const { owner, stranger, repo } = await makeWorld();
    const json = { tag_name: "v1" };
    expect(await create(repo, stranger, json)).toMatchObject({ status: 403 });
    expect(await call("POST", pathOf(repo), { json })).toMatchObject({ status: 401 });
    const reading = { ...owner, token: await make.token(owner, { scopes: "read:repository" }) };
    expect(await create(repo, reading, json)).toMatchObject({ status: 403 });
    await db.update(repositories).set({ archivedAt: 1000 }).where(eq(repositories.id, repo.id));
    expect(await create(repo, owner, json)).toMatchObject({ status: 423 });
    expect(await rowsOf(repo)).toEqual([]);
    expect((await refsOf(repo)).map(({ name }) => name)).toEqual(["refs/heads/main"]);
  });

  it("is not found in a private repository and where releases are off", async () => {
    const { owner, writer, stranger, repo } = await makeWorld({ isPrivate: true });
    const json = { tag_name: "v1" };
    expect(await create(repo, stranger, json)).toMatchObject({ status: 404 });
    const release = await makeRelease(repo);
    await db.update(repositories).set({ hasReleases: false }).where(eq(repositories.id, repo.id));
    expect(await create(repo, writer, json)).toMatchObject({ status: 404 });
    expect(await create(repo, owner, json)).toMatchObject({ status: 403 });
    for (const rest of ["", "latest", String(release.id), `${release.id}/assets`]) {
      expect(await call("GET", pathOf(repo, rest), { as: writer })).toMatchObject({ status: 404 });
    }
    expect(await edit(repo, writer, release.id, { name: "x" })).toMatchObject({ status: 404 });
    expect(await rowsOf(repo)).toMatchObject([{ title: release.title }]);
  });
});

describe("GET /repos/{owner}/{repo}/releases", () => {
  it("lists by time in pages, filtered, with drafts for writers", async () => {
    const { writer, stranger, repo } = await makeWorld();
    await makeRelease(repo, { tagName: "old", createdAt: 1000 });
    await makeRelease(repo, { tagName: "new", createdAt: 5000, title: "Wide" });
    await makeRelease(repo, { tagName: "rc", createdAt: 3000, isPrerelease: true });
    await makeRelease(repo, { tagName: "same", createdAt: 3000 });
    await makeRelease(repo, { tagName: "draft", createdAt: 4000, isDraft: true });
    const list = async (query: string, as?: TestUser) => {
      const answer = await call("GET", `${pathOf(repo)}${query}`, as && { as });
      return [tagsIn(answer), answer.headers.get("X-Total-Count")];
    };
    expect(await list("")).toEqual([["new", "same", "rc", "old"], "4"]);
    expect(await list("", stranger)).toEqual([["new", "same", "rc", "old"], "4"]);
    expect(await list("", writer)).toEqual([["new", "draft", "same", "rc", "old"], "5"]);
    expect(await list("?draft=true", writer)).toEqual([["draft"], "1"]);
    expect(await list("?draft=true", stranger)).toEqual([[], "0"]);
    expect(await list("?draft=false", writer)).toEqual([["new", "same", "rc", "old"], "4"]);
    expect(await list("?pre-release=true")).toEqual([["rc"], "1"]);
    expect(await list("?pre-release=false", writer)).toEqual([
      ["new", "draft", "same", "old"],
      "4",
    ]);
    expect(await list("?pre-release=false&draft=false", writer)).toEqual([
      ["new", "same", "old"],
      "3",
    ]);
    expect(await list("?q=WID")).toEqual([["new"], "1"]);
    expect(await list("?q=dra")).toEqual([[], "0"]);
    expect(await list("?limit=3&page=2", writer)).toEqual([["rc", "old"], "5"]);
    expect(await list("?per_page=1")).toEqual([["new"], "4"]);
    expect((await call("GET", `${pathOf(repo)}?limit=3`)).headers.get("Link")).toContain("page=2");
    const { body } = await call("GET", pathOf(repo, "latest"));
    expect(body.tag_name).toBe("new");
    expect((await readAll(pathOf(repo), { as: writer }, { limit: 2 })).ids).toHaveLength(5);
  });
});

describe("PATCH /repos/{owner}/{repo}/releases/{id}", () => {
  it("changes what is sent and not empty, and announces a change alone", async () => {
    const { writer, repo } = await makeWorld();
    const { id, title } = await makeRelease(repo, { body: "text" });
    const same = { name: "", body: "", tag_name: "", target_commitish: "" };
    expect(await edit(repo, writer, id, same)).toMatchObject({
      status: 200,
      body: { name: title, body: "text" },
    });
    expect(await releaseEvents(repo)).toEqual([]);
    const json = { name: "Two", body: "more", prerelease: true };
    expect(await edit(repo, writer, id, json)).toMatchObject({ status: 200, body: json });
    expect((await call("GET", pathOf(repo, id))).body).toMatchObject(json);
    expect(await call("GET", pathOf(repo, "latest"))).toMatchObject({ status: 404 });
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      type: "release.updated",
      payload: { releaseId: id, part: "fields" },
    });
  });

  it("publishes a draft with its tag, withdraws it and renames its tag", async () => {
    const { owner, stranger, repo, commit } = await makeWorld();
    const { body } = await create(repo, owner, { tag_name: "v1", draft: true });
    const published = await edit(repo, owner, body.id, { draft: false });
    expect(published).toMatchObject({ status: 200, body: { draft: false, tag_name: "v1" } });
    expect((await tagOf(repo, "v1")).body).toMatchObject({ id: commit.oid });
    expect(await counterOf(repo)).toBe(1);
    expect(await releaseEvents(repo)).toEqual(["release.published"]);

    expect(await edit(repo, owner, body.id, { draft: true })).toMatchObject({ status: 200 });
    const path = pathOf(repo, body.id);
    expect(await call("GET", path, { as: stranger })).toMatchObject({ status: 404 });
    expect(await counterOf(repo)).toBe(0);
    const renamed = await edit(repo, owner, body.id, { tag_name: "v2" });
    expect(renamed).toMatchObject({ status: 200, body: { tag_name: "v2", draft: true } });
    expect(await tagOf(repo, "v2")).toMatchObject({ status: 404 });
    expect(await edit(repo, owner, body.id, { draft: false })).toMatchObject({ status: 200 });
    expect(await tagOf(repo, "v2")).toMatchObject({ status: 200 });
    expect(await releaseEvents(repo)).toEqual([
      "release.published",
      "release.updated",
      "release.published",
    ]);
  });

  it("publishes once where several requests publish at once", async () => {
    const { owner, repo } = await makeWorld();
    const { body } = await create(repo, owner, { tag_name: "v1", draft: true });
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => edit(repo, owner, body.id, { draft: false })),
    );
    const outcomes = answers.map((answer) => `${answer.status} ${answer.body.draft}`);
    expect(outcomes).toContain("200 false");
    // A caller who comes too late several times gets a request to repeat.
    expect(["200 false", "409 undefined"]).toEqual(expect.arrayContaining(outcomes));
    expect(await releaseEvents(repo)).toEqual(["release.published"]);
    expect(await counterOf(repo)).toBe(1);
  });

  it("refuses unknown targets, bad and taken tags, and strangers, with nothing written", async () => {
    const { owner, stranger, repo } = await makeWorld();
    const draft = { tag_name: "v1", draft: true, target_commitish: "nowhere" };
    const { body } = await create(repo, owner, draft);
    await makeRelease(repo, { tagName: "Taken" });
    const before = await rowsOf(repo);
    const refsBefore = await refsOf(repo);
    const answers = [
      [404, await edit(repo, owner, body.id, { draft: false })],
      [422, await edit(repo, owner, body.id, { tag_name: "a..b" })],
      [422, await edit(repo, owner, body.id, { name: "x".repeat(256) })],
      [409, await edit(repo, owner, body.id, { tag_name: "taken", draft: false })],
      [403, await edit(repo, stranger, body.id, { name: "x" })],
      [403, await edit(repo, stranger, before[1]?.id ?? 0, { name: "x" })],
      [404, await edit(repo, owner, 999_999, { name: "x" })],
    ] as const;
    for (const [status, answer] of answers) expect(answer).toMatchObject({ status });
    expect(await rowsOf(repo)).toEqual(before);
    expect(await refsOf(repo)).toEqual(refsBefore);
  });

  // SECURITY: an id names nothing of another repository.
  it("finds no release of another repository", async () => {
    const { owner, repo } = await makeWorld();
    const other = await make.repo(owner);
    const { id } = await makeRelease(other);
    expect(await call("GET", pathOf(repo, id), { as: owner })).toMatchObject({ status: 404 });
    expect(await edit(repo, owner, id, { name: "x" })).toMatchObject({ status: 404 });
    expect(await call("DELETE", pathOf(repo, id), { as: owner })).toMatchObject({ status: 404 });
    expect(await rowsOf(other)).toHaveLength(1);
  });
});

describe("DELETE /repos/{owner}/{repo}/releases", () => {
  it.each(["by id", "by tag"])(
    "deletes the release %s with its files, and the tag stays",
    async (how) => {
      const { owner, writer, stranger, repo } = await makeWorld();
      const { body } = await create(repo, owner, { tag_name: "v1" });
      const path = how === "by id" ? pathOf(repo, body.id) : pathOf(repo, "tags/v1");
      const tagPath = `/repos/${repo.owner}/${repo.name}/tags/v1`;
      expect(await call("DELETE", tagPath, { as: owner })).toMatchObject({
        status: 409,
        body: { message: "a tag attached to a release cannot be deleted directly" },
      });
      expect(await call("DELETE", path, { as: stranger })).toMatchObject({ status: 403 });
      expect(await call("DELETE", path)).toMatchObject({ status: 401 });
      expect(await rowsOf(repo)).toHaveLength(1);
      expect(await call("DELETE", path, { as: writer })).toMatchObject({ status: 204 });
      expect(await rowsOf(repo)).toEqual([]);
      expect(await counterOf(repo)).toBe(0);
      expect(await tagOf(repo, "v1")).toMatchObject({ status: 200 });
      expect((await eventsOf(repo)).at(-1)).toMatchObject({
        type: "release.deleted",
        payload: { releaseId: body.id, tagName: "v1" },
      });
      expect(await call("DELETE", path, { as: writer })).toMatchObject({ status: 404 });
      expect(await call("DELETE", tagPath, { as: owner })).toMatchObject({ status: 204 });
    },
  );

  it("finds no release of a bare tag", async () => {
    const { owner, repo, commit } = await makeWorld();
    await storePush(repo, "refs/tags/bare", commit.oid, commit.pack);
    for (const method of ["GET", "DELETE"]) {
      expect(await call(method, pathOf(repo, "tags/bare"), { as: owner })).toMatchObject({
        status: 404,
      });
    }
  });
});

describe("a tag that a push deletes", () => {
  /** Does what follows from all pushes so far, as the queue does, and once more at each call. */
  async function withdraw(repo: TestRepo): Promise<void> {
    expect(CONSEQUENCES).toContain(withdrawUntagged);
    const pushed = (await eventsOf(repo)).filter(({ type }) => type === "repository.pushed");
    expect(pushed.at(-1)).toMatchObject({ payload: { updates: [{ after: null }] } });
    const budget = new WorkBudget(Date.now(), { ms: 60_000, statements: 100 });
    for (const { payload, ...row } of pushed) {
      const event = { ...payload, type: row.type, ownerId: row.ownerId, repoId: repo.id };
      const recorded = { ...row, event } as unknown as RecordedEvent;
      await withdrawUntagged.handle(systemCtx({}, Date.now()), recorded, budget, undefined);
    }
  }

  it("leaves its release as a draft, which is published again with a new tag", async () => {
    const { owner, stranger, repo, commit } = await makeWorld();
    for (const tag of ["v1", "v2"]) {
      await storePush(repo, `refs/tags/${tag}`, commit.oid, commit.pack);
    }
    const { id } = await makeRelease(repo, { tagName: "v1" });
    const other = await makeRelease(repo, { tagName: "v2" });
    await pushQuietly(owner, repo, [{ ref: "refs/tags/v1", old: commit.oid }]);
    await withdraw(repo);
    const path = pathOf(repo, id);
    expect(await call("GET", path, { as: stranger })).toMatchObject({ status: 404 });
    expect((await call("GET", path, { as: owner })).body.draft).toBe(true);
    expect((await call("GET", pathOf(repo, other.id))).body.draft).toBe(false);
    expect(await counterOf(repo)).toBe(1);
  });

  // A step may be repeated long after the release has its tag again.
  it("does nothing to a release that was published since", async () => {
    const { owner, repo, commit } = await makeWorld();
    await storePush(repo, "refs/tags/v1", commit.oid, commit.pack);
    const { id } = await makeRelease(repo, { tagName: "v1", isDraft: true });
    await pushQuietly(owner, repo, [{ ref: "refs/tags/v1", old: commit.oid }]);
    await db.update(releases).set({ publishedAt: 1000 }).where(eq(releases.id, id));
    expect(await edit(repo, owner, id, { draft: false })).toMatchObject({ status: 200 });
    expect(await tagOf(repo, "v1")).toMatchObject({ status: 200 });
    const [{ publishedAt } = { publishedAt: 0 }] = await rowsOf(repo);
    const deletedAt = (publishedAt ?? 0) - 1;
    await db
      .update(events)
      .set({ createdAt: deletedAt })
      .where(and(eq(events.repoId, repo.id), eq(events.type, "repository.pushed")));
    const last = (await eventsOf(repo)).filter(({ type }) => type === "repository.pushed").at(-2);
    expect(last).toMatchObject({ payload: { updates: [{ after: null }] } });
    const event = { ...last?.payload, type: "repository.pushed", ownerId: 1, repoId: repo.id };
    const recorded = { ...last, event } as unknown as RecordedEvent;
    const budget = new WorkBudget(Date.now(), { ms: 60_000, statements: 100 });
    await withdrawUntagged.handle(systemCtx({}, Date.now()), recorded, budget, undefined);
    expect((await call("GET", pathOf(repo, id))).body.draft).toBe(false);
  });
});

describe("deleted accounts and repositories", () => {
  it("a release of a deleted account stays, by a ghost", async () => {
    const { repo } = await makeWorld();
    const { id } = await makeRelease(repo, { publisherId: null });
    expect((await call("GET", pathOf(repo, id))).body.author).toMatchObject({ login: "Ghost" });
  });

  it("a deleted repository takes its releases and their files along", async () => {
    const { owner, repo } = await makeWorld();
    const release = await makeRelease(repo);
    await makeAsset(release);
    const path = `/repos/${repo.owner}/${repo.name}`;
    expect(await call("DELETE", path, { as: owner })).toMatchObject({ status: 204 });
    expect(await rowsOf(repo)).toEqual([]);
  });
});
