import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, collaborations, repositories, users } from "../../src/db/schema/index.ts";
import { call, type Sending, visit } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { db } from "../support/db.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { makeEmptyPack, pushCommands } from "../support/push.ts";
import { byId, sampled } from "../support/samples/gather.ts";
import { requestMaker } from "../support/samples/request.ts";

/** The reads of a repository that return a complete JSON or text response, not a stream. */
const reads = sampled.filter(({ method, path, responses, sample }) => {
  const types = Object.keys(responses["200"]?.content ?? {});
  const isComplete = types.some((type) => /^(?:application\/json|text\/plain)$/.test(type));
  const isSupported = sample.refusal === undefined;
  return method === "GET" && path.startsWith("/repos/{owner}/{repo}/") && isComplete && isSupported;
});
const makeRequest = requestMaker();

/**
 * A repository of three commits on `main` and `side`; the head of `main` has its owner as author.
 */
async function makeRepository(owner: TestUser, fields: Parameters<typeof make.repo>[1] = {}) {
  const repo = await make.repo(owner, fields);
  const history = new History();
  const blob = "one\ntwo\n";
  const first = history.commit({ files: { a: blob, "b/c": "deep\n" } });
  const author = `Ada <${owner.email}>`;
  const head = history.commit({ files: { a: "1\n" }, parents: [first], author });
  const side = history.commit({ files: { a: "2\n" }, parents: [first], author });
  const commands = [
    { ref: "refs/heads/main", new: head },
    { ref: "refs/heads/side", new: side },
  ];
  await pushCommands(owner, repo, commands, { pack: history.build() });
  return { repo, first, head, side };
}

const pathOf = ({ owner, name }: TestRepo, rest: string) => `/repos/${owner}/${name}/${rest}`;
const ask = (repo: TestRepo, rest: string, sending: Sending = {}) =>
  call("GET", pathOf(repo, rest), sending);

/** Reads that name a commit or an object by its full id. */
async function listPinned(repo: TestRepo, oid: string, sending: Sending) {
  const { body: commit } = await ask(repo, `git/commits/${oid}`, sending);
  const { body: tree } = await ask(repo, `git/trees/${commit.commit.tree.sha}`, sending);
  return [
    `git/trees/${oid}`,
    `git/trees/${commit.commit.tree.sha}`,
    `git/trees/${oid}?recursive=1`,
    `git/blobs/${tree.tree[0].sha}`,
    `git/commits/${oid}.diff`,
    `contents?ref=${oid}`,
    `contents/?ref=${oid}`,
    `contents/a?ref=${oid}`,
    `contents-ext/a?ref=${oid}`,
    `raw/a?ref=${oid.toUpperCase()}`,
    `media/a?ref=${oid}`,
  ];
}

/** Reads that name a commit by its full id and whose response contains accounts. */
const readsWithAccounts = (oid: string) => [
  `commits?sha=${oid}`,
  `commits?sha=${oid}&path=a`,
  `git/commits/${oid}`,
  `compare/${oid}...${oid}`,
];

const REVALIDATED = "max-age=0, private, must-revalidate, no-transform";

