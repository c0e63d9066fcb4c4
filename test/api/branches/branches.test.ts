import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ACCESS, repositories } from "../../../src/db/schema/index.ts";
import { encodeText } from "../../../src/git/byte-text.ts";
import { disableCode } from "../../support/disable-code.ts";
import { call, type Sending } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { makeDatedCommit } from "../../support/dated-commit.ts";
import { db } from "../../support/db.ts";
import { eventsOf } from "../../support/events.ts";
import { git } from "../../support/git.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { filesOf, makeCommit, pushCommands, refsOf, storePush } from "../../support/push.ts";
import { statusesOf } from "../../support/statuses.ts";
import { logged } from "../../support/usage.ts";

const pathOf = (repo: Pick<TestRepo, "owner" | "name">, branch?: string) =>
  `/repos/${repo.owner}/${repo.name}/branches${branch === undefined ? "" : `/${branch}`}`;

/** A repository whose `main` has one commit. */
async function makePushed(fields: Parameters<typeof make.repo>[1] = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const commit = makeCommit(repo.name);
  await storePush(repo, "refs/heads/main", commit.oid, commit.pack);
  return { owner, repo, commit };
}

const namesIn = async (repo: TestRepo) => (await refsOf(repo)).map(({ name }) => name);
const rowOf = async (repo: TestRepo) =>
  (await db.select().from(repositories).where(eq(repositories.id, repo.id)))[0];

const create = (repo: TestRepo, as: Pick<TestUser, "token"> | undefined, json: object) =>
  call("POST", pathOf(repo), { ...(as && { as }), json });

describe("GET /repos/{owner}/{repo}/branches", () => {
  it("lists branches by commit time, then by name, in pages, with a total", async () => {
    const { repo, commit } = await makePushed();
    for (const [name, at] of [
      ["old", 1_600_000_001],
      ["b/new", 1_800_000_000],
      ["a/new", 1_800_000_000],
    ] as const) {
      const { oid, pack } = makeDatedCommit("same", { at });
      await storePush(repo, `refs/heads/${name}`, oid, pack);
    }
    await storePush(repo, "refs/tags/v1", commit.oid, commit.pack);
    const list = async (query: string) => {
      const { body, headers } = await call("GET", `${pathOf(repo)}${query}`);
      const names = (body as { name: string }[]).map(({ name }) => name);
      return { names, total: headers.get("X-Total-Count"), link: headers.get("Link") };
    };
    expect(await list("")).toEqual({
      names: ["a/new", "b/new", "main", "old"],
      total: "4",
      link: null,
    });
    expect(await list("?page=2&limit=3")).toMatchObject({ names: ["old"], total: "4" });
    expect((await list("?limit=3")).link).toContain('rel="next"');
    expect(await list("?page=9")).toMatchObject({ names: [], total: "4" });
  });

  it("is empty for a repository without commits", async () => {
    const repo = await make.repo(await make.user());
    const { status, body, headers } = await call("GET", pathOf(repo));
    expect([status, body, headers.get("X-Total-Count")]).toEqual([200, [], "0"]);
  });

  it("costs one Durable Object call and two database round trips for any number of branches", async () => {
    const { owner, repo } = await makePushed();
    for (const name of ["a", "b", "c"]) {
      const { oid, pack } = makeDatedCommit(name);
      await storePush(repo, `refs/heads/${name}`, oid, pack);
    }
    const { answer, line } = await logged(() => call("GET", pathOf(repo), { as: owner }));
    expect(answer.body).toHaveLength(4);
    expect(line).toMatchObject({ d1Rounds: 2, objectCalls: 1 });
  });

  it("requires read access to the code", async () => {
    const { owner, repo } = await makePushed({ isPrivate: true });
    for (const path of [pathOf(repo), pathOf(repo, "main")]) {
      expect((await call("GET", path)).status).toBe(404);
      expect((await call("GET", path, { as: await make.user() })).status).toBe(404);
      const token = await make.token(owner, { scopes: "read:user" });
      expect((await call("GET", path, { token })).status).toBe(403);
      expect((await call("GET", path, { as: owner })).status).toBe(200);
    }
    await disableCode(repo);
    expect((await call("GET", pathOf(repo))).status).toBe(404);
    expect((await call("GET", pathOf(repo), { as: owner })).status).toBe(200);
    expect((await call("GET", pathOf(repo, "main"))).status).toBe(404);
    expect((await call("GET", pathOf(repo, "main"), { as: owner })).status).toBe(200);
  });
});

