import { describe, expect, it } from "vitest";

import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { pushCommands } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

/**
 * A repository of five commits: `root`, its children `first` and `side`, `merge` of both, which is
 * `main`, and the unrelated `orphan`.
 */
async function makeStory(owner: TestUser, fields: Parameters<typeof make.repo>[1] = {}) {
  const repo = await make.repo(owner, fields);
  const history = new History();
  const root = history.commit({ files: { "a.txt": "1\n2\n3\n", "dir/b.txt": "b\n" } });
  const first = history.commit({
    files: { "a.txt": "1\n2\nthree\nfour\n", "dir/b.txt": "b\n" },
    parents: [root],
    author: `Ada L <${owner.email.toUpperCase()}>`,
    committer: "Nobody <nobody@nowhere.example>",
    message: "Say it in words\n\nBecause.\n",
  });
  const side = history.commit({
    files: { "a.txt": "1\n2\n3\n", "dir/b.txt": "b\n", "ü/ö.bin": "\0\u0001" },
    parents: [root],
  });
  const merge = history.commit({
    files: { "a.txt": "1\n2\nthree\nfour\n", "dir/b.txt": "b\n", "ü/ö.bin": "\0\u0001" },
    parents: [first, side],
    headers: "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n",
  });
  const orphan = history.commit({ message: "Alone" });
  const tag = history.tag(first, "v1");
  await pushCommands(
    owner,
    repo,
    [
      { ref: "refs/heads/main", new: merge },
      { ref: "refs/heads/with/slash", new: side },
      { ref: "refs/heads/orphan", new: orphan },
      { ref: "refs/tags/v1", new: tag },
    ],
    { pack: history.build() },
  );
  return { repo, root, first, side, merge, orphan, tag };
}

const pathOf = (repo: TestRepo): string => `/repos/${repo.owner}/${repo.name}`;
const LONG = "x".repeat(5000);

/** Names that do not resolve to a commit. */
const NO_COMMITS = ["nothing", "0".repeat(40), "abc", "f".repeat(41), "-x", LONG];

