import { describe, expect, it } from "vitest";

import type { ByteText } from "../../../../src/git/byte-text.ts";
import { formatBase64 } from "../../../../src/lib/base64.ts";
import { makeMirror, namedRefs, pushTo, syncFrom } from "../../../support/mirrors.ts";
import { makeCommit, storePush } from "../../../support/push.ts";
import { commitsOn, type GitRemote, makeRemote } from "../../../support/remotes.ts";

/** A repository here with branches and tags, and the remote from which it has them. */
async function makeSource(count = 5) {
  const source = await makeRemote();
  await source.git(["fast-import", "--quiet"], commitsOn("main", count));
  await source.git(["fast-import", "--quiet"], commitsOn("topic", 2, 10, "refs/heads/main^0"));
  await source.git(["tag", "-a", "-m", "one", "v1", "main~1"]);
  await source.git(["tag", "-a", "-m", "of a tag", "v1-again", "v1"]);
  await source.git(["tag", "blob", "main:dir0/file-0.txt"]);
  const { repo } = await makeMirror();
  await syncFrom(repo, source.url());
  return { source, repo };
}

const fsck = (remote: GitRemote) => remote.git(["fsck", "--strict", "--no-dangling"]);

describe("pushRemote", () => {
  it.each(["git", "v1", "v0"])("makes refs and objects of a remote equal, by %s", async (door) => {
    const { source, repo } = await makeSource();
    const remote = await makeRemote();
    const pushed = await pushTo(repo, remote.url(door));
    expect(pushed).toMatchObject({ refused: [], requestCount: 2 });
    expect(await remote.refs()).toEqual(await source.refs());
    expect(await remote.objects()).toEqual(await source.objects());
    await fsck(remote);

    await remote.journal();
    const idle = await pushTo(repo, remote.url(door));
    expect(idle).toMatchObject({ results: [], packBytes: 0, requestCount: 1 });
    expect(await remote.journal()).toHaveLength(1);
  });

  it("sends of one commit what the remote lacks, forces, and deletes", async () => {
    const { source, repo } = await makeSource(300);
    const remote = await makeRemote();
    await pushTo(repo, remote.url());
    await source.git(["fast-import", "--quiet"], commitsOn("main", 1, 400, "refs/heads/main^0"));
    await syncFrom(repo, source.url());
    expect((await pushTo(repo, remote.url())).packBytes).toBeLessThan(3000);
    expect(await remote.refs()).toEqual(await source.refs());

    await source.git(["update-ref", "refs/heads/main", "main~10"]);
    await source.git(["branch", "-D", "topic"]);
    await source.git(["tag", "-d", "v1"]);
    // A name that becomes a directory, which git can't do in one transaction.
    await source.git(["branch", "topic/one", "main"]);
    await syncFrom(repo, source.url());
    const pushed = await pushTo(repo, remote.url());
    expect(pushed.refused).toEqual([]);
    expect(pushed.results.map(({ ref }) => ref)).toEqual([
      "refs/heads/topic",
      "refs/tags/v1",
      "refs/heads/main",
      "refs/heads/topic/one",
    ]);
    expect(await remote.refs()).toEqual(await source.refs());
    await fsck(remote);
  });

  it("streams a push that is too large to be held", async () => {
    const source = await makeRemote();
    let stream = "";
    for (let at = 0; at < 24; at++) {
      const content = formatBase64(crypto.getRandomValues(new Uint8Array(65_000)));
      stream += `commit refs/heads/main\ncommitter C <c@x> ${1_700_000_000 + at} +0000\ndata 1\nx\n`;
      stream += `M 100644 inline f${at}\ndata ${content.length}\n${content}\n`;
    }
    await source.git(["fast-import", "--quiet"], stream);
    const { repo } = await makeMirror();
    await syncFrom(repo, source.url());
    const remote = await makeRemote();
    const pushed = await pushTo(repo, remote.url());
    expect(pushed.packBytes).toBeGreaterThan(1024 * 1024);
    const [, sent] = await remote.journal();
    expect(sent?.headers).toMatchObject({ "transfer-encoding": "chunked" });
    expect(await remote.objects()).toEqual(await source.objects());
    await fsck(remote);
  });

  it("leaves refs of pull requests and what is not chosen alone, and deletes nothing without prune", async () => {
    const { repo } = await makeSource();
    const own = makeCommit("own");
    await storePush(repo, "refs/pull/7/head", own.oid, own.pack);
    const remote = await makeRemote();
    await remote.git(["fast-import", "--quiet"], commitsOn("theirs", 1));
    const theirs = await remote.git(["rev-parse", "theirs"]);
    await remote.git(["update-ref", "refs/notes/x", theirs]);
    const refs = (name: ByteText) => name.startsWith("refs/heads/");
    await pushTo(repo, remote.url(), { prune: false, refs });
    const branches = Object.entries(await namedRefs(repo)).filter(([name]) =>
      name.startsWith("refs/heads/"),
    );
    expect(await remote.refs()).toEqual({
      ...Object.fromEntries(branches),
      "refs/heads/theirs": theirs,
      "refs/notes/x": theirs,
    });
    await pushTo(repo, remote.url());
    const { "refs/pull/7/head": _, ...pushed } = await namedRefs(repo);
    expect(await remote.refs()).toEqual({ ...pushed, "refs/notes/x": theirs });
  });

  it("keeps what the remote refuses from keeping back all else, and says why", async () => {
    const { source, repo } = await makeSource();
    const remote = await makeRemote();
    await pushTo(repo, remote.url());
    await remote.git(["config", "receive.denyDeletes", "true"]);
    await source.git(["branch", "-D", "topic"]);
    await source.git(["fast-import", "--quiet"], commitsOn("main", 1, 5, "refs/heads/main^0"));
    await syncFrom(repo, source.url());
    const before = await remote.refs();
    const pushed = await pushTo(repo, remote.url());
    expect(pushed.refused).toEqual([
      { kind: "refused", ref: "refs/heads/topic", reason: "deletion prohibited" },
    ]);
    expect(await remote.refs()).toEqual({
      ...(await source.refs()),
      "refs/heads/topic": before["refs/heads/topic"],
    });
  });

  it("overwrites no value that it has not seen", async () => {
    const { source, repo } = await makeSource();
    const remote = await makeRemote();
    await pushTo(repo, remote.url());
    await source.git(["update-ref", "refs/heads/main", "main~2"]);
    await syncFrom(repo, source.url());
    // A hook that moves the ref between the list and the push would race; an advertisement that is
    // old does not.
    const old = await remote.refs();
    await remote.git(["update-ref", "refs/heads/main", "topic"]);
    const moved = await remote.refs();
    expect(moved).not.toEqual(old);
    const pushed = await pushTo(repo, remote.url("stale"));
    expect(pushed.refused.map(({ ref }) => ref)).toContain("refs/heads/main");
    expect(await remote.refs()).toEqual(moved);
  });
});