describe("GET /repos/{owner}/{repo}/branches/{branch}", () => {
  it("returns a branch with its commit and the caller's permissions", async () => {
    const { owner, repo } = await makePushed();
    const ada = await make.user();
    const commit = makeDatedCommit("A word\n\nand more", { author: `Ada <${ada.email}>` });
    await storePush(repo, encodeText("refs/heads/feature/über"), commit.oid, commit.pack);
    const { status, body } = await call("GET", pathOf(repo, "feature/über"), { as: owner });
    expect([status, body]).toEqual([
      200,
      {
        name: "feature/über",
        commit: {
          id: commit.oid,
          message: "A word\n\nand more\n",
          url: `https://forge.example/${repo.owner}/${repo.name}/commit/${commit.oid}`,
          author: { name: "Ada", email: ada.email, username: ada.name },
          committer: { name: "C", email: "c@example.com", username: "" },
          verification: {
            verified: false,
            reason: "gpg.error.not_signed_commit",
            signature: "",
            signer: null,
            payload: "",
          },
          timestamp: "2020-09-13T12:26:40Z",
          added: null,
          removed: null,
          modified: null,
        },
        protected: false,
        required_approvals: 0,
        enable_status_check: false,
        status_check_contexts: [],
        user_can_push: true,
        user_can_merge: true,
        effective_branch_protection_name: "",
      },
    ]);
    const encoded = pathOf(repo, encodeURIComponent("feature/über"));
    const seen = await call("GET", encoded, { as: await make.user() });
    expect(seen.body).toEqual({ ...body, user_can_push: false, user_can_merge: false });
  });

  it("returns a signature and the signed payload, even if the signature is unreadable", async () => {
    const { repo } = await makePushed();
    const headers = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n";
    const { oid, pack } = makeDatedCommit("signed", { headers });
    await storePush(repo, "refs/heads/signed", oid, pack);
    const { body } = await call("GET", pathOf(repo, "signed"));
    const { verification } = body.commit;
    expect(verification).toMatchObject({
      verified: false,
      reason: "gpg.error.extract_sign",
      signature: "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----",
    });
    expect(verification.payload).toMatch(/^tree [0-9a-f]{40}\nauthor Ada .*\n\nsigned\n$/s);
    expect(verification.payload).not.toContain("gpgsig");
  });

  // SECURITY: otherwise a caller could push a commit to learn who owns an address.
  it("names no account by a hidden address, and no invisible account", async () => {
    const { repo } = await makePushed();
    const hidden = await make.user({ isEmailHidden: true });
    const limited = await make.user({ visibility: "limited" });
    const usernameFor = async (author: string, sending: Sending = {}) => {
      const { oid, pack } = makeDatedCommit(author, { author: `X <${author}>` });
      await storePush(repo, `refs/heads/${oid}x`, oid, pack);
      const { body } = await call("GET", pathOf(repo, `${oid}x`), sending);
      return body.commit.author.username;
    };
    expect(await usernameFor(hidden.email)).toBe("");
    expect(await usernameFor(limited.email)).toBe("");
    expect(await usernameFor(`a${limited.email}`, { as: hidden })).toBe("");
    expect(await usernameFor(hidden.email.toUpperCase(), { as: hidden })).toBe(hidden.name);
    const placeholder = `${hidden.name.toUpperCase()}@noreply.forge.example`;
    expect(await usernameFor(placeholder)).toBe(hidden.name);
  });

  it("answers 404 for any other name", async () => {
    const { owner, repo } = await makePushed();
    const near = ["nothing", "refs/heads/main", "main%2f", "mai", "heads/main", "main%0a"];
    const wrong = ["%00", "%ff", "..%2fmain", "%2e%2e%2f%2e%2e%2fmain", "x".repeat(5000)];
    for (const name of [...near, ...wrong]) {
      const { status, body } = await call("GET", pathOf(repo, name), { as: owner });
      expect([status, body], name).toEqual([404, ""]);
    }
  });

  it("returns a commit with an out-of-range date", async () => {
    const { repo } = await makePushed();
    const { oid, pack } = makeDatedCommit("late", { at: 999_999_999_999, authorAt: 10 ** 14 });
    await storePush(repo, "refs/heads/late", oid, pack);
    const { body } = await call("GET", pathOf(repo, "late"));
    expect(body.commit).toMatchObject({ id: oid, timestamp: "1970-01-01T00:00:00Z" });
  });
});

