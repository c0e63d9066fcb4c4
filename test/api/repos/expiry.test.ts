import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories } from "../../../src/db/schema/index.ts";
import { auditOf } from "../../support/audit.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { freshName, make, type TestRepo } from "../../support/make.ts";

const HOUR = 3600;
const DAY_MS = 24 * 3600 * 1000;

const pathOf = ({ owner, name }: Pick<TestRepo, "owner" | "name">): string =>
  `/repos/${owner}/${name}`;

const rowOf = async (id: number) =>
  (await db.select().from(repositories).where(eq(repositories.id, id)))[0];

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

/** How far a time of a record is from now, in seconds. */
const fromNow = (time: string): number => Math.round((Date.parse(time) - Date.now()) / 1000);

describe("repositories that end", () => {
  it("are created so for a user, an organization and somebody else, and show it", async () => {
    const [user, admin] = [await make.user(), await make.admin()];
    const org = await make.org([user]);
    const name = freshName("ends");
    const json = { name, expires_in: HOUR, expiry_action: "archive", extends_on_push: true };
    for (const [path, as] of [
      ["/user/repos", user],
      [`/orgs/${org.name}/repos`, user],
      [`/admin/users/${(await make.user()).name}/repos`, admin],
    ] as const) {
      const { status, body } = await call("POST", path, { as, json });
      expect(status).toBe(201);
      expect(fromNow(body.expires_at)).toBeGreaterThan(HOUR - 60);
      expect(body).toMatchObject({ expiry_action: "archive", extends_on_push: true });
      expect((await call("GET", `/repositories/${body.id}`, { as })).body).toMatchObject({
        expires_at: body.expires_at,
      });
    }
  });

  it("delete themselves at a time, and are announced a tenth of their span before", async () => {
    const user = await make.user();
    const expires_at = inSeconds(2 * HOUR);
    const json = { name: freshName("ends"), expires_at };
    const { body } = await call("POST", "/user/repos", { as: user, json });
    expect(body).toMatchObject({ expiry_action: "delete", extends_on_push: false });
    const expiry = (await rowOf(body.id))?.expiry;
    expect(expiry).toMatchObject({ expiresAt: Date.parse(expires_at), extensionMs: null });
    const noticeMs = (expiry?.expiresAt ?? 0) - (expiry?.checkAt ?? 0);
    expect(noticeMs / 1000).toBeGreaterThan((2 * HOUR - 60) / 10);
    expect(noticeMs / 1000).toBeLessThanOrEqual((2 * HOUR) / 10);
  });

  it("are announced a day before where their span is long", async () => {
    const user = await make.user();
    const json = { name: freshName("ends"), expires_in: 100 * 24 * HOUR };
    const { body } = await call("POST", "/user/repos", { as: user, json });
    const expiry = (await rowOf(body.id))?.expiry;
    expect((expiry?.expiresAt ?? 0) - (expiry?.checkAt ?? 0)).toBe(DAY_MS);
  });

  it("have no end by default, and by 0", async () => {
    const user = await make.user();
    for (const more of [{}, { expires_in: 0 }]) {
      const json = { name: freshName("stays"), ...more };
      const { status, body } = await call("POST", "/user/repos", { as: user, json });
      expect([status, body.expires_at]).toEqual([201, null]);
      expect(body).not.toHaveProperty("expiry_action");
    }
  });

  it("are forks and repositories of templates, too", async () => {
    const [owner, user] = [await make.user(), await make.user()];
    const repo = await make.repo(owner, { isTemplate: true });
    const json = { name: freshName("ends"), expires_in: HOUR };
    const forked = await call("POST", `${pathOf(repo)}/forks`, { as: user, json });
    expect(forked.status).toBe(202);
    expect(fromNow(forked.body.expires_at)).toBeGreaterThan(HOUR - 60);
    const made = await call("POST", `${pathOf(repo)}/generate`, {
      as: user,
      json: { ...json, name: freshName("ends"), owner: user.name, topics: true },
    });
    expect(made.status).toBe(201);
    expect(fromNow(made.body.expires_at)).toBeGreaterThan(HOUR - 60);
  });

  it.each([
    [{ expires_in: 59 }, "expires_in"],
    [{ expires_in: -1 }, "expires_in"],
    [{ expires_in: 1.5 }, "expires_in"],
    [{ expires_in: 400_000_000 }, "expires_in"],
    [{ expires_at: "2001-01-01T00:00:00Z" }, "expires_at"],
    [{ expires_at: "9999-01-01T00:00:00Z" }, "expires_at"],
    [{ expires_at: "tomorrow" }, "expires_at"],
    [{ expires_in: HOUR, expires_at: "2100-01-01T00:00:00Z" }, "expires_at"],
    [{ expires_in: HOUR, expiry_action: "burn" }, "expiry_action"],
    [{ expiry_action: "archive" }, "expiry_action"],
    [{ extends_on_push: true }, "extends_on_push"],
    [{ expires_in: 0, extends_on_push: true }, "extends_on_push"],
  ])("refuses %j, and creates nothing", async (more, field) => {
    const user = await make.user();
    const json = { name: freshName("ends"), ...more };
    const { status, body } = await call("POST", "/user/repos", { as: user, json });
    expect(status).toBe(422);
    expect(body.message).toContain(`[${field}]`);
    expect((await call("GET", "/user/repos", { as: user })).body).toEqual([]);
  });
});

