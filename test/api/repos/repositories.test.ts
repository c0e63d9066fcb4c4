import { count, eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  labels,
  accessTokenRepositories,
  collaborations,
  publicKeys,
  repositories,
  repositoryRedirects,
  repositoryTotals,
  stars,
  teamRepositories,
  users,
  watches,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsBy, eventsOf, typesOf } from "../../support/events.ts";
import { ascending } from "../../support/list.ts";
import { freshName, make } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";

/** The repositories that an account owns, by name. */
const namesOf = async (owner: { id: number }): Promise<string[]> =>
  (await db.select().from(repositories).where(eq(repositories.ownerId, owner.id))).map(
    ({ name }) => name,
  );

describe("POST /user/repos", () => {
  it("creates an empty repository that its creator watches, and records an event", async () => {
    const owner = await make.user();
    const name = freshName("Repo");

    const { answer, line } = await logged(() =>
      call("POST", "/user/repos", { as: owner, json: { name, description: "A thing" } }),
    );

    expect(answer).toMatchObject({
      status: 201,
      body: {
        name,
        full_name: `${owner.name}/${name}`,
        description: "A thing",
        owner: { login: owner.name },
        private: false,
        empty: true,
        fork: false,
        watchers_count: 1,
        default_branch: "main",
        permissions: { admin: true, push: true, pull: true },
        clone_url: `https://forge.example/${owner.name}/${name}.git`,
      },
    });
    const read = await call("GET", `/repos/${owner.name}/${name.toUpperCase()}`);
    expect(read.body).toEqual({
      ...answer.body,
      permissions: { admin: false, push: false, pull: true },
      owner: read.body.owner,
    });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    const repoId = answer.body.id;
    expect(await eventsOf(answer.body)).toMatchObject([
      { type: "repository.created", actorId: owner.id, ownerId: owner.id, payload: { name } },
    ]);
    expect(await db.select().from(watches).where(eq(watches.repoId, repoId))).toMatchObject([
      { userId: owner.id, visibility: "public", createdAt: expect.any(Number) },
    ]);
  });

  it("accepts every option", async () => {
    const owner = await make.user();
    const input = {
      name: freshName("repo"),
      description: "Unicode: żółw 🐢",
      private: true,
      template: true,
      default_branch: "trunk/stable",
      trust_model: "committer",
      object_format_name: "sha1",
      auto_init: false,
    };

    const created = await call("POST", "/user/repos", { as: owner, json: input });

    expect(created).toMatchObject({
      status: 201,
      body: {
        description: input.description,
        private: true,
        template: true,
        default_branch: "trunk/stable",
        object_format_name: "sha1",
      },
    });
    const [row] = await db.select().from(repositories).where(eq(repositories.id, created.body.id));
    expect(row).toMatchObject({ trustModel: "committer", visibility: "private" });
  });

  // Gitea's defaults, which clients rely on.
  it("enables the default units and settings of a new repository, and nothing else", async () => {
    const owner = await make.user();

    const { body } = await call("POST", "/user/repos", {
      as: owner,
      json: { name: freshName("repo"), default_branch: "", trust_model: "no such model" },
    });

    expect(body).toMatchObject({
      description: "",
      website: "",
      private: false,
      template: false,
      mirror: false,
      archived: false,
      internal: false,
      size: 0,
      stars_count: 0,
      forks_count: 0,
      open_issues_count: 0,
      open_pr_counter: 0,
      release_counter: 0,
      default_branch: "main",
      has_code: true,
      has_issues: true,
      has_wiki: true,
      has_pull_requests: true,
      has_projects: true,
      projects_mode: "all",
      has_releases: true,
      has_packages: true,
      has_actions: true,
      internal_tracker: {
        enable_time_tracker: true,
        allow_only_contributors_to_track_time: true,
        enable_issue_dependencies: true,
      },
      ignore_whitespace_conflicts: false,
      allow_merge_commits: true,
      allow_rebase: true,
      allow_rebase_explicit: true,
      allow_squash_merge: true,
      allow_fast_forward_only_merge: true,
      allow_rebase_update: true,
      allow_manual_merge: false,
      autodetect_manual_merge: false,
      default_delete_branch_after_merge: false,
      default_merge_style: "merge",
      default_allow_maintainer_edit: false,
      topics: [],
      licenses: [],
    });
    expect(body).not.toHaveProperty("external_tracker");
    expect(body).not.toHaveProperty("external_wiki");
    expect(body).not.toHaveProperty("parent");
  });

  it("matches the keys of the body in any case", async () => {
    const owner = await make.user();
    const name = freshName("repo");
    const created = await call("POST", "/user/repos", {
      as: owner,
      json: { Name: name, PRIVATE: true, description: null },
    });
    expect(created).toMatchObject({ status: 201, body: { name, private: true, description: "" } });
  });

  it.each([
    "a",
    "0",
    "_",
    "--",
    ".hidden",
    "with.dots.",
    "Mixed-Case_1.2",
    "wiki",
    "git",
    "a.wikis",
    "x".repeat(100),
  ])("accepts the name %j", async (name) => {
    const owner = await make.user();
    const created = await call("POST", "/user/repos", { as: owner, json: { name } });
    expect(created).toMatchObject({ status: 201, body: { name } });
  });

  it.each([
    ["", "must not be empty"],
    [".", "reserved"],
    ["..", "reserved"],
    ["-", "reserved"],
    ["a..b", "pattern"],
    ["x.wiki", "pattern"],
    ["x.GIT", "pattern"],
    ["x.Rss", "pattern"],
    ["x.atom", "pattern"],
    ["a b", "must consist of ASCII letters, digits"],
    [" a", "must consist of ASCII letters, digits"],
    ["a\n", "must consist of ASCII letters, digits"],
    ["a/b", "must consist of ASCII letters, digits"],
    ["../a", "must consist of ASCII letters, digits"],
    ["a%2fb", "must consist of ASCII letters, digits"],
    ["żółw", "must consist of ASCII letters, digits"],
    ["\u212a", "must consist of ASCII letters, digits"], // The Kelvin sign, which folds to "k".
    ["a\u0000", "must consist of ASCII letters, digits"],
    ["x".repeat(101), "must have at most 100 characters"],
    [5, "[name]: must be a string"],
    [undefined, "[name]: is required"],
  ])("refuses the name %j, and writes nothing", async (name, reason) => {
    const owner = await make.user();
    const refused = await call("POST", "/user/repos", { as: owner, json: { name } });
    expect(refused).toMatchObject({
      status: 422,
      body: {
        message: expect.stringContaining(reason),
        url: "https://forge.example/api/swagger",
      },
    });
    expect(await namesOf(owner)).toEqual([]);
    expect(await eventsBy(owner)).toEqual([]);
  });

  it("refuses a name that the owner already uses, in any case, and keeps the existing repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { description: "the first" });

    for (const name of [repo.name, repo.name.toUpperCase()]) {
      const json = { name, description: "the second" };
      expect(await call("POST", "/user/repos", { as: owner, json })).toMatchObject({
        status: 409,
        body: { message: "The repository with the same name already exists." },
      });
    }

    expect(await namesOf(owner)).toEqual([repo.name]);
    expect(await eventsBy(owner)).toEqual([]);
    expect(await db.select().from(watches).where(eq(watches.userId, owner.id))).toEqual([]);
  });

  it("lets two accounts use the same name", async () => {
    const name = freshName("repo");
    for (const owner of [await make.user(), await make.user()]) {
      const created = await call("POST", "/user/repos", { as: owner, json: { name } });
      expect(created.status).toBe(201);
    }
  });

  it("gives the name to one of ten concurrent requests", async () => {
    const owner = await make.user();
    const name = freshName("race");

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call("POST", "/user/repos", { as: owner, json: { name } })),
    );

    expect(ascending(answers.map(({ status }) => status))).toEqual([
      201,
      ...Array.from({ length: 9 }, () => 409),
    ]);
    expect(await namesOf(owner)).toEqual([name]);
    expect(typesOf(await eventsBy(owner))).toEqual(["repository.created"]);
    const won = answers.find(({ status }) => status === 201);
    expect(await call("GET", `/repositories/${won?.body.id}`)).toMatchObject({
      body: { watchers_count: 1 },
    });
  });

  it("creates the labels of a template, and refuses an unknown one", async () => {
    const owner = await make.user();
    const create = (issue_labels: string) => {
      const json = { name: freshName("repo"), auto_init: true, issue_labels };
      return call("POST", "/user/repos", { as: owner, json });
    };
    expect((await create("None")).status).toBe(422);
    expect(await namesOf(owner)).toEqual([]);
    expect(await eventsBy(owner)).toEqual([]);
    for (const name of ["Default", "Advanced", ""]) {
      const { status, body } = await create(name);
      expect(status).toBe(201);
      const expected = name === "" ? [] : (await call("GET", `/label/templates/${name}`)).body;
      const isOfRepo = eq(labels.repoId, body.id);
      const rows = await db.select().from(labels).where(isOfRepo).orderBy(labels.id);
      const fields = rows.map(({ name: label, isExclusive, color, description }) => ({
        name: label,
        exclusive: isExclusive,
        color,
        description,
      }));
      expect(fields).toEqual(expected);
    }
  });

  it.each(["main", "feature/x", "v1.0", "a-b_c", "żółw", "@a", "a@", "x".repeat(100)])(
    "accepts the default branch %j, as git does",
    async (branch) => {
      const owner = await make.user();
      const created = await call("POST", "/user/repos", {
        as: owner,
        json: { name: freshName("repo"), default_branch: branch },
      });
      expect(created).toMatchObject({ status: 201, body: { default_branch: branch } });
    },
  );

  it.each([
    "@",
    "-a",
    "a b",
    "a..b",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[b",
    "a\\b",
    "a\u0001",
    "a\u007f",
    "a@{b",
    "/a",
    "a/",
    "a//b",
    "a.",
    ".a",
    "a/.b",
    "a.lock",
    "a.lock/b",
    "x".repeat(101),
  ])("refuses the default branch %j, which git refuses, and writes nothing", async (branch) => {
    const owner = await make.user();
    const refused = await call("POST", "/user/repos", {
      as: owner,
      json: { name: freshName("repo"), default_branch: branch },
    });
    expect(refused).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("[default_branch]") },
    });
    expect(await namesOf(owner)).toEqual([]);
  });

  it.each([
    [{ description: "x".repeat(2049) }],
    [{ description: 7 }],
    [{ private: "yes" }],
    [{ template: 1 }],
    [{ object_format_name: "sha256" }],
    [{ object_format_name: "md5" }],
  ])("refuses a field of the wrong type or size: %j", async (input) => {
    const owner = await make.user();
    const json = { name: freshName("repo"), ...input };
    expect((await call("POST", "/user/repos", { as: owner, json })).status).toBe(422);
    expect(await namesOf(owner)).toEqual([]);
  });

  it("requires a signed-in user with both write scopes", async () => {
    const user = await make.user();
    const json = { name: freshName("repo") };
    expect((await call("POST", "/user/repos", { json })).status).toBe(401);
    for (const scopes of ["write:user", "write:repository", "read:user,read:repository"]) {
      const token = await make.token(user, { scopes });
      expect((await call("POST", "/user/repos", { token, json })).status).toBe(403);
    }
    expect(await namesOf(user)).toEqual([]);
    const token = await make.token(user, { scopes: "write:user,write:repository" });
    expect((await call("POST", "/user/repos", { token, json })).status).toBe(201);
  });

  it("refuses to create a repository that a narrowed token could not see", async () => {
    const user = await make.user();
    const publicOnly = await make.token(user, { scopes: "public-only,all" });
    const bound = await make.token(user, { repos: [] });
    const hidden = await make.user({ visibility: "limited" });
    const json = { name: freshName("repo"), private: true };

    const refused = [
      await call("POST", "/user/repos", { token: publicOnly, json }),
      await call("POST", "/user/repos", { token: bound, json: { name: freshName("repo") } }),
      await call("POST", "/user/repos", {
        token: await make.token(hidden, { scopes: "public-only,all" }),
        json: { name: freshName("repo") },
      }),
    ];

    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect([...(await namesOf(user)), ...(await namesOf(hidden))]).toEqual([]);
    expect(await eventsBy(user)).toEqual([]);
  });

  it("enforces the limit of repositories per account under concurrent requests", async () => {
    const owner = await make.user({ repoCountMax: 3 });
    await make.repo(owner);

    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        call("POST", "/user/repos", { as: owner, json: { name: freshName("repo") } }),
      ),
    );

    expect(ascending(answers.map(({ status }) => status))).toEqual([201, 201, 403, 403, 403, 403]);
    expect(answers.find(({ status }) => status === 403)?.body.message).toBe(
      "user has reached maximum limit of repositories [limit: 3]",
    );
    expect(await namesOf(owner)).toHaveLength(3);
    expect(await eventsBy(owner)).toHaveLength(2);
  });

  it("uses the server's limit for an account without its own", async () => {
    const limited = serviceWith({ MAX_CREATION_LIMIT: "1" });
    const usual = await make.user();
    const favoured = await make.user({ repoCountMax: 2 });
    const create = (as: { token: string }) =>
      limited("POST", "/user/repos", { as, json: { name: freshName("repo") } });

    expect([(await create(usual)).status, (await create(usual)).status]).toEqual([201, 403]);
    expect([(await create(favoured)).status, (await create(favoured)).status]).toEqual([201, 201]);
    expect((await create(favoured)).status).toBe(403);
    expect((await create(await make.user({ repoCountMax: 0 }))).status).toBe(403);
  });

  it("does not make its creator a watcher where automatic watching is disabled", async () => {
    const quiet = serviceWith({ AUTO_WATCH_NEW_REPOS: "false", DEFAULT_BRANCH: "trunk" });
    const owner = await make.user();
    const created = await quiet("POST", "/user/repos", {
      as: owner,
      json: { name: freshName("repo") },
    });
    expect(created).toMatchObject({
      status: 201,
      body: { watchers_count: 0, default_branch: "trunk" },
    });
    expect(await db.select().from(watches).where(eq(watches.userId, owner.id))).toEqual([]);
  });
});

