import { and, eq, inArray } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";

import {
  ACCESS,
  auditEvents,
  repositories,
  repositoryTotals,
  stars,
  topics,
  users,
  watches,
  type User,
  type Visibility,
} from "../../../src/db/schema/index.ts";
import { call, visit, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { makeLargeFile, pathTo, upload } from "../../support/large-files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeCommit, makeEmptyPack, push, pushCommands } from "../../support/push.ts";
import { makeRelease } from "../../support/releases.ts";
import { makeRandom } from "../../git/support/random.ts";
import { logged } from "../../support/usage.ts";

type Named = Pick<TestRepo, "id" | "owner" | "name">;

const at = ({ owner, name }: Named) => `/repos/${owner}/${name}`;

const edit = (repo: Named, as: TestUser, json: object) => call("PATCH", at(repo), { as, json });

/** Forks by a request. */
async function fork(as: TestUser, repo: Named, json: object = {}): Promise<Named> {
  const { status, body } = await call("POST", `${at(repo)}/forks`, { as, json });
  expect(status).toBe(202);
  return { id: body.id, owner: body.owner.login, name: body.name };
}

/** A row alone, where git does not matter. */
const forkRow = (owner: User, { id: parentId }: Named) =>
  make.repo(owner, { parentId, isFork: true });

/** Whether repositories are private, by themselves and with their owners. */
async function visibilities(...repos: readonly Named[]): Promise<[boolean, Visibility][]> {
  const rows = await db
    .select()
    .from(repositories)
    .where(
      inArray(
        repositories.id,
        repos.map(({ id }) => id),
      ),
    );
  return repos.map(({ id }) => {
    const row = rows.find((each) => each.id === id);
    return [row?.isPrivate ?? true, row?.visibility ?? "private"];
  });
}

const PUBLIC = [false, "public"];
const LIMITED = [false, "limited"];
const PRIVATE = [true, "private"];

/** A repository with one commit, a fork, and a fork of that. */
async function makeNetwork() {
  const [owner, forker, other] = [await make.user(), await make.user(), await make.user()];
  const root = await make.repo(owner);
  const commit = makeCommit(freshName("text"));
  await push(owner, root, commit.oid, commit.pack);
  const child = await fork(forker, root, { name: freshName("child") });
  const grandchild = await fork(other, child, { name: freshName("grandchild") });
  return { owner, forker, other, root, child, grandchild, commit };
}

describe("PATCH private on a repository with forks", () => {
  it("hides the forks and the forks of forks from users without a role, and shows them again", async () => {
    const { owner, forker, other, root, child, grandchild, commit } = await makeNetwork();
    const file = makeLargeFile(freshName("large"));
    expect((await upload(forker, child, file)).status).toBe(200);
    const release = await makeRelease(await rowOf(child));
    await db
      .update(repositories)
      .set({ hasReleases: true, hasIssues: true, hasPackages: true })
      .where(eq(repositories.id, child.id));
    const { body: asset } = await call(
      "POST",
      `${at(child)}/releases/${release.id}/assets?name=a`,
      {
        as: forker,
        headers: { "Content-Type": "application/octet-stream" },
        body: "bytes",
      },
    );
    const { body: opened } = await call("POST", `${at(child)}/issues`, {
      as: forker,
      json: { title: "A fault" },
    });
    const ofPackage = `/api/packages/${forker.name}/generic/${freshName("pkg")}/1.0/file`;
    expect((await visit("PUT", ofPackage, { as: forker, body: "bytes" })).status).toBe(201);
    const [, name] = /generic\/([^/]+)/.exec(ofPackage) ?? [];
    const link = `/packages/${forker.name}/generic/${name}/-/link/${child.name}`;
    expect((await call("POST", link, { as: forker })).status).toBe(201);

    const paths = [child, grandchild].flatMap((repo) => [
      `/api/v1${at(repo)}`,
      `/api/v1/repositories/${repo.id}`,
      `/api/v1${at(repo)}/raw/file`,
      `/api/v1${at(repo)}/raw/file?ref=${commit.oid}`,
      `/api/v1${at(repo)}/contents/file`,
      `/api/v1${at(repo)}/git/blobs/${commit.blobOid}`,
      `/api/v1${at(repo)}/git/commits/${commit.oid}`,
      `/api/v1${at(repo)}/git/trees/${commit.oid}`,
      `/api/v1${at(repo)}/branches`,
      `/api/v1${at(repo)}/commits`,
      `/api/v1${at(repo)}/archive/main.zip`,
      `/api/v1${at(repo)}/compare/main...main`,
      `/api/v1${at(repo)}/languages`,
      `/api/v1${at(repo)}/forks`,
      `/api/v1${at(repo)}/stargazers`,
      `/api/v1${at(repo)}/activities/feeds`,
      `/api/v1${at(repo)}/events`,
      `/${repo.owner}/${repo.name}/archive/main.zip`,
      `/${repo.owner}/${repo.name}.rss`,
      `/${repo.owner}/${repo.name}.git/info/refs?service=git-upload-pack`,
    ]);
    paths.push(
      `/api/v1${at(child)}/issues/${opened.number}`,
      `/api/v1${at(child)}/releases`,
      `/${child.owner}/${child.name}/releases/download/${release.tagName}/a`,
      `/attachments/${asset.uuid}`,
      pathTo(child, `objects/${file.oid}`),
      ofPackage,
    );
    const statuses = async (sending: Sending = {}) =>
      Object.fromEntries(
        await Promise.all(
          paths.map(async (path) => [path, (await visit("GET", path, sending)).status]),
        ),
      );
    // 401 asks git and git LFS for a credential, also where there is nothing.
    const all = (isShown: boolean) =>
      Object.fromEntries(
        paths.map((path) => [path, isShown ? 200 : path.includes(".git/info/") ? 401 : 404]),
      );
    expect(await statuses()).toEqual(all(true));

    expect((await edit(root, owner, { private: true })).body.private).toBe(true);
    expect(await visibilities(root, child, grandchild)).toEqual([PRIVATE, PRIVATE, PRIVATE]);
    expect(await statuses()).toEqual(all(false));
    // Nor does the parent's owner see what others do in their forks.
    const stranger = await make.user();
    for (const as of [stranger, owner]) {
      expect((await call("GET", at(child), { as })).status).toBe(404);
      expect((await call("GET", at(grandchild), { as })).status).toBe(404);
    }
    expect((await call("GET", at(child), { as: forker })).body).toMatchObject({ private: true });
    expect((await call("GET", at(grandchild), { as: other })).body.private).toBe(true);

    expect((await edit(root, owner, { private: false })).body.private).toBe(false);
    expect(await visibilities(root, child, grandchild)).toEqual([PUBLIC, PUBLIC, PUBLIC]);
    expect(await statuses()).toEqual(all(true));
  });

  it("is the same by a push option", async () => {
    const { owner, root, child, grandchild, commit } = await makeNetwork();
    for (const [value, expected] of [
      ["true", PRIVATE],
      ["false", PUBLIC],
    ] as const) {
      const command = { ref: `refs/heads/${value}`, new: commit.oid };
      const options = [`repo.private=${value}`];
      const extras = { pack: makeEmptyPack(), capabilities: "push-options", options };
      const { body } = await pushCommands(owner, root, [command], extras);
      expect(body).toContain(`ok ${command.ref}`);
      expect(await visibilities(root, child, grandchild)).toEqual([expected, expected, expected]);
    }
  });

  it("takes the forks out of lists, searches, totals and counts, and returns them", async () => {
    const { owner, forker, root, child } = await makeNetwork();
    const topic = freshName("topic");
    await call("PUT", `${at(child)}/topics`, { as: forker, json: { topics: [topic] } });
    const [fan, teammate] = [await make.user(), await make.user()];
    await make.collaborator(await rowOf(child), teammate, ACCESS.read);
    for (const as of [fan, teammate]) {
      await call("PUT", `/user/starred/${child.owner}/${child.name}`, { as });
      await call("PUT", `${at(child)}/subscription`, { as });
    }
    await db.update(repositories).set({ hasIssues: true }).where(eq(repositories.id, child.id));
    const title = freshName("fault");
    await call("POST", `${at(child)}/issues`, { as: forker, json: { title } });
    const lists = [
      `/repos/search?q=${child.name}`,
      `/repos/search?q=${topic}&topic=true`,
      `/users/${forker.name}/repos`,
      `/users/${fan.name}/starred`,
      `/users/${fan.name}/subscriptions`,
      `/repos/issues/search?q=${title}`,
      `/users/${forker.name}/activities/feeds`,
      `/users/${forker.name}/heatmap`,
      `/topics/search?q=${topic}`,
      `${at(root)}/forks`,
    ];
    const lengths = (as: TestUser) =>
      Promise.all(
        lists.map(async (path) => {
          const { body } = await call("GET", path, { as });
          const items = body.data ?? body.topics ?? body;
          return [path, items.length];
        }),
      );
    const stranger = await make.user();
    const before = await totals();
    const shown = await lengths(stranger);
    expect(Object.fromEntries(shown)[`${at(root)}/forks`]).toBe(1);

    await edit(root, owner, { private: true });
    const hidden = Object.fromEntries(await lengths(stranger));
    for (const [path, length] of shown.slice(0, -2)) {
      expect([path, Number(length) > 0, hidden[path as string]]).toEqual([path, true, 0]);
    }
    expect(await totals()).toEqual({
      ...before,
      public: (before.public ?? 0) - 3,
      private: (before.private ?? 0) + 3,
    });
    const [counted] = await db.select().from(topics).where(eq(topics.name, topic));
    expect(counted?.repoCount).toBe(0);
    for (const table of [stars, watches]) {
      const rows = await db.select().from(table).where(eq(table.repoId, child.id));
      expect(rows.map(({ userId }) => userId)).not.toContain(fan.id);
      expect(rows.map(({ userId }) => userId)).toContain(teammate.id);
    }
    expect(await rowOf(child)).toMatchObject({ starCount: 1, watcherCount: 2 });
    const [lost] = await db.select().from(users).where(eq(users.id, fan.id));
    expect(lost).toMatchObject({ starCount: 0, watchCount: 0 });

    await edit(root, owner, { private: false });
    expect(await totals()).toEqual(before);
    const [again] = await db.select().from(topics).where(eq(topics.name, topic));
    expect(again?.repoCount).toBe(1);
  });

  it("records for each fork what an edit of it would: an event and an entry of the audit log", async () => {
    const { owner, forker, root, child, grandchild } = await makeNetwork();
    const earlier = await forkRow(await make.org([forker], { visibility: "private" }), root);
    await edit(root, owner, { private: true });
    await edit(root, owner, { private: false });
    for (const repo of [child, grandchild, earlier, root]) {
      const list = (await eventsOf(repo)).filter(({ type }) => type.endsWith("visibility_changed"));
      const row = await rowOf(repo);
      expect(list).toMatchObject([
        { actorId: owner.id, ownerId: row.ownerId, payload: { isPrivate: true } },
        { actorId: owner.id, ownerId: row.ownerId, payload: { isPrivate: false } },
      ]);
      // Everyone who sees the repository now gets the event of its publication.
      expect(list.map(({ visibility, isPrivate }) => [visibility, isPrivate])).toEqual([
        ["private", true],
        [row.visibility, false],
      ]);
      const entries = await db
        .select()
        .from(auditEvents)
        .where(
          and(
            eq(auditEvents.repoId, repo.id),
            eq(auditEvents.kind, "repository.visibility_changed"),
          ),
        );
      expect(entries).toMatchObject([
        { ownerId: row.ownerId, details: { isPrivate: true } },
        { ownerId: row.ownerId, details: { isPrivate: false } },
      ]);
    }
    const { body } = await call("GET", `${at(child)}/events`);
    expect(typesOf(body.events)).toContain("repository.visibility_changed");
  });

  // SECURITY: the caller may not see these forks, and their owners do not learn where the caller
  // was.
  it("shows neither the forks in the caller's audit log nor the caller's address in those of their owners", async () => {
    const { owner, forker, root } = await makeNetwork();
    const org = await make.org([forker]);
    const copy = await forkRow(org, root);
    const headers = { "CF-Connecting-IP": "203.0.113.9" };
    await call("PATCH", at(root), { as: owner, json: { private: true }, headers });
    const { body } = await call("GET", `/orgs/${org.name}/audit`, { as: forker });
    expect(body.events).toMatchObject([
      {
        kind: "repository.visibility_changed",
        actor: null,
        credential: "system",
        address: null,
        repository: { full_name: `${org.name}/${copy.name}` },
        details: { is_private: true },
      },
    ]);
    const own = await call("GET", "/user/audit?kind=repository.visibility_changed", { as: owner });
    expect(own.body.events).toMatchObject([
      { address: "203.0.113.9", repository: { id: root.id } },
    ]);
    expect(own.body.events[0].request_id).toBe(body.events[0].request_id);
  });

  it("costs no round trip more, however many forks there are", async () => {
    const owner = await make.user();
    const [alone, parent] = [await make.repo(owner), await make.repo(owner)];
    const forkers = await Promise.all(Array.from({ length: 40 }, () => make.user()));
    const forks = await Promise.all(forkers.map((forker) => forkRow(forker, parent)));
    const rounds: number[] = [];
    for (const repo of [alone, parent]) {
      const { answer, line } = await logged(() => edit(repo, owner, { private: true }));
      expect(answer.body.private).toBe(true);
      rounds.push(line.d1Rounds);
    }
    expect(rounds[1]).toBe(rounds[0]);
    expect(new Set((await visibilities(...forks)).map(([isPrivate]) => isPrivate))).toEqual(
      new Set([true]),
    );
  });

  it("changes no fork where something else is edited, or where the edit is refused", async () => {
    const { owner, root, child } = await makeNetwork();
    const count = async () => (await eventsOf(child)).length;
    const before = await count();
    await edit(root, owner, { description: "Another" });
    expect((await edit(root, owner, { private: true, name: "a/b" })).status).toBe(422);
    expect((await edit(root, await make.user(), { private: true })).status).toBe(403);
    expect(await visibilities(root, child)).toEqual([PUBLIC, PUBLIC]);
    expect(await count()).toBe(before);
  });
});

describe("PATCH private on a fork", () => {
  // As in Gitea: the answer is 200, and the fork stays as visible as its parent.
  it("changes nothing, whichever way", async () => {
    const { owner, forker, root, child, grandchild } = await makeNetwork();
    const before = (await eventsOf(child)).length;
    expect(await edit(child, forker, { private: true })).toMatchObject({
      status: 200,
      body: { private: false },
    });
    await edit(root, owner, { private: true });
    expect(await edit(child, forker, { private: false })).toMatchObject({
      status: 200,
      body: { private: true },
    });
    expect(await visibilities(child, grandchild)).toEqual([PRIVATE, PRIVATE]);
    expect(await eventsOf(child)).toHaveLength(before + 1);
  });

  // SECURITY: the fork was private since its parent's owner is less visible than its own, and not
  // its parent by itself.
  it.each(["private", "limited"] as const)(
    "does not publish the repository of a %s organization",
    async (visibility) => {
      const [boss, member] = [await make.user(), await make.user()];
      const org = await make.org([boss], { visibility });
      await make.member(org, await make.team(org), member);
      const parent = await make.repo(org);
      const copy = await fork(member, parent);
      for (const value of [false, true, false]) {
        const { status, body } = await edit(copy, member, { private: value });
        expect([status, body.private]).toEqual([200, true]);
      }
      expect((await call("GET", at(copy))).status).toBe(404);
    },
  );

  it("follows its own setting once its parent is gone, and its forks follow it", async () => {
    const { owner, forker, root, child, grandchild } = await makeNetwork();
    await edit(root, owner, { private: true });
    await call("DELETE", at(root), { as: owner });
    // The deletion publishes nothing.
    expect(await visibilities(child, grandchild)).toEqual([PRIVATE, PRIVATE]);
    expect((await edit(child, forker, { private: false })).body.private).toBe(false);
    expect(await visibilities(child, grandchild)).toEqual([PUBLIC, PUBLIC]);
    await edit(child, forker, { private: true });
    expect(await visibilities(child, grandchild)).toEqual([PRIVATE, PRIVATE]);
  });
});

describe("a change of an owner's visibility", () => {
  const setOrg = (org: User, as: TestUser, visibility: Visibility) =>
    call("PATCH", `/orgs/${org.name}`, { as, json: { visibility } });

  it("hides the forks of an organization's repositories, and shows them again", async () => {
    const boss = await make.user();
    const org = await make.org([boss]);
    const root = await make.repo(org);
    const [open, limited] = [await make.user(), await make.user({ visibility: "limited" })];
    const forks = [await forkRow(open, root), await forkRow(limited, root)] as const;
    const deep = await forkRow(await make.user(), forks[1]);

    expect((await setOrg(org, boss, "limited")).status).toBe(200);
    expect(await visibilities(root, ...forks, deep)).toEqual([LIMITED, PRIVATE, LIMITED, PRIVATE]);
    expect((await call("GET", at(forks[0]))).status).toBe(404);
    await setOrg(org, boss, "private");
    expect(await visibilities(root, ...forks, deep)).toEqual([
      [false, "private"],
      PRIVATE,
      PRIVATE,
      PRIVATE,
    ]);
    await setOrg(org, boss, "public");
    expect(await visibilities(root, ...forks)).toEqual([PUBLIC, PUBLIC, LIMITED]);
    // Its parent is limited now as before.
    expect(await visibilities(deep)).toEqual([PRIVATE]);
  });

  it("hides the forks of a user's repositories, and shows them again", async () => {
    const [admin, owner] = [await make.admin(), await make.user()];
    const root = await make.repo(owner);
    const copy = await forkRow(await make.user(), root);
    const set = (visibility: Visibility) =>
      call("PATCH", `/admin/users/${owner.name}`, {
        as: admin,
        json: { login_name: owner.name, source_id: 0, visibility },
      });
    expect((await set("private")).status).toBe(200);
    expect(await visibilities(root, copy)).toEqual([[false, "private"], PRIVATE]);
    expect((await set("public")).status).toBe(200);
    expect(await visibilities(root, copy)).toEqual([PUBLIC, PUBLIC]);
  });

  // SECURITY: what its owner's visibility hid would become public with the owner.
  it("hides a fork whose owner becomes more visible than its parent", async () => {
    const boss = await make.user();
    const [org, other] = [
      await make.org([boss], { visibility: "limited" }),
      await make.org([boss], { visibility: "limited" }),
    ];
    const root = await make.repo(org);
    const copy = await forkRow(other, root);
    expect(await visibilities(copy)).toEqual([LIMITED]);
    await setOrg(other, boss, "public");
    expect(await visibilities(copy)).toEqual([PRIVATE]);
    await setOrg(other, boss, "limited");
    expect(await visibilities(copy)).toEqual([LIMITED]);
  });

  // The fork in between has another owner, and its stored state is that from before.
  it("reaches the owner's own forks through those of others", async () => {
    const boss = await make.user();
    const org = await make.org([boss]);
    const root = await make.repo(org);
    const between = await forkRow(await make.user(), root);
    const last = await forkRow(org, between);
    await setOrg(org, boss, "limited");
    expect(await visibilities(root, between, last)).toEqual([LIMITED, PRIVATE, PRIVATE]);
    await setOrg(org, boss, "public");
    expect(await visibilities(root, between, last)).toEqual([PUBLIC, PUBLIC, PUBLIC]);
  });

  it("ends the stars and watches of outsiders", async () => {
    const [boss, fan, member] = [await make.user(), await make.user(), await make.user()];
    const org = await make.org([boss]);
    await make.member(org, await make.team(org), member);
    const root = await make.repo(org);
    const copy = await forkRow(await make.user(), root);
    for (const as of [fan, member]) {
      await call("PUT", `/user/starred/${root.owner}/${root.name}`, { as });
      await call("PUT", `/user/starred/${copy.owner}/${copy.name}`, { as });
      await call("PUT", `${at(root)}/subscription`, { as });
    }
    // Who is signed in still sees the repository, and not the fork.
    await setOrg(org, boss, "limited");
    expect(await rowOf(root)).toMatchObject({ starCount: 2 });
    expect(await rowOf(copy)).toMatchObject({ starCount: 0 });
    await setOrg(org, boss, "private");
    expect(await rowOf(root)).toMatchObject({ starCount: 1, watcherCount: 1 });
    const left = await db.select().from(stars).where(eq(stars.repoId, root.id));
    expect(left.map(({ userId }) => userId)).toEqual([member.id]);
  });
});

describe("a transfer", () => {
  const transfer = (repo: Named, as: TestUser, to: User) =>
    call("POST", `${at(repo)}/transfer`, { as, json: { new_owner: to.name } });

  it("hides the forks of a repository that goes to a less visible owner, and shows them again", async () => {
    const owner = await make.user();
    const [limited, hidden, open] = [
      await make.org([owner], { visibility: "limited" }),
      await make.org([owner], { visibility: "private" }),
      await make.org([owner]),
    ];
    const root = await make.repo(owner);
    const copy = await forkRow(await make.user(), root);
    const deep = await forkRow(await make.user(), copy);
    let from: Named = root;
    for (const [to, expected] of [
      [limited, [LIMITED, PRIVATE, PRIVATE]],
      [open, [PUBLIC, PUBLIC, PUBLIC]],
      [hidden, [[false, "private"], PRIVATE, PRIVATE]],
      [owner, [PUBLIC, PUBLIC, PUBLIC]],
    ] as const) {
      expect((await transfer(from, owner, to)).status).toBe(202);
      from = { ...root, owner: to.name };
      expect(await visibilities(root, copy, deep)).toEqual(expected);
    }
    expect(typesOf(await eventsOf(deep))).toEqual(
      Array.from({ length: 4 }, () => "repository.visibility_changed"),
    );
  });

  it("gives a fork, and its forks, the visibility that its parent requires below the new owner", async () => {
    const owner = await make.user();
    const [limited, other, open] = [
      await make.org([owner], { visibility: "limited" }),
      await make.org([owner], { visibility: "limited" }),
      await make.org([owner]),
    ];
    const root = await make.repo(limited);
    const copy = await forkRow(other, root);
    const deep = await forkRow(await make.user({ visibility: "limited" }), copy);
    expect((await transfer(copy, owner, open)).body.private).toBe(true);
    expect(await visibilities(copy, deep)).toEqual([PRIVATE, PRIVATE]);
    const back = await transfer({ ...copy, owner: open.name }, owner, other);
    expect(back.body.private).toBe(false);
    expect(await visibilities(copy, deep)).toEqual([LIMITED, LIMITED]);
  });
});

// Each change is right by itself above; here each begins with what others have left.
it("a fork is as private as its parent requires after any sequence of changes", async () => {
  const random = makeRandom(7);
  const [boss, admin] = [await make.user(), await make.admin()];
  const orgs = await Promise.all(Array.from({ length: 4 }, () => make.org([boss])));
  const network = [await make.repo(boss)];
  for (let count = 0; count < 6; count += 1) {
    network.push(await forkRow(await make.user(), random.pick(network)));
  }
  const ids = network.map(({ id }) => id);
  const parents = alias(repositories, "parents");
  const findForks = () =>
    db
      .select({
        id: repositories.id,
        name: repositories.name,
        isPrivate: repositories.isPrivate,
        owner: users.name,
        ownerVisibility: users.visibility,
        parentVisibility: parents.visibility,
      })
      .from(repositories)
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .leftJoin(parents, eq(parents.id, repositories.parentId))
      .where(inArray(repositories.id, ids));
  for (let step = 0; step < 40; step += 1) {
    const path = at(random.pick(await findForks()));
    const org = random.pick(orgs);
    const visibility = random.pick(["public", "limited", "private"] as const);
    const requests = [
      ["PATCH", `/orgs/${org.name}`, { visibility }],
      ["PATCH", path, { private: random.pick([true, false]) }],
      ["POST", `${path}/transfer`, { new_owner: org.name }],
    ] as const;
    const [method, to, json] = random.pick(requests);
    // A transfer to an owner of another fork of the parent is refused.
    expect([200, 202, 422]).toContain((await call(method, to, { as: admin, json })).status);
    for (const each of await findForks()) {
      if (each.parentVisibility === null) continue;
      const isNarrower = each.parentVisibility === "limited" && each.ownerVisibility === "public";
      const isPrivate = each.parentVisibility === "private" || isNarrower;
      expect([step, each.isPrivate]).toEqual([step, isPrivate]);
    }
  }
});

async function rowOf({ id, owner }: Named): Promise<TestRepo> {
  const [row] = await db.select().from(repositories).where(eq(repositories.id, id));
  if (!row) throw new Error("the repository is gone");
  return { ...row, owner };
}

const totals = async () =>
  Object.fromEntries(
    (await db.select().from(repositoryTotals)).map(({ visibility, count }) => [visibility, count]),
  );