describe("POST /repos/{owner}/{repo}/branches", () => {
  it("creates a branch at the default branch, another branch, a tag or a commit, and records a push", async () => {
    const { owner, repo, commit } = await makePushed();
    const other = makeDatedCommit("other");
    await storePush(repo, "refs/heads/a/b", other.oid, other.pack);
    await storePush(repo, "refs/tags/v1", other.oid, other.pack);
    const before = await eventsOf(repo);
    const files = await filesOf(repo);
    const starts: [object, string][] = [
      [{}, commit.oid],
      [{ old_ref_name: "a/b" }, other.oid],
      [{ old_ref_name: "v1", old_branch_name: "main" }, other.oid],
      [{ old_ref_name: "refs/tags/v1" }, other.oid],
      [{ old_ref_name: other.oid.slice(0, 12) }, other.oid],
      [{ old_branch_name: "a/b" }, other.oid],
      [{ Old_Ref_Name: other.oid.toUpperCase() }, other.oid],
    ];
    for (const [at, [json, oid]] of starts.entries()) {
      const name = `new/${at}`;
      const { status, body } = await create(repo, owner, { new_branch_name: name, ...json });
      expect([status, body.name, body.commit?.id]).toEqual([201, name, oid]);
      expect((await call("GET", pathOf(repo, name), { as: owner })).body).toEqual(body);
    }
    const events = (await eventsOf(repo)).slice(before.length);
    expect(events).toHaveLength(starts.length);
    expect(events[0]).toMatchObject({
      type: "repository.pushed",
      actorId: owner.id,
      payload: {
        refCount: 1,
        updates: [{ ref: "refs/heads/new/0", before: null, after: commit.oid }],
      },
    });
    expect(await filesOf(repo)).toEqual(files);
  });

  it("refuses taken and invalid names, and an unknown starting point", async () => {
    const { owner, repo, commit } = await makePushed();
    await storePush(repo, "refs/heads/a/b", commit.oid, commit.pack);
    await storePush(repo, "refs/tags/v1", commit.oid, commit.pack);
    const hidden = makeDatedCommit("not reached");
    await storePush(repo, "refs/heads/gone", hidden.oid, hidden.pack);
    await pushCommands(owner, repo, [{ ref: "refs/heads/gone", old: hidden.oid }]);
    const [refs, events] = [await refsOf(repo), await eventsOf(repo)];
    const name = { new_branch_name: "x" };
    const wrong = ["", "a..b", "-x", "a b", "x.lock", "../x", "./x", "a//b", "HEAD", "@", "\uD800"];
    const refusals: [object, number, string][] = [
      [{ new_branch_name: "main" }, 409, "The branch already exists."],
      [{ new_branch_name: "v1" }, 409, "The branch with the same tag already exists."],
      [{ new_branch_name: "a" }, 409, "The branch with the same name already exists."],
      [{ new_branch_name: "main/x" }, 409, "The branch with the same name already exists."],
      [
        { new_branch_name: "n".repeat(101) },
        422,
        "[new_branch_name]: must have at most 100 characters",
      ],
      [
        { new_branch_name: "n".repeat(5000) },
        422,
        "[new_branch_name]: must have at most 100 characters",
      ],
      [{}, 422, "[new_branch_name]: is required"],
      ...wrong
        .slice(1)
        .map((text): [object, number, string] => [
          { new_branch_name: text },
          422,
          "[new_branch_name]: must be a name that git allows, no object id, without a leading dash and control characters",
        ]),
      [{ ...name, old_ref_name: 3 }, 422, "[old_ref_name]: must be a string"],
      [{ ...name, old_ref_name: "nothing" }, 404, ""],
      // SECURITY: an unreachable commit must not become accessible again by its id.
      [{ ...name, old_ref_name: hidden.oid }, 404, ""],
      [{ ...name, old_ref_name: "0".repeat(40) }, 404, ""],
      [{ ...name, old_branch_name: "v1" }, 404, ""],
    ];
    for (const [json, status, message] of refusals) {
      const answer = await create(repo, owner, json);
      expect([answer.status, answer.body.message ?? answer.body], JSON.stringify(json)).toEqual([
        status,
        message,
      ]);
    }
    expect(await refsOf(repo)).toEqual(refs);
    expect(await eventsOf(repo)).toEqual(events);
  });

  it("creates only one of several concurrently requested branches of one name", async () => {
    const { owner, repo } = await makePushed();
    const json = { new_branch_name: "one" };
    const answers = await Promise.all([1, 2, 3].map(() => create(repo, owner, json)));
    expect(statusesOf(answers)).toEqual([201, 409, 409]);
  });

  it("answers 404 in an empty repository", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    expect((await create(repo, owner, { new_branch_name: "x" })).status).toBe(404);
    expect(await eventsOf(repo)).toEqual([]);
  });
});