describe("GET /repos/{owner}/{repo}", () => {
  // The contract's field table, in its order.
  it("returns every field of the contract with its type", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { sizeBytes: 1500, website: "https://example.com/" });

    const { body } = await call("GET", `/repos/${owner.name}/${repo.name}`, { as: owner });

    const base = `https://forge.example/${owner.name}/${repo.name}`;
    expect(body).toMatchObject({
      id: repo.id,
      owner: {
        id: owner.id,
        login: owner.name,
        full_name: "",
        email: owner.email,
        avatar_url: expect.stringMatching(/^https:\/\/forge\.example\/avatars\//),
      },
      name: repo.name,
      full_name: `${owner.name}/${repo.name}`,
      description: "",
      private: false,
      fork: false,
      mirror: false,
      empty: true,
      html_url: base,
      ssh_url: `git@forge.example:${owner.name}/${repo.name}.git`,
      clone_url: `${base}.git`,
      website: "https://example.com/",
      stars_count: 0,
      forks_count: 0,
      watchers_count: 0,
      open_issues_count: 0,
      size: 2,
      default_branch: "main",
      created_at: "1970-01-01T00:00:01Z",
      updated_at: "1970-01-01T00:00:01Z",
      permissions: { admin: true, push: true, pull: true },
    });
    expect(Number.isInteger(body.id)).toBe(true);
  });

  it("returns each caller's permissions, and is not found for callers who may not see it", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const open = await make.repo(org);
    const hidden = await make.repo(org, { isPrivate: true });
    const [reader, writer, manager, member, teammate] = (await Promise.all(
      Array.from({ length: 5 }, () => make.user()),
    )) as [typeof owner, typeof owner, typeof owner, typeof owner, typeof owner];
    for (const repo of [open, hidden]) {
      await make.collaborator(repo, reader, 1);
      await make.collaborator(repo, writer, 2);
      await make.collaborator(repo, manager, 3);
    }
    await make.member(org, await make.team(org, { access: 0, all: true }), member);
    await make.member(org, await make.team(org, { access: 2, all: true }), teammate);
    const admin = await make.admin();
    const stranger = await make.user();
    const restricted = await make.user({ isRestricted: true });

    const see = async (repo: typeof open, sending: { as?: typeof owner; token?: string } = {}) => {
      const { status, body } = await call("GET", `/repos/${org.name}/${repo.name}`, sending);
      if (status !== 200) return [status, body];
      const { admin: administers, push, pull } = body.permissions;
      return [administers && "admin", push && "push", pull && "pull"].filter(Boolean).join(" ");
    };
    const all = "admin push pull";
    const gone = [404, ""];

    expect(await see(open, { as: owner })).toBe(all);
    expect(await see(hidden, { as: owner })).toBe(all);
    expect(await see(hidden, { as: admin })).toBe(all);
    expect(await see(hidden, { as: manager })).toBe(all);
    expect(await see(hidden, { as: writer })).toBe("push pull");
    expect(await see(open, { as: writer })).toBe("push pull");
    expect(await see(hidden, { as: reader })).toBe("pull");
    expect(await see(hidden, { as: teammate })).toBe("push pull");
    expect(await see(open, { as: member })).toBe("pull");
    expect(await see(hidden, { as: member })).toEqual(gone);
    expect(await see(open, { as: stranger })).toBe("pull");
    expect(await see(hidden, { as: stranger })).toEqual(gone);
    expect(await see(open, { as: restricted })).toEqual(gone);
    expect(await see(open)).toBe("pull");
    expect(await see(hidden)).toEqual(gone);
    const publicOnly = await make.token(owner, { scopes: "public-only,all" });
    expect(await see(open, { token: publicOnly })).toBe(all);
    expect(await see(hidden, { token: publicOnly })).toEqual(gone);
    const bound = await make.token(owner, { repos: [hidden] });
    expect(await see(hidden, { token: bound })).toBe(all);
    expect(await see(open, { token: bound })).toEqual(gone);
  });

  // SECURITY: the responses for a private and for a missing repository are equal, byte for byte.
  it("responds alike for a hidden and for a missing repository", async () => {
    const owner = await make.user();
    const hidden = await make.repo(owner, { isPrivate: true });
    const strip = ({ status, body, headers }: Awaited<ReturnType<typeof call>>) => {
      const list = [...headers].filter(([name]) => name !== "x-request-id");
      return { status, body, list };
    };
    for (const sending of [{}, { as: await make.user() }]) {
      const [one, other, byId, byNoId] = [
        await call("GET", `/repos/${owner.name}/${hidden.name}`, sending),
        await call("GET", `/repos/${owner.name}/${freshName("none")}`, sending),
        await call("GET", `/repositories/${hidden.id}`, sending),
        await call("GET", `/repositories/999999999`, sending),
      ];
      expect(one).toMatchObject({ status: 404, body: "" });
      expect(strip(one)).toEqual(strip(other));
      expect(strip(byId)).toEqual(strip(byNoId));
    }
  });

  it("finds it by id as by name, in at most two round trips", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const byName = await logged(() =>
      call("GET", `/repos/${owner.name.toUpperCase()}/${repo.name.toUpperCase()}`, { as: owner }),
    );
    const byId = await logged(() => call("GET", `/repositories/${repo.id}`, { as: owner }));
    expect(byId.answer.body).toEqual(byName.answer.body);
    expect(byName.answer.body.name).toBe(repo.name);
    expect(byName.line.d1Rounds).toBe(1);
    expect(byId.line.d1Rounds).toBeLessThanOrEqual(2);
  });

  it.each(["0", "-1", "1.5", "abc", "1e3", "99999999999999999999", "%00"])(
    "answers 404 for the id %s",
    async (id) => {
      expect(await call("GET", `/repositories/${id}`)).toMatchObject({ status: 404, body: "" });
    },
  );

  it("marks a public repository of a private organization as internal", async () => {
    const owner = await make.user();
    const org = await make.org([owner], { visibility: "private" });
    const repo = await make.repo(org);
    const path = `/repos/${org.name}/${repo.name}`;
    expect((await call("GET", path, { as: owner })).body).toMatchObject({
      internal: true,
      private: false,
    });
    expect((await call("GET", path, { as: await make.user() })).status).toBe(404);
    expect((await call("GET", path)).status).toBe(404);
  });
});

