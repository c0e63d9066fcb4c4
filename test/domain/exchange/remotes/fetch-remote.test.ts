import { describe, expect, it } from "vitest";

import type { ByteText } from "../../../../src/git/byte-text.ts";
import { call } from "../../../support/call.ts";
import { readAllObjects } from "../../../support/git.ts";
import {
  failureOf,
  eventsOf,
  makeMirror,
  namedRefs,
  rowOf,
  syncFrom,
} from "../../../support/mirrors.ts";
import { filesOf, makeCommit, refsOf, storePush } from "../../../support/push.ts";
import { commitsOn, makeRemote } from "../../../support/remotes.ts";

async function makeFilled(count = 5) {
  const remote = await makeRemote();
  await remote.git(["fast-import", "--quiet"], commitsOn("main", count));
  await remote.git(["tag", "-a", "-m", "one", "v1", "main~1"]);
  await remote.git(["update-ref", "refs/notes/x", "main~2"]);
  await remote.git(["update-ref", "refs/pull/1/head", "main~1"]);
  return remote;
}

/** The refs of a remote without those that are the service's own here. */
async function fetchedRefs(remote: Awaited<ReturnType<typeof makeRemote>>) {
  const { "refs/pull/1/head": _, ...fetched } = await remote.refs();
  return fetched;
}

