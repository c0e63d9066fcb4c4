import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { stars, teamRepositories } from "../../../src/db/schema/index.ts";
import { call, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { ascending, readAll } from "../../support/list.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";

const query = (fields: Record<string, string | number | boolean | undefined>): string =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  ).toString();

/** Collects the ids from all pages of a search, and checks that the total equals their number. */
async function search(fields: Parameters<typeof query>[0], sending: Sending = {}) {
  const { ids, totals } = await readAll(`/repos/search?${query(fields)}`, sending);
  expect(totals).toEqual([ids.length]);
  return ids;
}
/** The newest results of a search without a word: rows dated in the far future come first. */
async function newest(fields: Parameters<typeof query>[0], sending: Sending = {}) {
  const path = `/repos/search?${query({ ...fields, sort: "created", order: "desc", limit: 50 })}`;
  const { body } = await call("GET", path, sending);
  return idsOf(...body.data);
}
const FUTURE = Date.parse("2096-01-01");
const idsOf = (...list: { id: number }[]): number[] => list.map(({ id }) => id);

describe("GET /repos/search: the search word", () => {
  it("returns ok and a list of repositories, in two round trips", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { answer, line } = await logged(() =>
      call("GET", `/repos/search?q=${repo.name}`, { as: owner }),
    );
    const byName = await call("GET", `/repos/${owner.name}/${repo.name}`, { as: owner });
    expect(answer).toMatchObject({ status: 200, body: { ok: true, data: [byName.body] } });
    expect(Object.keys(answer.body)).toEqual(["ok", "data"]);
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
  });

  it("matches any part of a name, in any case", async () => {
    const word = freshName("Word").replaceAll("-", "x");
    const owner = await make.user();
    const found = [
      await make.repo(owner, { name: `a-${word}` }),
      await make.repo(owner, { name: `b-${word.toLowerCase()}-end` }),
      await make.repo(owner, { name: `c${word.toUpperCase()}` }),
    ];
    await make.repo(owner, { name: word.slice(0, -1) });
    await make.repo(owner, { description: word });
    for (const q of [word, word.toUpperCase(), ` ${word} `, word.slice(1)]) {
      expect(await search({ q })).toEqual(idsOf(...found));
    }
  });

  it("matches descriptions only where requested", async () => {
    const word = freshName("word");
    const owner = await make.user();
    const named = await make.repo(owner, { name: `a-${word}` });
    const described = await make.repo(owner, { name: freshName("b"), description: `An ${word}!` });
    expect(await search({ q: word })).toEqual(idsOf(named));
    expect(await search({ q: word.toUpperCase(), includeDesc: true })).toEqual(
      idsOf(named, described),
    );
    expect(await search({ q: word, includeDesc: false })).toEqual(idsOf(named));
  });

  // Case is folded in every alphabet, for the caller's own repositories as for others'.
  it("ignores case in descriptions for every alphabet", async () => {
    const tag = freshName("x");
    const owner = await make.user();
    const repo = await make.repo(owner, { description: `ŻÓŁW ${tag} École Ёлка` });
    for (const q of ["żółw", "ŻÓŁW", "école", "ÉCOLE", "ёлка"]) {
      for (const [as, uid] of [
        [undefined, undefined],
        [owner, undefined],
        [undefined, owner.id],
      ] as const) {
        const found = await search({ q, includeDesc: true, uid }, as && { as });
        expect([q, uid, found.includes(repo.id)]).toEqual([q, uid, true]);
      }
    }
  });

  // The trigram index needs at least three characters.
  it("of one or two characters matches the beginning of a name", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { name: `q9${freshName("z")}` });
    const hidden = await make.repo(owner, { name: `q9${freshName("z")}`, isPrivate: true });
    for (const q of ["q", "Q9"]) {
      expect(await search({ q })).toContain(repo.id);
      expect(await search({ q })).not.toContain(hidden.id);
      expect(await search({ q }, { as: owner })).toEqual(
        expect.arrayContaining(idsOf(repo, hidden)),
      );
    }
  });

  it("may contain the owner before a slash", async () => {
    const owner = await make.user();
    const [one, other] = [await make.repo(owner), await make.repo(owner, { name: "xy" })];
    await make.repo(await make.user(), { name: one.name });
    expect(await search({ q: `${owner.name}/${one.name}` })).toEqual(idsOf(one));
    expect(await search({ q: `${owner.name.toUpperCase()}/${one.name.slice(0, 5)}` })).toEqual(
      idsOf(one),
    );
    expect(await search({ q: `${owner.name}/` })).toEqual(
      expect.arrayContaining(idsOf(one, other)),
    );
    expect(await search({ q: `${owner.name}/xy` })).toEqual(idsOf(other));
    expect(await search({ q: `/${one.name}` })).toHaveLength(2);
    expect(await search({ q: `${owner.name}/${one.name}/x` })).toEqual([]);
  });

  // SECURITY: the word is data for the full-text index, never a part of its query language.
  it.each([
    '"',
    '"""',
    '" OR *',
    '" OR "a',
    "NEAR(",
    "NEAR(a b, 2)",
    "a AND",
    "NOT",
    "-",
    "---",
    "*",
    "a*",
    "***",
    "^abc",
    "name:abc",
    "name : abc",
    "{name",
    "(abc",
    "abc)",
    "'; drop table repositories; --",
    "%",
    "%%%",
    "___",
    "/",
    "//",
    "///",
    "\\",
    "\u0000",
    "abc\u0000",
    "\u0000abc",
    "żół",
    "🐢",
    "🐢🐢🐢",
    "日本語",
    "\ufffd\ufffd\ufffd",
    "a\u0301bc",
    "x".repeat(255),
  ])("is treated as text only: %j", async (q) => {
    const owner = await make.user();
    const repo = await make.repo(owner, { description: `zzz ${q} zzz` });
    const fields = [{ q }, { q, includeDesc: true }, { q, uid: owner.id, includeDesc: true }];
    for (const each of fields) {
      const answer = await call("GET", `/repos/search?${query(each)}`, { as: owner });
      expect([answer.status, answer.body.ok]).toEqual([200, true]);
    }
    // A text that is not of the form owner/name is matched as it is.
    if (q.includes("/") || q.includes("\u0000")) return;
    expect(await search({ q, uid: owner.id, includeDesc: true })).toContain(repo.id);
  });

  it("has at most 255 characters", async () => {
    const refused = await call("GET", `/repos/search?q=${"x".repeat(256)}`);
    expect(refused).toMatchObject({
      status: 422,
      body: { message: expect.any(String), url: "https://forge.example/api/swagger" },
    });
  });

  it("also matches topics, and any of several words separated by commas", async () => {
    const owner = await make.user();
    const [topic, word] = [freshName("topic"), freshName("word")];
    const [tagged, hidden, named, both] = [
      await make.repo(owner),
      await make.repo(owner, { isPrivate: true }),
      await make.repo(owner, { name: `a-${word}` }),
      await make.repo(owner, { name: `b-${word}` }),
    ];
    for (const { name } of [tagged, hidden, both]) {
      const path = `/repos/${owner.name}/${name}/topics/${topic}`;
      expect((await call("PUT", path, { as: owner })).status).toBe(204);
    }
    const found = async (q: string, sending: Sending = {}) =>
      (await search({ q, sort: "id" }, sending)).toSorted((a, b) => a - b);
    expect(await found(topic)).toEqual(idsOf(tagged, both));
    expect(await found(topic, { as: owner })).toEqual(idsOf(tagged, hidden, both));
    expect(await found(`${word},${topic.toUpperCase()}`)).toEqual(idsOf(tagged, named, both));
    expect(await found(` ${named.name} , ${both.name},`)).toEqual(idsOf(named, both));
    expect(await search({ q: word, topic: true })).toEqual([]);
  });

  it("is matched against topics only, where requested", async () => {
    const repo = await make.repo(await make.user());
    expect(await search({ q: repo.name, topic: true })).toEqual([]);
    expect(await search({ q: repo.name, topic: false })).toEqual(idsOf(repo));
  });

  it("reflects a change of name, description, visibility or owner immediately", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { description: freshName("before") });
    const [name, description, ownerName] = [
      freshName("after"),
      freshName("later"),
      freshName("owner"),
    ];
    const path = () => `/repositories/${repo.id}`;
    const edit = (at: string, json: unknown) =>
      call("PATCH", `/repos/${owner.name}/${at}`, { as: owner, json });

    await edit(repo.name, { name, description });
    expect((await call("GET", path())).body.name).toBe(name);
    expect(await search({ q: repo.name })).toEqual([]);
    expect(await search({ q: name })).toEqual(idsOf(repo));
    expect(await search({ q: repo.description, includeDesc: true })).toEqual([]);
    expect(await search({ q: description, includeDesc: true })).toEqual(idsOf(repo));

    await edit(name, { private: true });
    expect(await search({ q: name })).toEqual([]);
    expect(await search({ q: name }, { as: owner })).toEqual(idsOf(repo));
    await edit(name, { private: false });
    expect(await search({ q: name })).toEqual(idsOf(repo));

    const admin = await make.admin();
    await call("POST", `/admin/users/${owner.name}/rename`, {
      as: admin,
      json: { new_username: ownerName },
    });
    expect(await search({ q: `${owner.name}/${name}` })).toEqual([]);
    expect(await search({ q: `${ownerName}/${name}` })).toEqual(idsOf(repo));

    await call("PATCH", `/admin/users/${ownerName}`, {
      as: admin,
      json: { visibility: "private" },
    });
    expect(await search({ q: name })).toEqual([]);
    expect(await search({ q: name }, { as: await make.user() })).toEqual([]);
    expect(await search({ q: name }, { as: owner })).toEqual(idsOf(repo));
  });
});