describe("GET /repos/{owner}/{repo}/commits", () => {
  it("lists the default branch, latest first, with the changes of each commit", async () => {
    const owner = await make.user();
    const { repo, root, first, side, merge } = await makeStory(owner);
    const { status, body, headers } = await call("GET", `${pathOf(repo)}/commits`);

    expect(status).toBe(200);
    expect(body.map(({ sha }: { sha: string }) => sha)).toEqual([merge, side, first, root]);
    expect(headers.get("X-Total-Count")).toBe("4");
    const url = `https://forge.example/api/v1${pathOf(repo)}/git`;
    expect(body[2]).toMatchObject({
      sha: first,
      url: `${url}/commits/${first}`,
      html_url: `https://forge.example/${repo.owner}/${repo.name}/commit/${first}`,
      created: "2023-11-14T22:15:20Z",
      commit: {
        message: "Say it in words\n\nBecause.\n",
        author: {
          name: "Ada L",
          email: owner.email.toUpperCase(),
          date: "2023-11-14T23:15:20+01:00",
        },
        committer: { name: "Nobody", date: "2023-11-14T21:45:20-00:30" },
        verification: {
          verified: false,
          reason: "gpg.error.not_signed_commit",
          signature: "",
          signer: null,
          payload: "",
        },
      },
      author: { login: owner.name },
      committer: null,
      parents: [{ sha: root, url: `${url}/commits/${root}`, created: "2023-11-14T22:14:20Z" }],
      files: [{ filename: "a.txt", status: "modified" }],
      stats: { total: 3, additions: 2, deletions: 1 },
    });
    // A merge is compared with its first parent; binary files have no lines.
    expect(body[0]).toMatchObject({
      files: [{ filename: "ü/ö.bin", status: "added" }],
      stats: { total: 0, additions: 0, deletions: 0 },
      commit: { verification: { verified: false, reason: "gpg.error.extract_sign" } },
    });
    expect(body[3]).toMatchObject({ parents: [], stats: { additions: 4, deletions: 0 } });
  });

  it("omits parts that are not requested", async () => {
    const owner = await make.user();
    const { repo } = await makeStory(owner);
    const list = async (query: string) => {
      const { body } = await call("GET", `${pathOf(repo)}/commits?limit=1${query}`);
      const [{ stats, files, commit }] = body;
      return [stats, files, commit.verification].map((part) => part !== null);
    };
    expect(await list("")).toEqual([true, true, true]);
    expect(await list("&stat=false")).toEqual([false, true, true]);
    expect(await list("&files=false")).toEqual([true, false, true]);
    expect(await list("&verification=false")).toEqual([true, true, false]);
    expect(await list("&stat=0&files=0&verification=0")).toEqual([false, false, false]);
  });

  it("starts at a branch, a tag or a commit, and excludes commits reachable from `not`", async () => {
    const owner = await make.user();
    const { repo, root, first, side, merge, orphan } = await makeStory(owner);
    const list = async (query: string) => {
      const { body, headers } = await call("GET", `${pathOf(repo)}/commits?${query}`);
      const shas = (body as { sha: string }[]).map(({ sha }) => sha);
      return [shas, headers.get("X-Total-Count")];
    };
    expect(await list("sha=with/slash")).toEqual([[side, root], "2"]);
    expect(await list("sha=refs/heads/orphan")).toEqual([[orphan], "1"]);
    expect(await list("sha=v1")).toEqual([[first, root], "2"]);
    expect(await list(`sha=${side}`)).toEqual([[side, root], "2"]);
    expect(await list(`sha=${side.slice(0, 10).toUpperCase()}`)).toEqual([[side, root], "2"]);
    expect(await list("not=with/slash")).toEqual([[merge, first], "2"]);
    expect(await list("not=with/slash&limit=1")).toEqual([[merge], "2"]);
    expect(await list("not=orphan&limit=1&page=4")).toEqual([[root], "4"]);
    expect(await list("sha=v1&not=main")).toEqual([[], "0"]);
    expect(await list("path=dir")).toEqual([[root], "1"]);
    expect(await list("path=a.txt")).toEqual([[first, root], "2"]);
    expect(await list(`path=${encodeURIComponent("ü/ö.bin")}&limit=1`)).toEqual([[side], "1"]);
    expect(await list("path=a.txt&not=with/slash")).toEqual([[first], "1"]);
    expect(await list("since=2023-11-14T22:16:20Z")).toEqual([[merge, side], "2"]);
    expect(await list("until=2023-11-14T23:15:20%2B01:00")).toEqual([[first, root], "2"]);
  });

  it("returns pagination headers", async () => {
    const owner = await make.user();
    const { repo } = await makeStory(owner);
    const path = `${pathOf(repo)}/commits`;
    const { headers } = await call("GET", `${path}?limit=3&page=1&stat=false`);
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-total": "4",
      "x-total-count": "4",
      "x-page": "1",
      "x-perpage": "3",
      "x-pagecount": "2",
      "x-hasmore": "true",
    });
    const next = `https://forge.example/api/v1${path}?limit=3&page=2&stat=false`;
    expect(headers.get("Link")).toBe(`<${next}>; rel="next",<${next}>; rel="last"`);
    expect(headers.get("Access-Control-Expose-Headers")).toBe(
      "X-Total-Count, X-Total, X-Page, X-PerPage, X-PageCount, X-HasMore, Link",
    );
    const last = await call("GET", `${path}?limit=3&page=2`);
    expect([last.body.length, last.headers.get("X-HasMore")]).toEqual([1, "false"]);
    const beyond = await call("GET", `${path}?limit=3&page=9`);
    expect(beyond).toMatchObject({ status: 200, body: [] });
    expect(beyond.headers.get("X-Total-Count")).toBe("4");
    // The page size of a path's history is fixed.
    const ofPath = await call("GET", `${path}?limit=1&path=a.txt`);
    expect([ofPath.body.length, ofPath.headers.get("X-PerPage")]).toEqual([2, "50"]);
  });

  it("costs two database round trips and one Durable Object call", async () => {
    const owner = await make.user();
    const { repo } = await makeStory(owner);
    const { line } = await logged(() => call("GET", `${pathOf(repo)}/commits`, { as: owner }));
    expect(line).toMatchObject({ status: 200, d1Rounds: 2, objectCalls: 1 });
  });

  // SECURITY: otherwise a caller could push a commit to learn who owns an address.
  it("returns an account with a hidden address as author to itself only", async () => {
    const owner = await make.user({ isEmailHidden: true });
    const stranger = await make.user();
    const { repo } = await makeStory(owner);
    const authorFor = async (as?: TestUser) => {
      const path = `${pathOf(repo)}/commits?sha=v1&limit=1`;
      const { body } = await call("GET", path, as ? { as } : {});
      return body[0].author?.login;
    };
    expect(await authorFor(owner)).toBe(owner.name);
    expect(await authorFor(stranger)).toBeUndefined();
    expect(await authorFor()).toBeUndefined();
  });

  it("answers 404 to callers who may not see the repository", async () => {
    const [owner, stranger] = [await make.user(), await make.user()];
    const { repo, root } = await makeStory(owner, { isPrivate: true });
    for (const path of [`${pathOf(repo)}/commits`, `${pathOf(repo)}/git/commits/${root}`]) {
      expect(await call("GET", path)).toMatchObject({ status: 404, body: "" });
      expect(await call("GET", path, { as: stranger })).toMatchObject({ status: 404, body: "" });
      expect((await call("GET", path, { as: owner })).status).toBe(200);
      const narrow = await make.token(owner, { scopes: "read:user" });
      expect((await call("GET", path, { token: narrow })).status).toBe(403);
    }
  });

  it("answers readers 404 if the code unit is disabled", async () => {
    const owner = await make.user();
    const { repo } = await makeStory(owner, { hasCode: false });
    expect((await call("GET", `${pathOf(repo)}/commits`)).status).toBe(404);
    // An empty repository: its owner sees the unit.
    expect((await call("GET", `${pathOf(repo)}/commits`, { as: owner })).status).toBe(409);
  });

  it("answers 409 for an empty repository", async () => {
    const repo = await make.repo(await make.user());
    expect(await call("GET", `${pathOf(repo)}/commits`)).toMatchObject({
      status: 409,
      body: { message: "Git Repository is empty.", url: "https://forge.example/api/swagger" },
    });
  });

  it("answers 404 for names that are not commits, and for unknown paths", async () => {
    const { repo } = await makeStory(await make.user());
    const path = `${pathOf(repo)}/commits`;
    for (const name of NO_COMMITS) {
      for (const field of ["sha", "not"]) {
        const answer = await call("GET", `${path}?${field}=${encodeURIComponent(name)}`);
        expect(answer, `${field}=${name}`).toMatchObject({ status: 404, body: "" });
      }
    }
    for (const name of ["none", "..", ".", "dir/..", "dir/../a.txt", "a\u0000", "a.txt/x", LONG]) {
      const answer = await call("GET", `${path}?path=${encodeURIComponent(name)}`);
      expect(answer, name).toMatchObject({ status: 404, body: "" });
    }
  });

  it("refuses invalid times", async () => {
    const { repo } = await makeStory(await make.user());
    for (const text of ["yesterday", "2023-11-14", "1700000000", "2023-13-14T00:00:00Z", LONG]) {
      for (const field of ["since", "until"]) {
        const answer = await call("GET", `${pathOf(repo)}/commits?${field}=${text}`);
        expect(answer).toMatchObject({
          status: 422,
          body: { message: `[${field}]: must be a time in RFC 3339, such as 2026-01-31T08:15:00Z` },
        });
      }
    }
  });
});