describe("PATCH /repos/{owner}/{repo}/branches/{branch}", () => {
  const rename = (repo: TestRepo, branch: string, as: TestUser, json: object) =>
    call("PATCH", pathOf(repo, branch), { as, json });

  it("renames a branch atomically, also to a name below its own", async () => {
    const { repo, commit } = await makePushed();
    await storePush(repo, "refs/heads/a", commit.oid, commit.pack);
    const before = await eventsOf(repo);
    const writer = await make.user();
    await make.collaborator(repo, writer, ACCESS.write);
    const { status, body } = await rename(repo, "a", writer, { name: "a/b" });
    expect([status, body]).toEqual([204, ""]);
    expect(await namesIn(repo)).toEqual(["refs/heads/a/b", "refs/heads/main"]);
    expect((await rename(repo, "a%2Fb", writer, { name: "a" })).status).toBe(204);
    expect(await namesIn(repo)).toEqual(["refs/heads/a", "refs/heads/main"]);
    const events = (await eventsOf(repo)).slice(before.length);
    expect(events.map(({ payload }) => payload)).toMatchObject([
      {
        refCount: 2,
        updates: [
          { ref: "refs/heads/a", before: commit.oid, after: null },
          { ref: "refs/heads/a/b", before: null, after: commit.oid },
        ],
      },
      { refCount: 2 },
    ]);
  });

  it("renames the default branch together with HEAD, for repository administrators only", async () => {
    const { owner, repo, commit } = await makePushed();
    const writer = await make.user();
    await make.collaborator(repo, writer, ACCESS.write);
    const refused = await rename(repo, "main", writer, { name: "trunk" });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      "User must be a repo or site admin to rename default or protected branches.",
    ]);
    expect(await namesIn(repo)).toEqual(["refs/heads/main"]);
    expect((await rename(repo, "main", owner, { name: "trunk" })).status).toBe(204);
    const snapshot = await git.repository(repo).snapshot();
    expect(snapshot).toMatchObject({
      head: "refs/heads/trunk",
      refs: [{ name: "refs/heads/trunk", oid: commit.oid }],
    });
    expect(await rowOf(repo)).toMatchObject({ defaultBranch: "trunk", isEmpty: false });
    const seen = await call("GET", `/repos/${repo.owner}/${repo.name}`);
    expect(seen.body.default_branch).toBe("trunk");
  });

  it("leaves HEAD unchanged for any other branch", async () => {
    const { owner, repo, commit } = await makePushed();
    await storePush(repo, "refs/heads/a", commit.oid, commit.pack);
    expect((await rename(repo, "a", owner, { name: "b" })).status).toBe(204);
    expect((await git.repository(repo).snapshot()).head).toBe("refs/heads/main");
    expect(await rowOf(repo)).toMatchObject({ defaultBranch: "main" });
  });

  it("refuses taken and invalid names, and an unknown branch", async () => {
    const { owner, repo, commit } = await makePushed();
    await storePush(repo, "refs/heads/a/b", commit.oid, commit.pack);
    const refs = await refsOf(repo);
    const taken =
      "Cannot rename a branch using the same name or rename to a branch that already exists.";
    const refusals: [string, object, number, string][] = [
      ["main", { name: "a/b" }, 422, taken],
      ["main", { name: "main" }, 422, taken],
      ["main", { name: "a" }, 422, taken],
      ["main", { name: "a/b/c" }, 422, taken],
      [
        "main",
        { name: "a..b" },
        422,
        "[name]: must be a name that git allows, no object id, without a leading dash and control characters",
      ],
      [
        "main",
        { name: "HEAD" },
        422,
        "[name]: must be a name that git allows, no object id, without a leading dash and control characters",
      ],
      ["main", { name: "" }, 422, "[name]: must not be empty"],
      ["main", {}, 422, "[name]: is required"],
      ["nothing", { name: "x" }, 404, ""],
      ["..%2fmain", { name: "x" }, 404, ""],
      ["x".repeat(5000), { name: "x" }, 404, ""],
    ];
    for (const [branch, json, status, message] of refusals) {
      const answer = await rename(repo, branch, owner, json);
      expect([answer.status, answer.body.message ?? answer.body]).toEqual([status, message]);
    }
    expect(await refsOf(repo)).toEqual(refs);
  });
});

