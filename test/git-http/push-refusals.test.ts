import { describe, expect, it, vi } from "vitest";

import { visit as ask } from "../support/call.ts";
import { git, placeOf } from "../support/git.ts";
import { make } from "../support/make.ts";
import {
  filesOf,
  makeCommit,
  makeEmptyPack,
  NULL,
  push,
  pushCommands,
  refsOf,
} from "../support/push.ts";
import { doorsWith } from "../support/service.ts";

const main = "refs/heads/main";

/** Text that compresses poorly. */
const noise = (count: number): string =>
  Array.from({ length: count }, (_, at) => (Math.sin(at + 1) * 1e9).toString(36)).join("");

describe("a push over a limit of the configuration", () => {
  it.each([
    ["bytes of a push", { PUSH_MAX_BYTES: "1024" }, /unpack a push may have 1024 bytes at most/],
    [
      "bytes of an object",
      { GIT_OBJECT_MAX_BYTES: "1024" },
      /an object of \d{5} bytes: one may have 1024 at most/,
    ],
    [
      "bytes of all objects",
      { GIT_PACK_MAX_INFLATED_BYTES: "1024" },
      /unpack the pack's objects have more than 1024 bytes together: a pack of its size may have no more/,
    ],
    [
      "bytes of the repository",
      { GIT_REPOSITORY_MAX_BYTES: "1024" },
      /ng refs.heads.main the repository may have 1024 bytes at most/,
    ],
  ])("in %s gets a message, and leaves no ref and no file", async (_, vars, message) => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit(noise(2000));
    const pushed = await pushCommands(owner, repo, [{ ref: main, new: oid }], {
      pack,
      visit: doorsWith(vars),
    });
    expect(pushed.status).toBe(200);
    expect(pushed.body).toMatch(message);
    expect(pushed.body).toContain(`ng ${main} `);
    expect(await refsOf(repo)).toEqual([]);
    await vi.waitFor(async () => expect(await filesOf(repo)).toEqual([]));
    expect((await push(owner, repo, oid, pack)).body).toContain(`ok ${main}`);
  });

  it("in refs updates none of them, with a pack or without", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("refs");
    const visit = doorsWith({ PUSH_MAX_REFS: "1" });
    const refs = ["refs/heads/a", "refs/heads/b"];
    const creations = refs.map((ref) => ({ ref, new: oid }));
    const pushed = await pushCommands(owner, repo, creations, { pack, visit });
    expect(pushed.body).toContain("unpack a push may name 1 refs at most");
    expect(pushed.body).toContain("ng refs/heads/b unpacker error");
    expect([await refsOf(repo), await filesOf(repo)]).toEqual([[], []]);

    await pushCommands(owner, repo, creations, { pack });
    const deletions = refs.map((ref) => ({ ref, old: oid }));
    expect((await pushCommands(owner, repo, deletions, { visit })).body).toContain("at most");
    expect(await refsOf(repo)).toHaveLength(2);
  });

  // Otherwise a full repository could neither be used nor emptied.
  it("in the repository's size still allows refs to stored objects, and deletions", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit(noise(1000));
    await push(owner, repo, oid, pack);
    const visit = doorsWith({ GIT_REPOSITORY_MAX_BYTES: String(pack.length) });
    const empty = makeEmptyPack();
    const topic = { ref: "refs/heads/topic", new: oid };
    const branched = await pushCommands(owner, repo, [topic], { pack: empty, visit });
    expect(branched.body).toContain("ok refs/heads/topic");
    const more = makeCommit("one more");
    const mixed = [
      { ref: "refs/heads/more", new: more.oid },
      { ref: topic.ref, old: oid },
    ];
    const { body } = await pushCommands(owner, repo, mixed, { pack: more.pack, visit });
    expect(body).toContain("ng refs/heads/more the repository may have");
    expect(body).toContain("ok refs/heads/topic");
    expect(await refsOf(repo)).toMatchObject([{ name: main }]);
  });
});