describe("DELETE /repos/{owner}/{repo}", () => {
  it("requires an owner", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const hidden = await make.repo(owner, { isPrivate: true });
    const manager = await make.user();
    await make.collaborator(repo, manager, 3);
    const path = `/repos/${owner.name}/${repo.name}`;

    expect(await call("DELETE", path)).toMatchObject({ status: 401 });
    expect(await call("DELETE", `/repos/${owner.name}/${hidden.name}`)).toMatchObject({
      status: 404,
      body: "",
    });
    for (const as of [manager, await make.user()]) {
      expect(await call("DELETE", path, { as })).toMatchObject({
        status: 403,
        body: { message: "user should be the owner of the repo" },
      });
    }
    const reading = await make.token(owner, { scopes: "read:repository" });
    expect((await call("DELETE", path, { token: reading })).status).toBe(403);

    expect(await namesOf(owner)).toHaveLength(2);
    expect(await eventsOf(repo)).toEqual([]);
  });

  it("is allowed to owners of the organization and to administrators", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    for (const as of [owner, await make.admin()]) {
      const repo = await make.repo(org);
      expect(await call("DELETE", `/repos/${org.name}/${repo.name}`, { as })).toMatchObject({
        status: 204,
        body: "",
      });
    }
  });

  // A later repository of the same name must inherit nothing.
  it("deletes all its data, and a new one of the name inherits nothing", async () => {
    const owner = await make.user();
    const other = await make.user();
    const org = await make.org([owner]);
    const repo = await make.repo(org, { isPrivate: true, description: freshName("word") });
    const fork = await make.repo(other, { parentId: repo.id, isFork: true, isPrivate: true });
    await make.collaborator(repo, other, 2);
    const path = `/repos/${org.name}/${repo.name}`;
    const oldName = freshName("old");
    await call("PUT", `/user/starred/${org.name}/${repo.name}`, { as: other });
    await call("PUT", `${path}/subscription`, { as: other });
    const token = await make.token(owner, { repos: [repo] });
    const team = await make.team(org, { access: 2, all: false });
    await db.insert(teamRepositories).values({ teamId: team.id, repoId: repo.id });
    await db
      .insert(repositoryRedirects)
      .values({ ownerId: org.id, lowerName: oldName, repoId: repo.id });
    await db.insert(publicKeys).values({
      userId: owner.id,
      repoId: repo.id,
      title: "deploy",
      content: "ssh-ed25519 AAAA",
      fingerprint: freshName("SHA256:"),
      createdAt: 1,
    });
    const [{ privates } = { privates: 0 }] = await db
      .select({ privates: repositoryTotals.count })
      .from(repositoryTotals)
      .where(eq(repositoryTotals.visibility, "private"));

    const deleted = await call("DELETE", path, { as: owner });

    expect(deleted).toMatchObject({ status: 204, body: "" });
    expect(await call("GET", path, { as: owner })).toMatchObject({ status: 404, body: "" });
    expect((await call("GET", `/repos/${org.name}/${oldName}`, { as: owner })).status).toBe(404);
    for (const table of [
      stars,
      watches,
      collaborations,
      publicKeys,
      repositoryRedirects,
      accessTokenRepositories,
      teamRepositories,
    ]) {
      const rows = await db.select({ n: count() }).from(table).where(eq(table.repoId, repo.id));
      expect(rows).toEqual([{ n: 0 }]);
    }
    const found = await db.all(
      sql`select rowid from repositories_search where repositories_search match ${`"${repo.description}"`}`,
    );
    expect(found).toEqual([]);
    const [{ left } = { left: 0 }] = await db
      .select({ left: repositoryTotals.count })
      .from(repositoryTotals)
      .where(eq(repositoryTotals.visibility, "private"));
    expect(left).toBe(privates - 1);
    const [account] = await db.select().from(users).where(eq(users.id, other.id));
    expect(account).toMatchObject({ starCount: 0, watchCount: 0 });
    const [child] = await db.select().from(repositories).where(eq(repositories.id, fork.id));
    expect(child).toMatchObject({ parentId: null, isFork: false });
    expect(await eventsOf(repo)).toMatchObject([
      { type: "star.created" },
      { type: "watch.created" },
      { type: "repository.deleted", actorId: owner.id, payload: { name: repo.name } },
    ]);

    const again = await call("POST", `/orgs/${org.name}/repos`, {
      as: owner,
      json: { name: repo.name, private: true },
    });
    expect(again).toMatchObject({
      status: 201,
      body: { stars_count: 0, watchers_count: 1, forks_count: 0, description: "" },
    });
    expect(again.body.id).toBeGreaterThan(repo.id);
    expect((await call("GET", path, { as: other })).status).toBe(404);
    expect((await call("GET", path, { token })).status).toBe(404);
    expect(await call("GET", "/user/starred", { as: other })).toMatchObject({ body: [] });
  });

  it("records one event for concurrent requests", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        call("DELETE", `/repos/${owner.name}/${repo.name}`, { as: owner }),
      ),
    );
    expect(answers.every(({ status }) => status === 204 || status === 404)).toBe(true);
    expect(typesOf(await eventsOf(repo))).toEqual(["repository.deleted"]);
  });
});