describe("fetchRemote", () => {
  it.each(["git", "v1", "v0"])("takes over all refs and objects, by %s", async (door) => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    const fetched = await syncFrom(repo, remote.url(door), { isFirst: true });
    expect(await namedRefs(repo)).toEqual(await fetchedRefs(remote));
    expect(fetched).toMatchObject({ head: "refs/heads/main", skipped: [] });
    expect(await readAllObjects(repo)).toBe((await remote.objects()).length);
    expect(await rowOf(repo)).toMatchObject({ isEmpty: false, defaultBranch: "main" });
    expect(await eventsOf(repo)).toEqual([]);

    // Then only what is new is fetched, and what the remote lacks is deleted.
    await remote.git(["fast-import", "--quiet"], commitsOn("main", 1, 5, "refs/heads/main^0"));
    await remote.git(["update-ref", "-d", "refs/notes/x"]);
    const again = await syncFrom(repo, remote.url(door));
    expect(again.updates.map(({ ref }) => ref)).toEqual(["refs/heads/main", "refs/notes/x"]);
    expect(await namedRefs(repo)).toEqual(await fetchedRefs(remote));
    expect(await readAllObjects(repo)).toBe((await remote.objects()).length);
    expect(await eventsOf(repo)).toMatchObject([
      { type: "repository.pushed", payload: { isMirror: true, refCount: 2 } },
    ]);
  });

  it("asks twice and writes nothing if nothing is new", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    await syncFrom(repo, remote.url());
    const before = [await filesOf(repo), await refsOf(repo), await rowOf(repo)];
    await remote.journal();
    const idle = await syncFrom(repo, remote.url());
    expect(idle).toMatchObject({ updates: [], requestCount: 2, packBytes: 0 });
    expect((await remote.journal()).length).toBe(2);
    expect([await filesOf(repo), await refsOf(repo), await rowOf(repo)]).toEqual(before);
  });

  it("fetches of one new commit what git fetches", async () => {
    const remote = await makeFilled(400);
    const { repo } = await makeMirror();
    await syncFrom(repo, remote.url());
    const before = await remote.objects();
    await remote.git(["fast-import", "--quiet"], commitsOn("main", 1, 400, "refs/heads/main^0"));
    const added = (await remote.objects()).length - before.length;
    const packs = new Set((await filesOf(repo)).filter((key) => key.endsWith(".idx")));
    const fetched = await syncFrom(repo, remote.url());
    expect(fetched.requestCount).toBe(3);
    const added2 = (await filesOf(repo)).filter((key) => key.endsWith(".idx") && !packs.has(key));
    expect(added2).toHaveLength(1);
    // The commit, its root, the directory and the file.
    expect(added).toBe(4);
    expect(fetched.packBytes).toBeLessThan(3000);
  });

  it("moves HEAD to the remote's default branch, and deletes the one it was", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    await syncFrom(repo, remote.url());
    await remote.git(["branch", "-m", "main", "trunk"]);
    const moved = await syncFrom(repo, remote.url());
    expect(moved).toMatchObject({ head: "refs/heads/trunk", skipped: [] });
    expect(await rowOf(repo)).toMatchObject({ defaultBranch: "trunk" });
    expect(Object.keys(await namedRefs(repo))).not.toContain("refs/heads/main");

    // Also where no ref changes.
    await remote.git(["branch", "other", "trunk~1"]);
    await syncFrom(repo, remote.url());
    await remote.git(["symbolic-ref", "HEAD", "refs/heads/other"]);
    expect(await syncFrom(repo, remote.url())).toMatchObject({
      head: "refs/heads/other",
      updates: [],
    });
    expect(await rowOf(repo)).toMatchObject({ defaultBranch: "other" });
  });

  it("follows rewritten history, names that become directories, and an emptied remote", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    await remote.git(["branch", "topic", "main"]);
    await syncFrom(repo, remote.url());
    await remote.git(["update-ref", "refs/heads/main", "main~3"]);
    await remote.git(["branch", "-D", "topic"]);
    await remote.git(["branch", "topic/one", "main"]);
    const fetched = await syncFrom(repo, remote.url());
    expect(fetched.skipped).toEqual([]);
    expect(await namedRefs(repo)).toEqual(await fetchedRefs(remote));
    for (const ref of Object.keys(await remote.refs())) {
      await remote.git(["update-ref", "-d", ref]);
    }
    expect(await syncFrom(repo, remote.url())).toMatchObject({ head: undefined, skipped: [] });
    expect(await namedRefs(repo)).toEqual({});
    expect(await rowOf(repo)).toMatchObject({ isEmpty: true });
  });

  it("keeps refs without prune, and those of pull requests always", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    const own = makeCommit("own");
    await storePush(repo, "refs/pull/7/head", own.oid, own.pack);
    const other = makeCommit("other");
    await storePush(repo, "refs/heads/mine", other.oid, other.pack);
    await syncFrom(repo, remote.url(), { prune: false });
    expect(await namedRefs(repo)).toEqual({
      ...(await fetchedRefs(remote)),
      "refs/heads/mine": other.oid,
      "refs/pull/7/head": own.oid,
    });
    await syncFrom(repo, remote.url());
    expect(await namedRefs(repo)).toEqual({
      ...(await fetchedRefs(remote)),
      "refs/pull/7/head": own.oid,
    });
  });

  it("takes refs over under other names, and leaves others out", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    const refs = (name: ByteText): ByteText | undefined => {
      if (name === "refs/pull/1/head") return "refs/pull/31/head" as ByteText;
      return name.startsWith("refs/heads/") ? name : undefined;
    };
    await syncFrom(repo, remote.url(), { isFirst: true, refs });
    const { "refs/heads/main": main, "refs/pull/1/head": pull } = await remote.refs();
    expect(await namedRefs(repo)).toEqual({ "refs/heads/main": main, "refs/pull/31/head": pull });
  });

  it("skips names that no ref may have here, and takes over all others", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    const hex = `refs/heads/${"a".repeat(40)}`;
    await remote.git(["update-ref", hex, "main"]);
    await remote.git(["update-ref", "refs/heads/HEAD", "main"]);
    const { skipped } = await syncFrom(repo, remote.url());
    expect(skipped).toEqual([
      { ref: "refs/heads/HEAD", reason: "a branch can't be called HEAD" },
      { ref: hex, reason: "a name of 40 or 64 hex digits is reserved for object ids" },
    ]);
    const { "refs/heads/HEAD": _head, [hex]: _hex, ...fetched } = await fetchedRefs(remote);
    expect(await namedRefs(repo)).toEqual(fetched);
  });

  it("does not rely on objects that are stored and that no ref reaches", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    await syncFrom(repo, remote.url());
    const { "refs/heads/main": main } = await remote.refs();
    await remote.git(["update-ref", "refs/heads/main", "main~3"]);
    await remote.git(["update-ref", "-d", "refs/tags/v1"]);
    await syncFrom(repo, remote.url());
    await remote.git(["update-ref", "refs/heads/main", main ?? ""]);
    const back = await syncFrom(repo, remote.url());
    expect(back.packBytes).toBeGreaterThan(0);
    expect(await namedRefs(repo)).toEqual(await fetchedRefs(remote));
    expect(await readAllObjects(repo)).toBeGreaterThan(0);
  });

  it("refuses a pack whose objects are too large together, and stores nothing", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    const settings = { GIT_PACK_MAX_INFLATED_BYTES: "1024" };
    expect(await failureOf(syncFrom(repo, remote.url(), {}, { settings }))).toMatchObject({
      kind: "too_large",
      message: expect.stringContaining("more than 1024 bytes together"),
    });
    expect([await refsOf(repo), await filesOf(repo)]).toEqual([[], []]);
    await syncFrom(repo, remote.url());
    expect(await namedRefs(repo)).toEqual(await fetchedRefs(remote));
  });

  it("shows its updates in the feed as a mirror's", async () => {
    const remote = await makeFilled();
    const { owner, repo } = await makeMirror();
    await syncFrom(repo, remote.url());
    await remote.git(["fast-import", "--quiet"], commitsOn("main", 1, 5, "refs/heads/main^0"));
    await remote.git(["tag", "-d", "v1"]);
    await syncFrom(repo, remote.url());
    const { body } = await call("GET", `/repos/${repo.owner}/${repo.name}/activities/feeds`, {
      as: owner,
    });
    const feed = body as { op_type: string; ref_name: string; content: string }[];
    expect(feed.map((each) => [each.op_type, each.ref_name])).toEqual([
      ["mirror_sync_push", "refs/heads/main"],
      ["mirror_sync_delete", "refs/tags/v1"],
      ["mirror_sync_create", "refs/heads/main"],
      ["mirror_sync_create", "refs/tags/v1"],
    ]);
    expect(JSON.parse(feed[0]?.content ?? "")).toMatchObject({ Len: 1 });
    expect(feed[1]?.content).toBe("");
  });
});

