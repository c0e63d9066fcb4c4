import { and, eq, lt } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { events, repositories } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { recordEvent } from "../../support/activities.ts";
import { db } from "../../support/db.ts";
import { make } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

async function scene(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  return { owner, repo, path: `/repos/${owner.name}/${repo.name}/events` };
}

const idsOf = (body: { events: { id: number }[] }): number[] => body.events.map(({ id }) => id);

describe("GET /repos/{owner}/{repo}/events", () => {
  it("lists events in order, with a cursor for the next page", async () => {
    const { owner, repo, path } = await scene();
    const ids = [];
    for (let count = 0; count < 5; count++) ids.push(await recordEvent(repo, owner));

    const { answer: first, line } = await logged(() => call("GET", `${path}?limit=2`));
    expect(first.status).toBe(200);
    expect(idsOf(first.body)).toEqual(ids.slice(0, 2));
    expect(first.body.next).toBe(ids[1]);
    expect(first.headers.get("Link")).toBe(
      `<https://forge.example/api/v1${path}?after=${ids[1]}&limit=2>; rel="next"`,
    );
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
    expect(first.body.events[0]).toMatchObject({
      type: "repository.created",
      actor: { login: owner.name },
      repository: { id: repo.id, name: repo.name, full_name: `${owner.name}/${repo.name}` },
      payload: { name: repo.name },
    });

    const rest = await call("GET", `${path}?after=${ids[1]}`);
    expect(idsOf(rest.body)).toEqual(ids.slice(2));
  });

  it("keeps the cursor on an empty page, so that a later event is found", async () => {
    const { owner, repo, path } = await scene();
    const first = await recordEvent(repo, owner);
    const none = await call("GET", `${path}?after=${first}`);
    expect(none.body).toEqual({ events: [], next: first });
    const later = await recordEvent(repo, owner, "repository.edited", { changed: ["website"] });
    const some = await call("GET", `${path}?after=${none.body.next}`);
    expect(idsOf(some.body)).toEqual([later]);
  });

  // With concurrent writers, events missing from one page must be on the next.
  it("loses no event that is written while pages are read", async () => {
    const { owner, repo, path } = await scene();
    const writing = Promise.all(Array.from({ length: 20 }, () => recordEvent(repo, owner)));
    const seen: number[] = [];
    let after = 0;
    for (let count = 0; count < 6; count++) {
      const { body } = await call("GET", `${path}?after=${after}&limit=5`);
      seen.push(...idsOf(body));
      after = body.next;
    }
    const written = await writing;
    const { body } = await call("GET", `${path}?after=${after}&limit=50`);
    expect(seen.concat(idsOf(body))).toEqual(written.toSorted((a, b) => a - b));
  });

  it("reports lost events to a reader who comes back too late, and where to continue", async () => {
    const { owner, repo, path } = await scene();
    const [first, , third] = [
      await recordEvent(repo, owner),
      await recordEvent(repo, owner),
      await recordEvent(repo, owner),
    ];
    await db.delete(events).where(and(eq(events.repoId, repo.id), lt(events.id, third)));
    const swept = third - 1;
    await db.update(repositories).set({ sweptEventId: swept }).where(eq(repositories.id, repo.id));

    expect(await call("GET", `${path}?after=${first}`)).toMatchObject({
      status: 410,
      body: { message: expect.stringContaining(`continue after ${swept}`) },
    });
    expect(idsOf((await call("GET", `${path}?after=${swept}`)).body)).toEqual([third]);
    // A new reader has read nothing that could be missing.
    expect(idsOf((await call("GET", path)).body)).toEqual([third]);
  });

  it("requires that the caller may see the repository at the time of the request", async () => {
    const { owner, repo, path } = await scene({ isPrivate: true });
    const friend = await make.user();
    await recordEvent(repo, owner);
    expect(await call("GET", path)).toMatchObject({ status: 404, body: "" });
    expect(await call("GET", path, { as: friend })).toMatchObject({ status: 404, body: "" });
    await make.collaborator(repo, friend, 1);
    expect((await call("GET", path, { as: friend })).body.events).toHaveLength(1);
    const narrow = await make.token(owner, { scopes: "read:user" });
    expect((await call("GET", path, { token: narrow })).status).toBe(403);
  });

  // SECURITY: each of these events contains something that the repository's page does not show.
  it("shows key events only to administrators, and neither hidden users nor a fork's parent", async () => {
    const { owner, repo, path } = await scene();
    const hidden = await make.user({ isActivityHidden: true });
    const key = await recordEvent(repo, owner, "public_key.added", { fingerprint: "SHA256:x" });
    await recordEvent(repo, hidden, "star.created", {});
    await recordEvent(repo, owner, "repository.forked", { parentId: 123456789 });

    const open = await call("GET", path);
    expect(idsOf(open.body)).not.toContain(key);
    expect(open.body.events).toMatchObject([{ actor: null }, { type: "repository.forked" }]);
    expect(JSON.stringify(open.body)).not.toContain("123456789");
    expect(JSON.stringify(open.body)).not.toContain(hidden.name);

    const own = await call("GET", path, { as: owner });
    expect(own.body.events).toHaveLength(3);
    expect(own.body.events[0]).toMatchObject({ payload: { fingerprint: "SHA256:x" } });
  });

  it("omits events of the code where that unit is disabled", async () => {
    const { owner, repo, path } = await scene({ hasCode: false });
    const pushed = { pushId: crypto.randomUUID(), refCount: 0, updates: [] };
    await recordEvent(repo, owner, "repository.pushed", pushed);
    expect((await call("GET", path)).body.events).toEqual([]);
  });

  it.each(["-1", "x", "1.5", "9".repeat(30), " "])("refuses the cursor %j", async (after) => {
    const { path } = await scene();
    const answer = await call("GET", `${path}?after=${encodeURIComponent(after)}`);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain("[after]");
  });
});