describe("a ref", () => {
  it.each([
    ["HEAD", "funny refname"],
    ["refs/heads/..", "funny refname"],
    ["refs/heads/../x", "funny refname"],
    ["refs/heads/x.lock", "funny refname"],
    ["refs/heads/.x", "funny refname"],
    ["refs/heads/a b", "funny refname"],
    ["refs/heads/a\x01", "funny refname"],
    ["refs/heads/a//b", "funny refname"],
    ["refs/heads/", "funny refname"],
    ["refs/", "funny refname"],
    ["heads/main", "funny refname"],
    ["/refs/heads/main", "funny refname"],
    ["objects/info/alternates", "funny refname"],
    ["refs/heads/HEAD", "a branch can't be called HEAD"],
    ["refs/pull/1/head", "hidden ref"],
    ["refs/for-review/main", "hidden ref"],
    [`refs/heads/${"x".repeat(990)}`, "the name is too long"],
  ])("called %s is refused, and the other refs of the push are not", async (ref, reason) => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("a name");
    const commands = [
      { ref, new: oid },
      { ref: main, new: oid },
    ];
    const { body } = await pushCommands(owner, repo, commands, { pack });
    expect(body).toContain(`ng ${ref} ${reason}`);
    expect(body).toContain(`ok ${main}`);
    expect(await refsOf(repo)).toMatchObject([{ name: main }]);
    const undone = await pushCommands(owner, repo, [{ ref, old: oid }]);
    expect(undone.body).toContain(`ng ${ref} ${reason}`);
  });

  it("is case-sensitive, and may have 1000 bytes", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("names");
    const refs = [main, "refs/heads/Main", `refs/heads/${"y".repeat(989)}`];
    const commands = refs.map((ref) => ({ ref, new: oid }));
    const { body } = await pushCommands(owner, repo, commands, { pack });
    for (const ref of refs) expect(body).toContain(`ok ${ref}`);
    expect(await refsOf(repo)).toHaveLength(3);
  });

  it("of a pull request can be fetched, and not be written by a push", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeCommit("pulled");
    await push(owner, repo, oid, pack);
    const ref = "refs/pull/1/head";
    await git.repository(await placeOf(repo.id)).commitPush({
      uploadId: null,
      id: crypto.randomUUID(),
      actorId: owner.id,
      isConfined: false,
      rootUrl: "",
      at: Date.now(),
      packs: [],
      updates: [{ ref, oldOid: null, newOid: oid, peeledOid: null }],
      requiredRefs: [],
      visibility: { visibility: "public", isPrivate: false },
      isAtomic: true,
      defaultBranch: "main",
    });
    const request = ["command=ls-refs", "0001", "ref-prefix refs/pull/", "0000"];
    const requestBody = request
      .map((line) =>
        line.startsWith("0") ? line : `${(line.length + 4).toString(16).padStart(4, "0")}${line}`,
      )
      .join("");
    const listed = await ask("POST", `/${repo.owner}/${repo.name}/git-upload-pack`, {
      headers: {
        "Content-Type": "application/x-git-upload-pack-request",
        "Git-Protocol": "version=2",
      },
      body: requestBody,
    });
    expect(listed.body).toContain(`${oid} ${ref}`);
    const other = makeCommit("other");
    for (const command of [
      { ref, old: oid, new: other.oid },
      { ref, old: oid },
    ]) {
      const { body: report } = await pushCommands(owner, repo, [command], {
        ...(command.new && { pack: other.pack }),
      });
      expect(report).toContain(`ng ${ref} hidden ref: only the service writes it`);
    }
    expect(await refsOf(repo)).toMatchObject([{ name: main }, { name: ref, oid }]);
  });

  it("to a missing object is refused, as is a branch to an object other than a commit", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, treeOid, pack } = makeCommit("targets");
    const commands = [
      { ref: main, new: oid },
      { ref: "refs/heads/tree", new: treeOid },
      { ref: "refs/tags/tree", new: treeOid },
      { ref: "refs/heads/nothing", new: "1".repeat(40) },
      { ref: "refs/heads/gone", old: oid },
    ];
    const { body } = await pushCommands(owner, repo, commands, { pack });
    expect(body).toContain("ng refs/heads/tree a branch must lead to a commit");
    expect(body).toContain("ok refs/tags/tree");
    expect(body).toContain("ng refs/heads/nothing missing necessary objects");
    expect(body).toContain("ng refs/heads/gone fetch first");
    const none = await pushCommands(owner, repo, [{ ref: main, old: NULL, new: NULL }]);
    expect(none.status).toBe(400);
  });
});