describe("GET /repos/{owner}/{repo}/git/commits/{sha}", () => {
  it("resolves a branch, a tag and an abbreviated id", async () => {
    const owner = await make.user();
    const { repo, first, side, tag } = await makeStory(owner);
    const shaOf = async (name: string) =>
      (await call("GET", `${pathOf(repo)}/git/commits/${name}`)).body.sha;
    expect(await shaOf("v1")).toBe(first);
    expect(await shaOf("with/slash")).toBe(side);
    expect(await shaOf("with%2Fslash")).toBe(side);
    expect(await shaOf(first)).toBe(first);
    expect(await shaOf(first.slice(0, 12))).toBe(first);
    // The id of a tag object is not a commit id.
    expect((await call("GET", `${pathOf(repo)}/git/commits/${tag}`)).status).toBe(404);
    const bare = `${pathOf(repo)}/git/commits/v1?stat=false&files=false&verification=false`;
    expect((await call("GET", bare)).body).toMatchObject({
      stats: null,
      files: null,
      commit: { verification: null },
    });
  });

  it("returns a signature with the signed payload", async () => {
    const owner = await make.user();
    const { repo } = await makeStory(owner);
    const { body } = await call("GET", `${pathOf(repo)}/git/commits/main`);
    const { signature, payload } = body.commit.verification;
    expect(signature).toBe("-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----");
    expect(payload).toMatch(/^tree [0-9a-f]{40}\nparent .*\n\nChange\n$/s);
    expect(payload).not.toContain("gpgsig");
  });

  it("answers 404 for names that are not commits", async () => {
    const { repo } = await makeStory(await make.user());
    for (const name of NO_COMMITS) {
      const answer = await call("GET", `${pathOf(repo)}/git/commits/${encodeURIComponent(name)}`);
      expect(answer, name).toMatchObject({ status: 404, body: "" });
    }
  });

  // SECURITY: force-pushed commits stay stored for a while.
  it("does not find a commit that is no longer reachable from a ref", async () => {
    const owner = await make.user();
    const { repo, orphan } = await makeStory(owner);
    const path = `${pathOf(repo)}/git/commits/${orphan}`;
    expect((await call("GET", path)).status).toBe(200);
    await pushCommands(owner, repo, [{ ref: "refs/heads/orphan", old: orphan }], {
      capabilities: "delete-refs",
    });
    expect((await call("GET", path)).status).toBe(404);
  });
});