describe("PATCH /repos/{owner}/{repo}", () => {
  it("gives an end, changes it and takes it away, with event and audit", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const patch = async (json: object) => {
      const { status, body } = await call("PATCH", pathOf(repo), { as: owner, json });
      expect(status).toBe(200);
      return body;
    };
    const given = await patch({ expires_in: HOUR, extends_on_push: true });
    expect(given).toMatchObject({ expiry_action: "delete", extends_on_push: true });
    const archived = await patch({ expiry_action: "archive" });
    expect(archived).toMatchObject({ expires_at: given.expires_at, extends_on_push: true });
    const fixed = await patch({ extends_on_push: false });
    expect(fixed).toMatchObject({ expires_at: given.expires_at, extends_on_push: false });
    const later = await patch({ expires_at: inSeconds(5 * HOUR) });
    expect(later).toMatchObject({ expiry_action: "archive" });
    expect(fromNow(later.expires_at)).toBeGreaterThan(4 * HOUR);
    expect((await patch({ expires_in: 0 })).expires_at).toBeNull();
    expect((await rowOf(repo.id))?.expiry).toBeNull();

    const changed = { changed: ["expiry"] };
    expect((await eventsOf(repo)).map(({ payload }) => payload)).toEqual(
      Array.from({ length: 5 }, () => changed),
    );
    expect((await auditOf(owner)).filter(({ kind }) => kind === "repository.edited")).toHaveLength(
      5,
    );
  });

  it("changes nothing without a field of it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    await call("PATCH", pathOf(repo), { as: owner, json: { expires_in: HOUR } });
    const before = (await rowOf(repo.id))?.expiry;
    await call("PATCH", pathOf(repo), { as: owner, json: { description: "Other" } });
    expect((await rowOf(repo.id))?.expiry).toEqual(before);
  });

  // SECURITY: an end that is near is a deletion, which administrators alone may not bring about.
  it("lets an administrator who may not delete it put a deletion off, and not bring it about", async () => {
    const [owner, admin, writer] = [await make.user(), await make.user(), await make.user()];
    const repo = await make.repo(owner);
    await make.collaborator(repo, admin, 3);
    await make.collaborator(repo, writer, 2);
    const patch = async (as: typeof admin, json: object): Promise<number> =>
      (await call("PATCH", pathOf(repo), { as, json })).status;

    expect(await patch(admin, { expires_in: HOUR })).toBe(403);
    expect(await patch(writer, { expires_in: HOUR, expiry_action: "archive" })).toBe(403);
    expect((await rowOf(repo.id))?.expiry).toBeNull();
    expect(await patch(admin, { expires_in: HOUR, expiry_action: "archive" })).toBe(200);
    expect(await patch(admin, { expiry_action: "delete" })).toBe(403);
    expect(await patch(owner, { expires_in: 2 * HOUR, expiry_action: "delete" })).toBe(200);
    expect(await patch(admin, { expires_in: HOUR })).toBe(403);
    expect(await patch(admin, { expires_in: 3 * HOUR })).toBe(200);
    expect(await patch(writer, { expires_in: 0 })).toBe(403);
    expect((await rowOf(repo.id))?.expiry).toMatchObject({ action: "delete" });
    expect(await patch(admin, { expires_in: 0 })).toBe(200);
  });

  it("lets them not shorten what a push gives a repository before its deletion", async () => {
    const [owner, admin] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    await make.collaborator(repo, admin, 3);
    const patch = async (as: typeof admin, json: object): Promise<number> =>
      (await call("PATCH", pathOf(repo), { as, json })).status;

    expect(await patch(owner, { expires_in: 9 * HOUR, extends_on_push: true })).toBe(200);
    expect(await patch(admin, { extends_on_push: false })).toBe(403);
    // Most of its time has passed.
    const expiresAt = Date.now() + HOUR * 1000;
    const near = sql`json_set(
      ${repositories.expiry}, '$.expiresAt', cast(${expiresAt} as integer)
    )`;
    await db.update(repositories).set({ expiry: near }).where(eq(repositories.id, repo.id));
    expect(await patch(admin, { expires_in: 2 * HOUR })).toBe(403);
    expect((await rowOf(repo.id))?.expiry).toMatchObject({
      expiresAt,
      extensionMs: 9 * HOUR * 1000,
    });
    expect(await patch(admin, { expires_in: 10 * HOUR })).toBe(200);
  });

  it("refuses the archive of a mirror, which has none", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isMirror: true });
    const json = { expires_in: HOUR, expiry_action: "archive" };
    expect((await call("PATCH", pathOf(repo), { as: owner, json })).status).toBe(422);
    expect((await rowOf(repo.id))?.expiry).toBeNull();
  });

  it.each([
    [{ expiry_action: "archive" }, 422],
    [{ extends_on_push: true }, 422],
    [{ extends_on_push: false }, 200],
    [{ expires_in: 0 }, 200],
  ])("answers %j of one without an end by %i", async (json, status) => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    expect((await call("PATCH", pathOf(repo), { as: owner, json })).status).toBe(status);
    expect((await rowOf(repo.id))?.expiry).toBeNull();
  });
});