describe("PUT /repos/{owner}/{repo}/branches/{branch}", () => {
  const update = (repo: TestRepo, branch: string, as: TestUser, json: object) =>
    call("PUT", pathOf(repo, branch), { as, json });

  /** `main` is two commits ahead of `old`, and `some/other` diverges from both. */
  async function makeLines() {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const root = history.commit({ files: { a: "1" } });
    const middle = history.commit({ parents: [root] });
    const tip = history.commit({ parents: [middle] });
    const other = history.commit({ files: { b: "1" }, parents: [root] });
    const tagged = history.tag(tip, "v1");
    const commands = [
      { ref: "refs/heads/main", new: tip },
      { ref: "refs/heads/old", new: root },
      { ref: "refs/heads/some/other", new: other },
      { ref: "refs/tags/v1", new: tagged },
    ];
    await pushCommands(owner, repo, commands, { pack: history.build() });
    return { owner, repo, root, middle, tip, other };
  }
  const oidOf = async (repo: TestRepo, branch: string) =>
    (await refsOf(repo)).find(({ name }) => name === `refs/heads/${branch}`)?.oid;

  it("fast-forwards a branch, moves it elsewhere only with force, and records a push", async () => {
    const { owner, repo, root, middle, tip, other } = await makeLines();
    const before = await eventsOf(repo);
    const json = { new_commit_id: middle, old_commit_id: root };
    const { answer, line } = await logged(() => update(repo, "old", owner, json));
    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    expect(await oidOf(repo, "old")).toBe(middle);
    expect((await eventsOf(repo)).slice(before.length)).toMatchObject([
      { payload: { updates: [{ ref: "refs/heads/old", before: root, after: middle }] } },
    ]);
    // By an abbreviated id, a tag, and the name of another branch.
    for (const [name, oid] of [
      [tip.slice(0, 9), tip],
      ["v1", tip],
      ["main", tip],
      ["HEAD", tip],
    ] as const) {
      expect((await update(repo, "old", owner, { new_commit_id: name })).status, name).toBe(204);
      expect(await oidOf(repo, "old")).toBe(oid);
    }
    const aside = { new_commit_id: "some/other" };
    expect((await update(repo, "old", owner, aside)).status).toBe(422);
    expect(await oidOf(repo, "old")).toBe(tip);
    expect((await update(repo, "old", owner, { ...aside, force: true })).status).toBe(204);
    expect(await oidOf(repo, "old")).toBe(other);
    const back = { new_commit_id: root, old_commit_id: other.toUpperCase(), force: true };
    expect((await update(repo, "some%2Fother", owner, back)).status).toBe(204);
    expect(await oidOf(repo, "some/other")).toBe(root);
  });

  it("records nothing if the branch already points at the commit", async () => {
    const { owner, repo, tip } = await makeLines();
    const before = await eventsOf(repo);
    expect((await update(repo, "main", owner, { new_commit_id: tip })).status).toBe(204);
    expect(await eventsOf(repo)).toEqual(before);
  });

  it("refuses unknown branches and commits, outdated commit ids, and malformed requests", async () => {
    const { owner, repo, root, tip, other } = await makeLines();
    // Stored, but unreachable.
    await pushCommands(owner, repo, [{ ref: "refs/heads/some/other", old: other }], {
      capabilities: "delete-refs",
    });
    const refs = await refsOf(repo);
    const events = await eventsOf(repo);
    const refusal = { message: expect.any(String), url: expect.any(String) };
    const refusals: [string, object, number][] = [
      ["old", { new_commit_id: tip, old_commit_id: tip }, 422],
      ["old", { new_commit_id: tip, old_commit_id: tip, force: true }, 422],
      ["main", { new_commit_id: root }, 422],
      ["old", { new_commit_id: other, force: true }, 404],
      ["old", { new_commit_id: "0".repeat(40), force: true }, 404],
      ["old", { new_commit_id: "f".repeat(64) }, 404],
      ["old", { new_commit_id: "nothing" }, 404],
      ["nothing", { new_commit_id: tip }, 404],
      ["..%2fmain", { new_commit_id: tip }, 404],
      ["%00", { new_commit_id: tip }, 404],
      ["x".repeat(5000), { new_commit_id: tip }, 404],
      ["old", {}, 422],
      ["old", { new_commit_id: "" }, 422],
      ["old", { new_commit_id: "x".repeat(5000) }, 422],
      ["old", { new_commit_id: "main~1" }, 422],
      ["old", { new_commit_id: "main^" }, 422],
      ["old", { new_commit_id: "a..b" }, 422],
      ["old", { new_commit_id: "a\u0000" }, 422],
      ["old", { new_commit_id: tip, old_commit_id: "main" }, 422],
      ["old", { new_commit_id: tip, old_commit_id: root.slice(0, 10) }, 422],
      ["old", { new_commit_id: tip, force: "yes" }, 422],
    ];
    for (const [branch, json, status] of refusals) {
      const answer = await update(repo, branch, owner, json);
      expect([branch, json, answer.status]).toEqual([branch, json, status]);
      expect(answer.body).toEqual(status === 404 ? "" : refusal);
    }
    expect(await refsOf(repo)).toEqual(refs);
    expect(await eventsOf(repo)).toEqual(events);
  });
});