describe("GET /repos/{owner}/{repo}/git/commits/{sha}.{diffType}", () => {
  it("returns the diff that git prints for a commit", async () => {
    const owner = await make.user();
    const { repo, first, root } = await makeStory(owner);
    const path = `${pathOf(repo)}/git/commits`;
    const { answer, line } = await logged(() => call("GET", `${path}/v1.diff`));
    expect(answer.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toMatch(
      /^diff --git a\/a.txt b\/a.txt\nindex [0-9a-f]{7}\.\.[0-9a-f]{7} 100644\n/,
    );
    expect(answer.body).toContain("@@ -1,3 +1,4 @@\n 1\n 2\n-3\n+three\n+four\n");
    expect(line).toMatchObject({ d1Rounds: 1, objectCalls: 1 });
    for (const name of [first, first.slice(0, 9)]) {
      expect((await call("GET", `${path}/${name}.diff`)).body).toBe(answer.body);
    }
    const { body } = await call("GET", `${path}/${root}.diff`);
    expect(body).toContain("new file mode 100644\n");
    expect((await call("GET", `${path}/main.diff`)).body).toMatch(
      /"b\/\\303\\274\/\\303\\266.bin" differ\n$/,
    );
  });

  it("answers 404 for names that are not commits, and to callers who may not see the repository", async () => {
    const owner = await make.user();
    const { repo } = await makeStory(owner, { isPrivate: true });
    for (const type of ["diff", "patch"]) {
      for (const name of NO_COMMITS) {
        const path = `${pathOf(repo)}/git/commits/${encodeURIComponent(name)}.${type}`;
        const answer = await call("GET", path, { as: owner });
        expect(answer, name).toMatchObject({ status: 404, body: "" });
      }
      const path = `${pathOf(repo)}/git/commits/v1.${type}`;
      expect(await call("GET", path)).toMatchObject({ status: 404, body: "" });
      expect((await call("GET", path, { as: owner })).status).toBe(200);
    }
  });

  it("returns a mail as `git format-patch` does", async () => {
    const owner = await make.user();
    const { repo, first } = await makeStory(owner);
    const path = `${pathOf(repo)}/git/commits`;
    const { answer, line } = await logged(() => call("GET", `${path}/v1.patch`));
    expect(answer.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    const lines = [
      `From ${first} Mon Sep 17 00:00:00 2001`,
      `From: Ada L <${owner.email.toUpperCase()}>`,
      "Date: Tue, 14 Nov 2023 23:15:20 +0100",
      "Subject: [PATCH] Say it in words",
      "",
      "Because.",
      "---",
      " a.txt | 3 ++-",
      " 1 file changed, 2 insertions(+), 1 deletion(-)",
      "",
      "diff --git a/a.txt b/a.txt",
      "index 01e79c3..533f260 100644",
      "--- a/a.txt",
      "+++ b/a.txt",
      "@@ -1,3 +1,4 @@",
      " 1",
      " 2",
      "-3",
      "+three",
      "+four",
      "-- ",
      "Edgeforge",
      "",
      "",
    ];
    expect(answer.body).toBe(lines.join("\n"));
    expect(line).toMatchObject({ d1Rounds: 1, objectCalls: 1 });
  });

  it("returns the merged commits of a merge, including binary files", async () => {
    const owner = await make.user();
    const { repo, side } = await makeStory(owner);
    const path = `${pathOf(repo)}/git/commits`;
    const { body } = await call("GET", `${path}/main.patch`);
    expect(body).toBe((await call("GET", `${path}/${side}.patch`)).body);
    expect(body).toMatch(/\nGIT binary patch\nliteral 2\nJ\S+\n\nliteral 0\nH\S+\n\n-- \n/);
  });

  it.each(["diff", "patch"])("computes a %s once, whatever name the commit has", async (type) => {
    const owner = await make.user();
    const { repo, side } = await makeStory(owner);
    const get = (name: string) =>
      logged(() => call("GET", `${pathOf(repo)}/git/commits/${name}.${type}`));
    const computed = await get(side);
    expect(computed.line.steps).toBeGreaterThan(1000);
    for (const name of [side, encodeURIComponent("with/slash")]) {
      const cached = await get(name);
      expect(cached.answer.body).toBe(computed.answer.body);
      expect(cached.line.steps).toBe(0);
    }
  });

  // SECURITY: a cached text outlives the refs that reached its commit, and the permission of who
  // asked first.
  it.each(["diff", "patch"])("shows a cached %s only where the commit is shown", async (type) => {
    const owner = await make.user();
    const { repo, side, first } = await makeStory(owner, { isPrivate: true });
    const { body: text } = await call("GET", `${pathOf(repo)}/git/commits/${first}.${type}`, {
      as: owner,
    });
    expect(text).toContain("+three\n");
    const path = `${pathOf(repo)}/git/commits/${first}.${type}`;
    expect(await call("GET", path, { as: await make.user() })).toMatchObject({ status: 404 });
    // The same objects in another repository are another result.
    const other = await makeStory(owner);
    const { line } = await logged(() =>
      call("GET", `${pathOf(other.repo)}/git/commits/${first}.${type}`),
    );
    expect(line.steps).toBeGreaterThan(1000);

    const branches = await call("PUT", `${pathOf(repo)}/branches/main`, {
      as: owner,
      json: { new_commit_id: side, force: true },
    });
    expect(branches.status).toBe(204);
    expect((await call("DELETE", `${pathOf(repo)}/tags/v1`, { as: owner })).status).toBe(204);
    expect(await call("GET", path, { as: owner })).toMatchObject({ status: 404, body: "" });
  });

  it("returns an empty text for a commit without changes", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const before = history.commit({ files: { a: "a" } });
    const idle = history.commit({ files: { a: "a" }, parents: [before] });
    await pushCommands(owner, repo, [{ ref: "refs/heads/main", new: idle }], {
      pack: history.build(),
    });
    const answer = await call("GET", `${pathOf(repo)}/git/commits/main.patch`);
    expect(answer).toMatchObject({ status: 200, body: "" });
  });

  it("refuses a patch of a file that is too large", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const history = new History();
    const oid = history.commit({ files: { large: "a".repeat(4 * 1024 * 1024 + 1) } });
    await pushCommands(owner, repo, [{ ref: "refs/heads/main", new: oid }], {
      pack: history.build(),
    });
    const path = `${pathOf(repo)}/git/commits/main`;
    expect((await call("GET", `${path}.patch`)).status).toBe(413);
    expect((await call("GET", `${path}.diff`)).status).toBe(200);
  });
});