describe("a push", () => {
  const file = { content: btoa("text"), message: "Add" };

  it("gives a repository its span again if it extends it, and announces the later end", async () => {
    const owner = await make.user();
    const json = { name: freshName("ends"), expires_in: 10 * HOUR, extends_on_push: true };
    const { body: repo } = await call("POST", "/user/repos", { as: owner, json });
    // Most of the span is over, and its end announced.
    const end = Date.now() + HOUR * 1000;
    await db
      .update(repositories)
      .set({
        expiry: sql`json_set(expiry, '$.expiresAt', cast(${end} as integer), '$.checkAt', cast(${end} as integer))`,
      })
      .where(eq(repositories.id, repo.id));
    const path = `/repos/${owner.name}/${repo.name}/contents/a.txt`;
    expect((await call("POST", path, { as: owner, json: file })).status).toBe(201);
    const expiry = (await rowOf(repo.id))?.expiry;
    expect(expiry?.expiresAt).toBeGreaterThan(Date.now() + 9.9 * HOUR * 1000);
    expect(Number.isInteger(expiry?.expiresAt)).toBe(true);
    expect((expiry?.expiresAt ?? 0) - (expiry?.checkAt ?? 0)).toBe(
      Math.floor((expiry?.extensionMs ?? 0) / 10),
    );
    expect((await db.all(sql`select expiry from repositories where id = ${repo.id}`))[0]).toEqual({
      expiry: JSON.stringify(expiry),
    });
  });

  it("moves no end that it does not extend, and none that is later", async () => {
    const owner = await make.user();
    for (const more of [{}, { extends_on_push: true }]) {
      const json = { name: freshName("ends"), expires_in: HOUR, ...more };
      const { body: repo } = await call("POST", "/user/repos", { as: owner, json });
      const later = await call("PATCH", `/repos/${owner.name}/${repo.name}`, {
        as: owner,
        json: "extends_on_push" in more ? { expires_in: 90 * HOUR } : {},
      });
      const before = (await rowOf(repo.id))?.expiry;
      expect(later.status).toBe(200);
      if ("extends_on_push" in more) {
        // By a rule of its own, as if the time had been set after the span.
        await db
          .update(repositories)
          .set({ expiry: sql`json_set(expiry, '$.extensionMs', 60000)` })
          .where(eq(repositories.id, repo.id));
      }
      const path = `/repos/${owner.name}/${repo.name}/contents/a.txt`;
      expect((await call("POST", path, { as: owner, json: file })).status).toBe(201);
      expect((await rowOf(repo.id))?.expiry?.expiresAt).toBe(before?.expiresAt);
    }
  });
});