describe("reads of a repository", () => {
  it("are more than 30 operations", () => {
    expect(reads.length).toBeGreaterThan(30);
  });

  it.each(byId(reads))(
    "has an ETag, and answers 304 to a client that has it: %s",
    async (_, operation) => {
      const { caller, path } = await makeRequest(operation);
      const { status, headers } = await call("GET", path, { as: caller });
      const tag = headers.get("ETag") ?? "";
      expect([status, tag]).toEqual([200, expect.stringMatching(/^(?:W\/)?"[^"]+"$/)]);
      // Of a text that is sent while it is computed the tag is weak.
      const condition = { "If-None-Match": `"x", W/${tag.replace("W/", "")}` };
      const again = await call("GET", path, { as: caller, headers: condition });
      expect([again.status, again.body]).toEqual([304, ""]);
      expect(again.headers.get("Content-Type")).toBeNull();
      for (const name of ["ETag", "Cache-Control", "X-Total-Count", "Link"]) {
        expect([name, again.headers.get(name)]).toEqual([name, headers.get(name)]);
      }
    },
  );

  it("sends the full response for another ETag, and only headers for HEAD", async () => {
    const { repo, head } = await makeRepository(await make.user());
    for (const rest of [`git/commits/${head}`, `git/commits/${head}.diff`, "contents"]) {
      const { headers, body } = await ask(repo, rest);
      const tag = headers.get("ETag") ?? "";
      for (const condition of ['"other"', tag.slice(0, -2), tag.slice(1, -1), ""]) {
        const again = await ask(repo, rest, { headers: { "If-None-Match": condition } });
        expect([condition, again.status, again.body]).toEqual([condition, 200, body]);
      }
      for (const condition of [tag, `W/${tag}`, "*"]) {
        const again = await ask(repo, rest, { headers: { "If-None-Match": condition } });
        expect([condition, again.status, again.body]).toEqual([condition, 304, ""]);
      }
      const bare = await call("HEAD", pathOf(repo, rest));
      expect([bare.status, bare.headers.get("ETag"), bare.body]).toEqual([200, tag, ""]);
    }
  });

  it("are immutable if they name an object by its full id, and shared only if everyone may read", async () => {
    const owner = await make.user();
    const [publicRepo, privateRepo] = [
      await makeRepository(owner),
      await makeRepository(owner, { isPrivate: true }),
    ];
    const immutable = "max-age=604800, immutable, no-transform";
    for (const [{ repo, head }, sending, control] of [
      [publicRepo, {}, `public, s-maxage=60, ${immutable}`],
      [publicRepo, { as: owner }, `private, ${immutable}`],
      [privateRepo, { as: owner }, `private, ${immutable}`],
    ] as const) {
      for (const rest of await listPinned(repo, head, sending)) {
        const { status, headers } = await ask(repo, rest, sending);
        expect([rest, status, headers.get("Cache-Control")]).toEqual([rest, 200, control]);
        expect(headers.get("Vary")).toBe("Authorization, Cookie, Sudo, Origin");
      }
    }
    const limited = await make.user({ visibility: "limited" });
    const limitedRepository = await makeRepository(limited);
    const { headers } = await ask(limitedRepository.repo, `raw/a?ref=${limitedRepository.head}`, {
      as: owner,
    });
    expect(headers.get("Cache-Control")).toBe(`private, ${immutable}`);
  });

  it("must be revalidated if they contain accounts, or name an object by ref or abbreviated id", async () => {
    const owner = await make.user();
    const { repo, first, head } = await makeRepository(owner);
    // A branch may have the name of an abbreviated commit id, and can move.
    const short = first.slice(0, 12);
    const ref = `refs/heads/${short}`;
    await pushCommands(owner, repo, [{ ref, new: head }], { pack: makeEmptyPack() });
    const named = [short, "main", head.slice(0, 20), "HEAD"].flatMap((name) => [
      `git/trees/${name}`,
      `git/commits/${name}.diff`,
      `contents?ref=${name}`,
      `contents/a?ref=${name}`,
      `raw/a?ref=${name}`,
    ]);
    for (const rest of [
      ...named,
      ...readsWithAccounts(head),
      "contents",
      "raw/a",
      "branches",
      "tags",
      // The bytes of an archive follow from the repository's name and from all its refs too.
      `archive/${head}.tar.gz`,
      `zipball/${head}`,
      `bundle/${head}`,
    ]) {
      const { status, headers } = await ask(repo, rest);
      expect([rest, status, headers.get("Cache-Control")]).toEqual([rest, 200, REVALIDATED]);
    }
    const archive = await visit("GET", `/${repo.owner}/${repo.name}/archive/${head}.zip`);
    expect([archive.status, archive.headers.get("Cache-Control")]).toEqual([200, REVALIDATED]);
  });

  it("are sent again after an account in the response has changed", async () => {
    const owner = await make.user();
    const { repo, head } = await makeRepository(owner);
    for (const rest of readsWithAccounts(head)) {
      const { headers } = await ask(repo, rest, { as: owner });
      const condition = { "If-None-Match": headers.get("ETag") ?? "" };
      expect((await ask(repo, rest, { as: owner, headers: condition })).status).toBe(304);
      const fullName = `Ada at ${rest}`;
      await db.update(users).set({ fullName }).where(eq(users.id, owner.id));
      const { status, body } = await ask(repo, rest, { as: owner, headers: condition });
      expect([rest, status]).toEqual([rest, 200]);
      expect(JSON.stringify(body)).toContain(fullName);
    }
  });
});

// SECURITY: a caller without read access gets the response for a missing object, whatever was
// cached before.
describe("cached responses are never sent to a caller without read access", () => {
  /** Sends all reads, so that cacheable responses are cached. Returns their ETags. */
  async function warm(repo: TestRepo, oid: string, sending: Sending) {
    const rests = [...(await listPinned(repo, oid, sending)), ...readsWithAccounts(oid)];
    const tags = new Map<string, string>();
    for (const rest of rests) {
      const { status, headers } = await ask(repo, rest, sending);
      expect([rest, status]).toEqual([rest, 200]);
      tags.set(rest, headers.get("ETag") ?? "");
    }
    return tags;
  }
  /** The reads whose response differs from that for a missing object. */
  async function listLeaks(repo: TestRepo, tags: Map<string, string>, sending: Sending = {}) {
    const leaks: string[] = [];
    for (const [rest, tag] of tags) {
      const condition = { "If-None-Match": `${tag}, *` };
      const { status, headers } = await ask(repo, rest, { ...sending, headers: condition });
      // The object routes answer 400 for an id that does not exist.
      const isObject = rest.startsWith("git/blobs") || rest.startsWith("git/trees");
      const isHidden = status === 404 || (isObject && status === 400);
      const isCacheable = headers.has("ETag") || headers.get("Cache-Control") !== REVALIDATED;
      if (!isHidden || isCacheable) leaks.push(`${status} ${rest}`);
    }
    return leaks;
  }

  it("of a repository that became private", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    const { repo, head } = await makeRepository(owner);
    const tags = await warm(repo, head, {});
    const json = { private: true };
    expect(
      (await call("PATCH", `/repos/${repo.owner}/${repo.name}`, { as: owner, json })).status,
    ).toBe(200);
    expect(await listLeaks(repo, tags)).toEqual([]);
    expect(await listLeaks(repo, tags, { as: stranger })).toEqual([]);
    const { headers } = await ask(repo, `raw/a?ref=${head}`, { as: owner });
    expect(headers.get("Cache-Control")).toMatch(/^private,/);
  });

  it("to a removed collaborator", async () => {
    const [owner, friend] = [await make.user(), await make.user()];
    const { repo, head } = await makeRepository(owner, { isPrivate: true });
    await make.collaborator(repo, friend, ACCESS.read);
    const tags = await warm(repo, head, { as: friend });
    await db.delete(collaborations).where(eq(collaborations.repoId, repo.id));
    expect(await listLeaks(repo, tags, { as: friend })).toEqual([]);
    await warm(repo, head, { as: owner });
  });

  it("of a repository whose code unit was disabled", async () => {
    const owner = await make.user();
    const { repo, head } = await makeRepository(owner);
    const tags = await warm(repo, head, {});
    await db.update(repositories).set({ hasCode: false }).where(eq(repositories.id, repo.id));
    expect(await listLeaks(repo, tags)).toEqual([]);
  });

  it("of a deleted repository, through a new one of the same name", async () => {
    const owner = await make.user();
    const { repo, head } = await makeRepository(owner);
    const tags = await warm(repo, head, {});
    await call("DELETE", `/repos/${repo.owner}/${repo.name}`, { as: owner });
    expect(await listLeaks(repo, tags)).toEqual([]);
    const json = { name: repo.name, auto_init: true, readme: "Default" };
    expect((await call("POST", "/user/repos", { as: owner, json })).status).toBe(201);
    expect(await listLeaks(repo, tags)).toEqual([]);
    expect(await listLeaks(repo, tags, { as: owner })).toEqual([]);
  });

  it("of commits that a forced push removed", async () => {
    const owner = await make.user();
    const { repo, first, side } = await makeRepository(owner);
    const tags = await warm(repo, side, { as: owner });
    const aside = [{ ref: "refs/heads/side", old: side, new: first }];
    expect((await pushCommands(owner, repo, aside, { pack: makeEmptyPack() })).body).toContain(
      "ok refs/heads/side",
    );
    expect(await listLeaks(repo, tags, { as: owner })).toEqual([]);
    await warm(repo, first, { as: owner });
  });

  it("of a repository, through its fork", async () => {
    const [owner, forker] = [await make.user(), await make.user()];
    const { repo } = await makeRepository(owner);
    const { body } = await call("POST", `/repos/${repo.owner}/${repo.name}/forks`, {
      as: forker,
      json: {},
    });
    const fork = { ...repo, id: body.id, owner: forker.name, name: body.name };
    const history = new History();
    const own = history.commit({ files: { a: "own\n" } });
    await pushCommands(owner, repo, [{ ref: "refs/heads/own", new: own }], {
      pack: history.build(),
    });
    const tags = await warm(repo, own, {});
    expect(await listLeaks(fork, tags)).toEqual([]);
    expect(await listLeaks(fork, tags, { as: forker })).toEqual([]);
  });
});
