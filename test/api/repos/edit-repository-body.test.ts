import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  repositories,
  repositoryRedirects,
  repositoryTotals,
  stars,
  users,
  watches,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { ascending } from "../../support/list.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeCommit, makeEmptyPack, push, pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const pathOf = (repo: { owner: string; name: string }) => `/repos/${repo.owner}/${repo.name}`;
const edit = (repo: TestRepo, as: TestUser, json: unknown) =>
  call("PATCH", pathOf(repo), { as, json });
const rowOf = async (repo: { id: number }) =>
  (await db.select().from(repositories).where(eq(repositories.id, repo.id)))[0];

/** A repository with its owner, for an edit. */
async function mine(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  return { owner, repo: await make.repo(owner, fields) };
}

describe("PATCH /repos/{owner}/{repo}", () => {
  it.each([
    [{ description: "New" }],
    [{ website: "https://example.com/page?a=b" }],
    [{ private: true }],
    [{ template: true }],
    [{ default_branch: "trunk" }],
    [{ has_code: false }],
    [{ has_projects: false }],
    [{ projects_mode: "repo" }],
    [{ has_releases: false }],
    [{ has_packages: false }],
    [{ has_actions: false }],
    [{ has_pull_requests: false }],
    [{ ignore_whitespace_conflicts: true }],
    [{ allow_merge_commits: false }],
    [{ allow_rebase: false }],
    [{ allow_rebase_explicit: false }],
    [{ allow_squash_merge: false }],
    [{ allow_fast_forward_only_merge: false }],
    [{ allow_rebase_update: false }],
    [{ allow_manual_merge: true }],
    [{ autodetect_manual_merge: true }],
    [{ default_delete_branch_after_merge: true }],
    [{ default_merge_style: "squash" }],
    [{ default_allow_maintainer_edit: true }],
  ])("changes %j and nothing else, in three round trips", async (change) => {
    const { owner, repo } = await mine();
    const before = await call("GET", pathOf(repo), { as: owner });

    const { answer, line } = await logged(() => edit(repo, owner, change));

    expect(answer.status).toBe(200);
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    const after = await call("GET", pathOf(repo), { as: owner });
    expect(after.body).toEqual({
      ...before.body,
      ...change,
      updated_at: after.body.updated_at,
    });
    expect(after.body.updated_at).not.toBe(before.body.updated_at);
    expect(answer.body).toEqual(after.body);
    const [event, ...rest] = await eventsOf(repo);
    expect(event).toMatchObject({ type: "repository.edited", actorId: owner.id });
    expect(typesOf(rest)).toEqual("private" in change ? ["repository.visibility_changed"] : []);
  });

  it.each([
    [{ has_issues: false }, "internal_tracker"],
    [{ has_wiki: false }, "external_wiki"],
  ])("changes %j, which removes its settings from the response too", async (change, field) => {
    const { owner, repo } = await mine({ externalWikiUrl: "https://wiki.example.com" });
    const before = await call("GET", pathOf(repo), { as: owner });
    const { body } = await edit(repo, owner, change);
    const { [field]: gone, ...rest } = before.body;
    expect(gone).toBeDefined();
    expect(body).toEqual({ ...rest, ...change, updated_at: body.updated_at });
  });

  it("changes nothing and records no event for an edit without changes", async () => {
    const { owner, repo } = await mine();
    for (const json of [{}, { description: null }, { unknown_field: 1 }]) {
      expect((await edit(repo, owner, json)).status).toBe(200);
    }
    expect((await rowOf(repo))?.updatedAt).toBe(repo.updatedAt);
    expect(await eventsOf(repo)).toEqual([]);
  });

  // SECURITY: pages render these as links.
  it.each([
    [{ website: "javascript:alert(1)" }],
    [{ website: "JaVaScRiPt:alert(1)" }],
    [{ website: " javascript:alert(1)" }],
    [{ website: "java\nscript:alert(1)" }],
    [{ website: "data:text/html,x" }],
    [{ website: "//example.com" }],
    [{ website: "example.com" }],
    [{ website: "ftp://example.com" }],
    [{ website: " https://example.com" }],
    [{ website: `https://example.com/${"x".repeat(1024)}` }],
    [{ description: "x".repeat(2049) }],
    [{ description: 1 }],
    [{ private: "no" }],
    [{ default_branch: "a..b" }],
    [{ default_branch: "" }],
    [{ default_branch: "x".repeat(101) }],
    [{ name: "" }],
    [{ name: "a b" }],
    [{ name: ".." }],
    [{ name: "x.git" }],
    [{ projects_mode: "none" }],
    [{ default_merge_style: "octopus" }],
    [{ default_merge_style: "squash", allow_squash_merge: false }],
    [{ allow_merge_commits: false, default_merge_style: "merge" }],
    [{ external_wiki: { external_wiki_url: "javascript:alert(1)" } }],
    [{ external_wiki: { external_wiki_url: "http://localhost/wiki" } }],
    [{ external_tracker: { external_tracker_url: "javascript:alert(1)" } }],
    [{ external_tracker: { external_tracker_url: "" } }],
    [{ external_tracker: {} }],
    [
      {
        external_tracker: {
          external_tracker_url: "https://x.example",
          external_tracker_format: "javascript:{index}",
        },
      },
    ],
    [
      {
        external_tracker: {
          external_tracker_url: "https://x.example",
          external_tracker_format: "https://x.example/{index",
        },
      },
    ],
    [
      {
        external_tracker: {
          external_tracker_url: "https://x.example",
          external_tracker_format: "https://x.example/{number}",
        },
      },
    ],
    [
      {
        external_tracker: {
          external_tracker_url: "https://x.example",
          external_tracker_style: "roman",
        },
      },
    ],
  ])("refuses %j, and writes nothing", async (json) => {
    const { owner, repo } = await mine();
    const before = await rowOf(repo);
    // A valid field next to the invalid one is not stored either.
    const refused = await edit(repo, owner, { template: true, ...json });
    expect(refused).toMatchObject({ status: 422, body: { message: expect.any(String) } });
    expect(await rowOf(repo)).toEqual(before);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("removes a URL again", async () => {
    const { owner, repo } = await mine({ website: "https://example.com" });
    expect((await edit(repo, owner, { website: "" })).body.website).toBe("");
  });

  it("requires an administrator of the repository", async () => {
    const { owner, repo } = await mine();
    const hidden = await make.repo(owner, { isPrivate: true });
    const [reader, writer, manager] = [await make.user(), await make.user(), await make.user()];
    for (const each of [repo, hidden]) {
      await make.collaborator(each, reader, 1);
      await make.collaborator(each, writer, 2);
      await make.collaborator(each, manager, 3);
    }
    const json = { description: "changed" };

    for (const as of [reader, writer, await make.user()]) {
      expect(await call("PATCH", pathOf(repo), { as, json })).toMatchObject({
        status: 403,
        body: { message: "user should be a repo admin or a site admin" },
      });
    }
    expect((await call("PATCH", pathOf(hidden), { as: writer, json })).status).toBe(403);
    const stranger = await make.user();
    for (const sending of [
      { json },
      { as: stranger, json },
      { as: stranger, json: { name: "" } },
    ]) {
      expect(await call("PATCH", pathOf(hidden), sending)).toMatchObject({ status: 404, body: "" });
    }
    expect((await call("PATCH", pathOf(repo), { json })).status).toBe(401);
    const token = await make.token(owner, { scopes: "read:repository,write:user" });
    expect((await call("PATCH", pathOf(repo), { token, json })).status).toBe(403);
    for (const each of [repo, hidden]) {
      expect((await rowOf(each))?.description).toBe("");
      expect(await eventsOf(each)).toEqual([]);
    }

    for (const as of [manager, owner, await make.admin()]) {
      expect((await call("PATCH", pathOf(hidden), { as, json })).status).toBe(200);
    }
  });
});

describe("the default branch", () => {
  it("must exist, and an edit that names another changes nothing", async () => {
    const { owner, repo } = await mine();
    const { oid, pack } = makeCommit("first");
    await push(owner, repo, oid, pack);
    await pushCommands(owner, repo, [{ ref: "refs/tags/v1", new: oid }], { pack: makeEmptyPack() });
    for (const name of ["nowhere", "v1", "refs/heads/main", oid]) {
      const json = { default_branch: name, description: "New" };
      expect(await edit(repo, owner, json), name).toMatchObject({
        status: 422,
        body: { message: expect.any(String) },
      });
    }
    expect(await rowOf(repo)).toMatchObject({ defaultBranch: "main", description: "" });
    expect(typesOf(await eventsOf(repo))).toEqual(["repository.pushed", "repository.pushed"]);

    await pushCommands(owner, repo, [{ ref: "refs/heads/trunk", new: oid }], {
      pack: makeEmptyPack(),
    });
    expect(await edit(repo, owner, { default_branch: "trunk" })).toMatchObject({
      status: 200,
      body: { default_branch: "trunk" },
    });
    const head = await call("GET", `${pathOf(repo)}/commits?limit=1`);
    expect(head.body).toMatchObject([{ sha: oid }]);
  });

  it("may be any name while there is no branch, and the first push creates it", async () => {
    const { owner, repo } = await mine();
    expect(await edit(repo, owner, { default_branch: "later" })).toMatchObject({
      status: 200,
      body: { default_branch: "later", empty: true },
    });
    // The name that it has already is no change.
    expect((await edit(repo, owner, { default_branch: "later", website: "" })).status).toBe(200);
  });
});

describe("units", () => {
  const UNITS = [
    "has_code",
    "has_issues",
    "has_pull_requests",
    "has_releases",
    "has_wiki",
    "has_projects",
    "has_packages",
    "has_actions",
  ];
  const all = (value: boolean, except: string[] = []) =>
    Object.fromEntries(UNITS.filter((unit) => !except.includes(unit)).map((unit) => [unit, value]));

  it.each(UNITS)("allows %s as the only unit, and refuses to disable it", async (unit) => {
    const { owner, repo } = await mine();
    expect((await edit(repo, owner, all(false, [unit]))).body).toMatchObject({
      ...all(false, [unit]),
      [unit]: true,
    });

    expect(await edit(repo, owner, { [unit]: false, description: "x" })).toMatchObject({
      status: 422,
      body: { message: "at least one unit must stay enabled" },
    });

    expect((await call("GET", pathOf(repo))).body).toMatchObject({ [unit]: true, description: "" });
    expect(typesOf(await eventsOf(repo))).toEqual(["repository.edited"]);
    const other = UNITS.find((each) => each !== unit) ?? "";
    const swap = { [unit]: false, [other]: true };
    expect((await edit(repo, owner, swap)).body).toMatchObject(swap);
  });

  // Each edit alone would leave a unit enabled: a check constraint refuses the second.
  it("keeps one unit when two concurrent edits would leave none", async () => {
    const { owner, repo } = await mine();
    await edit(repo, owner, all(false, ["has_wiki", "has_code"]));
    const answers = await Promise.all([
      edit(repo, owner, { has_wiki: false }),
      edit(repo, owner, { has_code: false }),
    ]);
    expect(ascending(answers.map(({ status }) => status))).toEqual([200, 422]);
    const { body } = await call("GET", pathOf(repo));
    expect(body.has_wiki).toBe(!body.has_code);
    expect(await eventsOf(repo)).toHaveLength(2);
  });

  it("switches to an external issue tracker and back", async () => {
    const { owner, repo } = await mine();
    const external = {
      external_tracker_url: "https://tracker.example.com/",
      external_tracker_format: "https://tracker.example.com/{user}/{repo}/{index}",
      external_tracker_style: "regexp",
      external_tracker_regexp_pattern: "TASK-(\\d+)",
    };
    const sent = await edit(repo, owner, { has_issues: true, external_tracker: external });
    expect(sent.body.external_tracker).toEqual(external);
    expect(sent.body).not.toHaveProperty("internal_tracker");

    const back = await edit(repo, owner, { internal_tracker: { enable_time_tracker: false } });
    expect(back.body).not.toHaveProperty("external_tracker");
    expect(back.body.internal_tracker).toEqual({
      enable_time_tracker: false,
      allow_only_contributors_to_track_time: true,
      enable_issue_dependencies: true,
    });
    // No setting of the former tracker reappears with the next one.
    const url = "https://other.example.com/";
    const next = await edit(repo, owner, { external_tracker: { external_tracker_url: url } });
    expect(next.body.external_tracker).toEqual({
      external_tracker_url: url,
      external_tracker_format: "",
      external_tracker_style: "numeric",
      external_tracker_regexp_pattern: "",
    });
  });

  it("switches to an external wiki and back", async () => {
    const { owner, repo } = await mine();
    const external_wiki = { external_wiki_url: "https://wiki.example.com/" };
    expect((await edit(repo, owner, { external_wiki })).body.external_wiki).toEqual(external_wiki);
    expect((await edit(repo, owner, { description: "x" })).body.external_wiki).toEqual(
      external_wiki,
    );
    expect((await edit(repo, owner, { has_wiki: true })).body).not.toHaveProperty("external_wiki");
  });
});

describe("two concurrent edits", () => {
  it("both take effect, also within one group of settings", async () => {
    const { owner, repo } = await mine();
    const changes = [
      { description: "one" },
      { website: "https://two.example/" },
      { allow_rebase: false },
      { allow_squash_merge: false },
      { default_merge_style: "rebase-merge" },
      { internal_tracker: { enable_time_tracker: false } },
      { internal_tracker: { enable_issue_dependencies: false } },
      { has_wiki: false },
      { template: true },
    ];
    const answers = await Promise.all(changes.map((change) => edit(repo, owner, change)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const { body } = await call("GET", pathOf(repo));
    expect(body).toMatchObject({
      ...Object.assign({}, ...changes),
      internal_tracker: { enable_time_tracker: false, enable_issue_dependencies: false },
    });
    expect(await eventsOf(repo)).toHaveLength(changes.length);
  });
});

describe("visibility", () => {
  it("deletes the stars and watches of users who can no longer see it, and no others", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const teammate = await make.user();
    const elsewhere = await make.user();
    const outsider = await make.user();
    const collaborator = await make.user();
    const admin = await make.admin();
    await make.member(org, await make.team(org, { access: 1, all: true }), teammate);
    await make.member(org, await make.team(org, { access: 1, all: false }), elsewhere);
    await make.collaborator(repo, collaborator, 1);
    for (const as of [owner, teammate, elsewhere, outsider, collaborator, admin]) {
      await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as });
      await call("PUT", `${pathOf(repo)}/subscription`, { as });
    }
    const totals = async () =>
      Object.fromEntries(
        (await db.select().from(repositoryTotals)).map((row) => [row.visibility, row.count]),
      );
    const before = await totals();

    const edited = await edit(repo, owner, { private: true });

    expect(edited.body).toMatchObject({ private: true, stars_count: 4, watchers_count: 4 });
    expect((await call("GET", pathOf(repo), { as: owner })).body).toMatchObject({
      stars_count: 4,
      watchers_count: 4,
    });
    const insiders = ascending([owner, teammate, collaborator, admin].map(({ id }) => id));
    for (const table of [stars, watches]) {
      const rows = await db.select().from(table).where(eq(table.repoId, repo.id));
      expect(ascending(rows.map(({ userId }) => userId))).toEqual(insiders);
      expect(new Set(rows.map((row) => row.visibility))).toEqual(new Set(["private"]));
    }
    const [lost] = await db.select().from(users).where(eq(users.id, outsider.id));
    expect(lost).toMatchObject({ starCount: 0, watchCount: 0 });
    expect(await totals()).toEqual({
      ...before,
      public: (before.public ?? 0) - 1,
      private: (before.private ?? 0) + 1,
    });
    expect(await call("GET", pathOf(repo), { as: outsider })).toMatchObject({ status: 404 });
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      type: "repository.visibility_changed",
      payload: { isPrivate: true },
    });

    const back = await edit(repo, owner, { private: false });
    expect(back.body).toMatchObject({ private: false, stars_count: 4, watchers_count: 4 });
    expect(await totals()).toEqual(before);
    expect((await call("GET", pathOf(repo))).status).toBe(200);
    // Deleted stars and watches are not restored.
    expect((await call("GET", "/user/starred", { as: outsider })).body).toEqual([]);
  });

  it("records an event only for an actual change", async () => {
    const { owner, repo } = await mine({ isPrivate: true });
    await edit(repo, owner, { private: true });
    expect(typesOf(await eventsOf(repo))).not.toContain("repository.visibility_changed");
  });
});