describe("DELETE /repos/{owner}/{repo}/branches/{branch}", () => {
  it("deletes a branch and records a push", async () => {
    const { owner, repo, commit } = await makePushed();
    await storePush(repo, "refs/heads/a/b", commit.oid, commit.pack);
    const before = await eventsOf(repo);
    const { status, body } = await call("DELETE", pathOf(repo, "a/b"), { as: owner });
    expect([status, body]).toEqual([204, ""]);
    expect(await namesIn(repo)).toEqual(["refs/heads/main"]);
    expect((await eventsOf(repo)).slice(before.length)).toMatchObject([
      { payload: { updates: [{ ref: "refs/heads/a/b", before: commit.oid, after: null }] } },
    ]);
    expect((await call("DELETE", pathOf(repo, "a/b"), { as: owner })).status).toBe(404);
  });

  it("never deletes the default branch", async () => {
    const { owner, repo } = await makePushed();
    const { status, body } = await call("DELETE", pathOf(repo, "main"), { as: owner });
    expect([status, body.message]).toEqual([403, "can not delete default branch"]);
    expect(await namesIn(repo)).toEqual(["refs/heads/main"]);
  });
});

describe("a branch change", () => {
  const changes = [
    ["POST", undefined, { new_branch_name: "x" }],
    ["PATCH", "other", { name: "x" }],
    ["PUT", "other", { new_commit_id: "main", force: true }],
    ["DELETE", "other", undefined],
  ] as const;

  it.each(changes)(
    "requires write access to the code, and a token that grants it: %s",
    async (...change) => {
      const [method, branch, json] = change;
      const { owner, repo, commit } = await makePushed({ isPrivate: true });
      await storePush(repo, "refs/heads/other", commit.oid, commit.pack);
      const refs = await refsOf(repo);
      const [reader, stranger] = [await make.user(), await make.user()];
      await make.collaborator(repo, reader, ACCESS.read);
      const otherRepo = await make.repo(owner);
      const sendings: [Sending, number][] = [
        [{}, 404],
        [{ as: stranger }, 404],
        [{ as: reader }, 403],
        [{ token: await make.token(owner, { scopes: "read:repository" }) }, 403],
        [{ token: await make.token(owner, { scopes: "public-only,all" }) }, 404],
        [{ token: await make.token(owner, { repos: [otherRepo] }) }, 404],
      ];
      const path = pathOf(repo, branch);
      for (const [sending, status] of sendings) {
        const answer = await call(method, path, { ...sending, ...(json && { json }) });
        expect(answer.status).toBe(status);
      }
      expect(await refsOf(repo)).toEqual(refs);
    },
  );

  it.each(changes)(
    "is refused in archives and mirrors, and with the code unit disabled: %s",
    async (...change) => {
      const [method, branch, json] = change;
      const { owner, repo, commit } = await makePushed();
      await storePush(repo, "refs/heads/other", commit.oid, commit.pack);
      const refs = await refsOf(repo);
      const states = [
        [{ archivedAt: 1000 }, 423, `${repo.owner}/${repo.name} is archived`],
        [{ archivedAt: null, isMirror: true }, 403, "Git Repository is a mirror."],
        [{ isMirror: false, hasCode: false }, 403, "the repository's code unit is disabled"],
      ] as const;
      for (const [fields, status, message] of states) {
        await db.update(repositories).set(fields).where(eq(repositories.id, repo.id));
        const sending = { as: owner, ...(json && { json }) };
        const answer = await call(method, pathOf(repo, branch), sending);
        expect([answer.status, answer.body.message ?? answer.body]).toEqual([status, message]);
      }
      expect(await refsOf(repo)).toEqual(refs);
    },
  );

  it("redirects to a renamed repository, keeping the encoding of the branch name", async () => {
    const { owner, repo } = await makePushed();
    const name = `${repo.name}-moved`;
    await call("PATCH", `/repos/${repo.owner}/${repo.name}`, { as: owner, json: { name } });
    const { status, headers } = await call("GET", pathOf(repo, "a%2Fb/c"));
    expect(status).toBe(301);
    expect(headers.get("Location")).toBe(
      `https://forge.example/api/v1/repos/${repo.owner}/${name}/branches/a%2Fb/c`,
    );
  });
});