describe("GET /repos/search: the filters", () => {
  it("uid: repositories that an account owns or collaborates on; exclusive: only owned ones", async () => {
    const [owner, other] = [await make.user(), await make.user()];
    const own = await make.repo(owner);
    const shared = await make.repo(other);
    const hidden = await make.repo(other, { isPrivate: true });
    for (const repo of [shared, hidden]) await make.collaborator(repo, owner, 1);
    await make.repo(other);

    expect(ascending(await search({ uid: owner.id }))).toEqual(idsOf(own, shared));
    expect(ascending(await search({ uid: owner.id }, { as: owner }))).toEqual(
      idsOf(own, shared, hidden),
    );
    expect(await search({ uid: owner.id, exclusive: true })).toEqual(idsOf(own));
    expect(await search({ uid: owner.id, q: own.name })).toEqual(idsOf(own));
    expect(await search({ uid: owner.id, q: freshName("none") })).toEqual([]);
    expect(ascending(await search({ uid: owner.id, mode: "collaborative" }))).toEqual(
      idsOf(shared),
    );
    expect(await search({ uid: 999_999_999 })).toEqual([]);
    // A value that is not a number is ignored, as Gitea clients expect.
    expect(await search({ uid: "abc", q: own.name })).toEqual(idsOf(own));
  });

  it("priority_owner_id: lists the repositories of an account first", async () => {
    const word = freshName("word");
    const [first, second] = [await make.user(), await make.user()];
    const a = await make.repo(first, { name: `a-${word}` });
    const b = await make.repo(second, { name: `b-${word}` });
    expect(await search({ q: word, priority_owner_id: second.id })).toEqual(idsOf(b, a));
    expect(await search({ q: word, priority_owner_id: first.id })).toEqual(idsOf(a, b));
    const { body } = await call("GET", `/repos/search?priority_owner_id=${second.id}&limit=1`);
    expect(body.data).toMatchObject([{ id: b.id }]);
  });

  it("team_id: repositories that a team reaches and the caller may see", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const [open, hidden, other] = [
      await make.repo(org),
      await make.repo(org, { isPrivate: true }),
      await make.repo(org),
    ];
    const some = await make.team(org, { all: false });
    const all = await make.team(org, { all: true });
    for (const repo of [open, hidden]) {
      await db.insert(teamRepositories).values({ teamId: some.id, repoId: repo.id });
    }
    const as = owner;
    expect(ascending(await search({ team_id: some.id }, { as }))).toEqual(idsOf(open, hidden));
    expect(ascending(await search({ team_id: all.id }, { as }))).toEqual(
      idsOf(open, hidden, other),
    );
    expect(await search({ team_id: some.id })).toEqual(idsOf(open));
  });

  it("starredBy: repositories that a user has starred and the caller may see", async () => {
    const [user, owner] = [await make.user(), await make.user()];
    const [open, hidden] = [await make.repo(owner), await make.repo(owner, { isPrivate: true })];
    for (const [repo, visibility] of [
      [open, "public"],
      [hidden, "private"],
    ] as const) {
      await db.insert(stars).values({ userId: user.id, repoId: repo.id, visibility, createdAt: 1 });
    }
    expect(await search({ starredBy: user.id })).toEqual(idsOf(open));
    expect(ascending(await search({ starredBy: user.id }, { as: owner }))).toEqual(
      idsOf(open, hidden),
    );
    expect(await search({ starredBy: user.id }, { as: user })).toEqual(idsOf(open));
  });

  it("private, is_private, template, archived and mode: individually and combined", async () => {
    const owner = await make.user();
    const by = {
      plain: await make.repo(owner, { createdAt: FUTURE }),
      hidden: await make.repo(owner, { createdAt: FUTURE, isPrivate: true }),
      template: await make.repo(owner, { createdAt: FUTURE, isTemplate: true }),
      archived: await make.repo(owner, { createdAt: FUTURE, archivedAt: 1 }),
      fork: await make.repo(owner, { createdAt: FUTURE, isFork: true }),
      mirror: await make.repo(owner, { createdAt: FUTURE, isMirror: true }),
    };
    const found = async (fields: object, sending: Sending = { as: owner }) => {
      const ids = await search({ uid: owner.id, ...fields }, sending);
      return Object.entries(by)
        .filter(([, { id }]) => ids.includes(id))
        .map(([name]) => name);
    };
    const without = (...names: string[]) => Object.keys(by).filter((name) => !names.includes(name));

    expect(await found({})).toEqual(without());
    expect(await found({ private: true })).toEqual(without());
    expect(await found({ private: false })).toEqual(without("hidden"));
    expect(await found({ is_private: true })).toEqual(["hidden"]);
    expect(await found({ is_private: false })).toEqual(without("hidden"));
    expect(await found({ is_private: true }, {})).toEqual([]);
    expect(await found({ template: true })).toEqual(["template"]);
    expect(await found({ template: "0" })).toEqual(without("template"));
    expect(await found({ archived: "1" })).toEqual(["archived"]);
    expect(await found({ archived: false })).toEqual(without("archived"));
    expect(await found({ mode: "fork" })).toEqual(["fork"]);
    expect(await found({ mode: "mirror" })).toEqual(["mirror"]);
    expect(await found({ mode: "source" })).toEqual(without("fork", "mirror"));
    expect(await found({ mode: "collaborative" })).toEqual([]);
    expect(await found({ mode: "" })).toEqual(without());
    const strict = { mode: "source", archived: false, template: false, is_private: false };
    expect(await found(strict)).toEqual(["plain"]);
    // Without an owner the same filters walk the full list.
    for (const fields of [{ is_private: true }, { template: true }, { mode: "fork" }]) {
      const all = await newest(fields, { as: owner });
      const named = Object.entries(by).filter(([, { id }]) => all.includes(id));
      expect(named.map(([name]) => name)).toEqual(await found(fields));
    }
  });

  it("sort and order: by each key, in both directions", async () => {
    const word = freshName("word");
    const owner = await make.user();
    // Few repositories match both, so that walking the full list is short.
    const rare = { isTemplate: true, isMirror: true };
    const one = { createdAt: 1, updatedAt: 3, starCount: 5, forkCount: 1 };
    const two = { createdAt: 2, updatedAt: 1, starCount: 7, forkCount: 0 };
    const three = { createdAt: 3, updatedAt: 2, starCount: 6, forkCount: 2 };
    Object.assign(one, { sizeBytes: 2048, lfsSizeBytes: 100 });
    Object.assign(two, { sizeBytes: 1024, lfsSizeBytes: 4000 });
    Object.assign(three, { sizeBytes: 4096, lfsSizeBytes: 50 });
    const a = await make.repo(owner, { name: `c-${word}`, ...rare, ...one });
    const b = await make.repo(owner, { name: `a-${word}`, ...rare, ...two });
    const c = await make.repo(owner, { name: `b-${word}`, ...rare, ...three });
    const orders = {
      alpha: [b, c, a],
      created: [a, b, c],
      id: [a, b, c],
      updated: [b, c, a],
      size: [a, c, b],
      git_size: [b, a, c],
      lfs_size: [c, a, b],
      stars: [a, c, b],
      forks: [b, a, c],
    };
    for (const [sort, list] of Object.entries(orders)) {
      const ids = idsOf(...list);
      for (const narrowed of [{ q: word }, { uid: owner.id }]) {
        expect([sort, await search({ ...narrowed, sort })]).toEqual([sort, ids]);
        expect([sort, await search({ ...narrowed, sort, order: "asc" })]).toEqual([sort, ids]);
        expect([sort, await search({ ...narrowed, sort, order: "desc" })]).toEqual([
          sort,
          ids.toReversed(),
        ]);
      }
      for (const order of ["asc", "desc"]) {
        const all = await search({ sort, order, template: true, mode: "mirror" });
        const own = all.filter((id) => ids.includes(id));
        expect([sort, own]).toEqual([sort, order === "asc" ? ids : ids.toReversed()]);
      }
    }
    expect(await search({ q: word })).toEqual(idsOf(b, c, a));
    // As in Gitea, an order alone means nothing.
    for (const order of ["desc", "up"]) {
      expect(await search({ q: word, order })).toEqual(idsOf(b, c, a));
    }
  });

  // SECURITY: sorting by an arbitrary column would let callers infer its values.
  it.each([
    ["mode", "nonsense", 'Invalid search mode: "nonsense"'],
    ["sort", "password_hash", 'Invalid sort mode: "password_hash"'],
    ["sort", "Alpha", 'Invalid sort mode: "Alpha"'],
    ["sort", "__proto__", 'Invalid sort mode: "__proto__"'],
    ["sort", "constructor", 'Invalid sort mode: "constructor"'],
    ["sort=alpha&order", "up", 'Invalid sort order: "up"'],
    ["sort=alpha&order", "ASC", 'Invalid sort order: "ASC"'],
  ])("refuses %s=%s", async (name, value, message) => {
    expect(await call("GET", `/repos/search?${name}=${value}`)).toMatchObject({
      status: 422,
      body: { message, url: "https://forge.example/api/swagger" },
    });
  });
});