describe("archiving", () => {
  it("stores the time, and clears it again", async () => {
    const { owner, repo } = await mine();
    const archived = await edit(repo, owner, { archived: true });
    expect(archived.body.archived).toBe(true);
    expect(Date.parse(archived.body.archived_at)).toBeGreaterThan(Date.now() - 60_000);
    const stored = (await rowOf(repo))?.archivedAt;
    await edit(repo, owner, { archived: true });
    expect((await rowOf(repo))?.archivedAt).toBe(stored);
    expect((await edit(repo, owner, { archived: false })).body).toMatchObject({
      archived: false,
      archived_at: "1970-01-01T00:00:00Z",
    });
  });

  it("is refused for mirrors", async () => {
    const { owner, repo } = await mine({ isMirror: true });
    expect(await edit(repo, owner, { archived: true })).toMatchObject({
      status: 422,
      body: { message: "repo is a mirror, cannot archive/un-archive" },
    });
    expect((await rowOf(repo))?.archivedAt).toBeNull();
    expect(await eventsOf(repo)).toEqual([]);
  });
});

describe("renaming", () => {
  it("redirects the old name to the new one: reads by 301, writes by 308", async () => {
    const { owner, repo } = await mine();
    const name = freshName("renamed");

    expect((await edit(repo, owner, { name })).body.full_name).toBe(`${owner.name}/${name}`);

    const target = `https://forge.example/api/v1/repos/${owner.name}/${name}`;
    const read = await call("GET", `${pathOf(repo)}/stargazers?page=2&limit=5`);
    expect([read.status, read.headers.get("Location")]).toEqual([
      301,
      `${target}/stargazers?page=2&limit=5`,
    ]);
    // After a 301 many clients would repeat the write as a GET, which changes nothing.
    const write = await call("PATCH", pathOf(repo), { as: owner, json: { description: "x" } });
    expect([write.status, write.headers.get("Location")]).toEqual([308, target]);
    expect((await rowOf(repo))?.description).toBe("");
    expect((await eventsOf(repo)).at(-1)).toMatchObject({
      type: "repository.renamed",
      payload: { from: repo.name, to: name },
    });
  });

  // SECURITY: a redirect would reveal that its target exists, and its name.
  it("does not redirect callers who may not see it", async () => {
    const { owner, repo } = await mine({ isPrivate: true });
    await edit(repo, owner, { name: freshName("renamed") });
    for (const sending of [{}, { as: await make.user() }]) {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const json = method === "PATCH" ? { description: "x" } : undefined;
        const answer = await call(method, pathOf(repo), { ...sending, ...(json && { json }) });
        expect(answer).toMatchObject({ status: 404, body: "" });
        expect(answer.headers.get("Location")).toBeNull();
      }
    }
  });

  it("frees the old name for a new repository, which ends the redirect", async () => {
    const { owner, repo } = await mine();
    await edit(repo, owner, { name: freshName("renamed") });

    const taken = await call("POST", "/user/repos", { as: owner, json: { name: repo.name } });

    expect(taken.status).toBe(201);
    expect((await call("GET", pathOf(repo))).body.id).toBe(taken.body.id);
    expect(
      await db
        .select()
        .from(repositoryRedirects)
        .where(
          and(
            eq(repositoryRedirects.ownerId, owner.id),
            eq(repositoryRedirects.lowerName, repo.lowerName),
          ),
        ),
    ).toEqual([]);
    await call("DELETE", pathOf(repo), { as: owner });
    expect((await call("GET", pathOf(repo))).status).toBe(404);
  });

  it("works back and forth and over several names, without redirect loops", async () => {
    const { owner, repo } = await mine();
    const [second, third] = [freshName("second"), freshName("third")];
    await edit(repo, owner, { name: second });
    await edit({ ...repo, name: second }, owner, { name: third });
    for (const name of [repo.name, second]) {
      const moved = await call("GET", `/repos/${owner.name}/${name}`);
      expect(moved.headers.get("Location")).toMatch(new RegExp(`/${third}$`));
    }
    await edit({ ...repo, name: third }, owner, { name: repo.name });
    expect((await call("GET", pathOf(repo))).body.id).toBe(repo.id);
    expect((await call("GET", `/repos/${owner.name}/${third}`)).status).toBe(301);
  });

  it("changes the case of a name without a redirect", async () => {
    const { owner, repo } = await mine();
    const name = repo.name.toUpperCase();
    expect((await edit(repo, owner, { name })).body.name).toBe(name);
    expect(
      await db.select().from(repositoryRedirects).where(eq(repositoryRedirects.repoId, repo.id)),
    ).toEqual([]);
  });

  it("refuses a name that is taken, and changes nothing", async () => {
    const { owner, repo } = await mine();
    const other = await make.repo(owner);
    const refused = await edit(repo, owner, { name: other.name.toUpperCase(), description: "x" });
    expect(refused).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("repository already exists") },
    });
    expect(await rowOf(repo)).toMatchObject({ name: repo.name, description: "" });
    expect(await eventsOf(repo)).toEqual([]);
    expect(
      await db.select().from(repositoryRedirects).where(eq(repositoryRedirects.ownerId, owner.id)),
    ).toEqual([]);
  });

  // A name may equal an earlier segment of the path, and a path may contain percent-encoding.
  it("replaces the right segments of the path, whatever the names", async () => {
    const owner = await make.user({ name: `v${Math.floor(Math.random() * 1e12)}` });
    const repo = await make.repo(owner, { name: "repos" });
    const name = freshName("renamed");
    await edit(repo, owner, { name });
    const escaped = `%${owner.name.charCodeAt(0).toString(16)}${owner.name.slice(1)}`;
    const moved = await call("GET", `/repos/${escaped}/%72epos`);
    expect([moved.status, moved.headers.get("Location")]).toEqual([
      301,
      `https://forge.example/api/v1/repos/${owner.name}/${name}`,
    ]);
  });
});