describe("the address of a remote", () => {
  const withCredentials = (url: string, credentials: string): string =>
    url.replace("//", `//${credentials}@`);
  const SECRET = "user:s3cret,%20p%C3%BCre";

  it("may need credentials, which follow no redirect to another host", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    const failure = await failureOf(syncFrom(repo, remote.url("auth")));
    expect(failure).toMatchObject({ kind: "unauthorized" });
    expect(await namedRefs(repo)).toEqual({});
    await syncFrom(repo, withCredentials(remote.url("auth"), SECRET));
    expect(await namedRefs(repo)).toEqual(await fetchedRefs(remote));

    const { repo: other } = await makeMirror();
    await remote.journal();
    await syncFrom(other, withCredentials(remote.url("moved"), SECRET));
    expect(await namedRefs(other)).toEqual(await fetchedRefs(remote));
    const moved = await remote.journal();
    // Only the first request is redirected: the others go where it ended.
    expect(moved.map(({ path }) => path.split("/")[1])).toEqual(["moved", "auth", "auth", "auth"]);

    const { repo: third } = await makeMirror();
    await syncFrom(third, withCredentials(remote.url("away"), SECRET));
    const away = await remote.journal();
    expect(away.map(({ headers }) => headers["authorization"] !== undefined)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(await namedRefs(third)).toEqual(await fetchedRefs(remote));
  });

  it("never shows its credentials, also if the remote repeats them", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    const url = withCredentials(remote.url("auth"), "user:wr%C3%B6ng-secret");
    const failure = await failureOf(syncFrom(repo, url));
    expect(failure.kind).toBe("unauthorized");
    expect(failure.message).toContain("no such user: ***");
    const basic = Buffer.from("user:wröng-secret").toString("base64");
    for (const secret of ["wröng-secret", basic]) expect(failure.message).not.toContain(secret);
  });

  it("must lead to a repository", async () => {
    const remote = await makeFilled();
    const { repo } = await makeMirror();
    const kinds = [
      ["not_found", remote.url().replace(/remote-/, "absent-")],
      ["protocol", remote.url("elsewhere")],
      ["blocked", "http://10.0.0.1/a.git"],
      ["unreachable", "http://127.0.0.1:21399/a.git"],
    ] as const;
    for (const [kind, url] of kinds) {
      expect(await failureOf(syncFrom(repo, url)), url).toMatchObject({ kind });
    }
    expect(await refsOf(repo)).toEqual([]);
  });
});