describe("GET /repos/search: pages", () => {
  it("are full, disjoint and complete, with Link headers and an exact total", async () => {
    const word = freshName("word");
    const owner = await make.user();
    const repos: TestRepo[] = [];
    for (let n = 0; n < 7; n += 1) repos.push(await make.repo(owner, { name: `${word}-${n}` }));
    for (const fields of [{ q: word }, { uid: owner.id }, { q: word, sort: "stars" }]) {
      const path = `/repos/search?${query(fields)}`;
      const { pages, ids, totals } = await readAll(path, {}, { limit: 3 });
      expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
      expect(ascending(ids)).toEqual(idsOf(...repos));
      expect(totals).toEqual([7]);
    }
    const second = await call("GET", `/repos/search?q=${word}&page=2&limit=3`);
    const to = (page: number, rel: string) =>
      `<https://forge.example/api/v1/repos/search?limit=3&page=${page}&q=${word}>; rel="${rel}"`;
    expect(second.headers.get("Link")).toBe(
      [to(3, "next"), to(3, "last"), to(1, "first"), to(1, "prev")].join(","),
    );
    const beyond = await call("GET", `/repos/search?q=${word}&page=99&limit=3`);
    expect([beyond.body, beyond.headers.get("X-Total-Count")]).toEqual([
      { ok: true, data: [] },
      "7",
    ]);
    for (const page of ["0", "-1", "abc", ""]) {
      const first = await call("GET", `/repos/search?q=${word}&page=${page}&limit=3`);
      expect(first.body.data).toHaveLength(3);
    }
  });

  it("have 30 items by default, and never more than the server's setting", async () => {
    const owner = await make.user();
    const word = freshName("word");
    for (let n = 0; n < 53; n += 1) await make.repo(owner, { name: `${word}-${n}` });
    const sizeOf = async (limit: string, through: typeof call = call) =>
      (await through("GET", `/repos/search?q=${word}${limit}`)).body.data.length;
    expect(await sizeOf("")).toBe(30);
    expect(await sizeOf("&limit=0")).toBe(30);
    expect(await sizeOf("&limit=-5")).toBe(30);
    expect(await sizeOf("&limit=51")).toBe(50);
    expect(await sizeOf("&limit=999999999999")).toBe(50);
    const small = serviceWith({ EXPLORE_PAGE_SIZE_MAX: "7" });
    expect(await sizeOf("", small)).toBe(7);
    expect(await sizeOf("&limit=50", small)).toBe(7);
    expect((await small("GET", "/settings/api")).status).toBe(200);
    const large = serviceWith({ EXPLORE_PAGE_SIZE_MAX: "52" });
    expect(await sizeOf("&limit=60", large)).toBe(52);
  });
});

describe("GET /repos/search: visibility", () => {
  // The reference is the repository's own path: a search finds it exactly for the callers who can
  // read it. Nineteen callers, each with every kind of search: slower than most tests.
  it(
    "finds exactly the repositories that the caller can read, for every kind of search",
    { timeout: 60_000 },
    async () => {
      const word = freshName("word");
      const [owner, boss, member, teammate] = [
        await make.user(),
        await make.user(),
        await make.user(),
        await make.user(),
      ];
      const limited = await make.user({ visibility: "limited" });
      const shy = await make.user({ visibility: "private" });
      const orgs = {
        public: await make.org([boss]),
        limited: await make.org([boss], { visibility: "limited" }),
        private: await make.org([boss], { visibility: "private" }),
      };
      const repos: TestRepo[] = [];
      for (const account of [owner, limited, shy, ...Object.values(orgs)]) {
        for (const isPrivate of [false, true]) {
          repos.push(
            await make.repo(account, { name: freshName(word), isPrivate, createdAt: FUTURE }),
          );
        }
      }
      const shared = repos[1] as TestRepo;
      const collaborator = await make.user();
      const restricted = await make.user({ isRestricted: true });
      const restrictedMember = await make.user({ isRestricted: true });
      await make.collaborator(shared, collaborator, 1);
      await make.collaborator(shared, restricted, 2);
      for (const org of Object.values(orgs)) {
        await make.member(org, await make.team(org, { access: 0 }), member);
        await make.member(org, await make.team(org, { access: 0 }), restrictedMember);
        await make.member(org, await make.team(org, { access: 1, all: true }), teammate);
      }
      const chosen = await make.user();
      const some = await make.team(orgs.private, { access: 2, all: false });
      await make.member(orgs.private, some, chosen);
      const internal = repos.at(-1) as TestRepo;
      await db.insert(teamRepositories).values({ teamId: some.id, repoId: internal.id });
      const admin = await make.admin();
      const tokens = async (user: TestUser, scopes: string) => make.token(user, { scopes });

      const callers: Record<string, Sending> = {
        anonymous: {},
        stranger: { as: await make.user() },
        owner: { as: owner },
        limited: { as: limited },
        shy: { as: shy },
        boss: { as: boss },
        member: { as: member },
        teammate: { as: teammate },
        chosen: { as: chosen },
        collaborator: { as: collaborator },
        restricted: { as: restricted },
        restrictedMember: { as: restrictedMember },
        admin: { as: admin },
        publicOnlyBoss: { token: await tokens(boss, "public-only,all") },
        publicOnlyAdmin: { token: await tokens(admin, "public-only,all") },
        publicOnlyRestricted: { token: await tokens(restrictedMember, "public-only,all") },
        boundBoss: { token: await make.token(boss, { repos: [internal, shared] }) },
        boundAdmin: { token: await make.token(admin, { repos: [internal, shared] }) },
        boundToNothing: { token: await make.token(boss, { repos: [] }) },
      };

      for (const [name, sending] of Object.entries(callers)) {
        const visible: number[] = [];
        for (const { id } of repos) {
          const { status } = await call("GET", `/repositories/${id}`, sending);
          if (status === 200) visible.push(id);
        }
        expect([name, ascending(await search({ q: word }, sending))]).toEqual([name, visible]);
        // Without a word the full list is walked; these are its newest repositories.
        const own = (await newest({}, sending)).filter((id) =>
          repos.some((repo) => repo.id === id),
        );
        expect([name, "walk", ascending(own)]).toEqual([name, "walk", visible]);
        const byOwner: number[] = [];
        for (const account of [owner, limited, shy, ...Object.values(orgs)]) {
          byOwner.push(...(await search({ uid: account.id, exclusive: true }, sending)));
        }
        expect([name, "uid", ascending(byOwner)]).toEqual([name, "uid", visible]);
      }
    },
  );

  it("requires a token, where one is sent, to have the read scope for repositories", async () => {
    const user = await make.user();
    const token = await make.token(user, { scopes: "write:user" });
    expect((await call("GET", "/repos/search", { token })).status).toBe(403);
    expect((await call("GET", "/repos/search", { token: "nonsense" })).status).toBe(401);
  });
});

// The contract defines a separate body for this failure.
it("returns 500, ok false and an error without detail when the database fails", async () => {
  const failing = new Proxy(env.DB, {
    get(target, name) {
      if (name !== "withSession") return Reflect.get(target, name);
      return () => ({
        getBookmark: () => null,
        prepare: (sql: string) => target.prepare(sql),
        batch: () =>
          Promise.reject(new Error("D1_ERROR: no such table: secret_table: SQLITE_ERROR")),
      });
    },
  });
  const broken = serviceWith({}, { DB: failing });

  const { answer, text } = await logged(() => broken("GET", "/repos/search?q=secret-word"));

  expect(answer.status).toBe(500);
  expect(answer.body).toEqual({ ok: false, error: expect.stringMatching(/^internal error/) });
  // The request id is random and may contain any word.
  const shown = JSON.stringify(answer.body).replace(/request [\da-f-]+/, "");
  expect(shown).not.toMatch(/secret|SQL|D1|select/i);
  expect(text).not.toContain("secret-word");
});
