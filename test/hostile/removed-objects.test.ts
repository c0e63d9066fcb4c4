import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import { UPLOAD_LIFE_MS } from "../../src/storage/retention.ts";
import type { RepositoryLocation } from "../../src/storage/repository-records.ts";
import { answer, call, visit } from "../support/call.ts";
import {
  craft,
  craftCommit,
  craftDelta,
  craftPack,
  craftTag,
  craftTree,
} from "../support/crafted-pack.ts";
import { placeOf } from "../support/git.ts";
import { freshName, make, type TestUser } from "../support/make.ts";
import { filesOf, makeEmptyPack, pushCommands, pushRequest, refsOf } from "../support/push.ts";
import { sampleOf } from "../support/sample.ts";

const MAIN = "refs/heads/main";
const SECRET = "the password is swordfish";

/**
 * The objects of the repositories below; fresh for each test, since ids are compared with unknown
 * ones.
 */
function makeObjects() {
  const word = freshName("word");
  const base = craft("blob", `hello ${word}\n`);
  const baseTree = craftTree([["100644", "file", base.oid]]);
  const start = craftCommit(baseTree.oid, [], `start ${word}`);
  const secret = craft("blob", `${SECRET} ${word}`);
  const folder = craftTree([["100644", "secret", secret.oid]]);
  const secretTree = craftTree([
    ["100644", "file", base.oid],
    ["40000", "folder", folder.oid],
  ]);
  const leak = craftCommit(secretTree.oid, [start.oid], `leak ${word}`);
  const unknown = craft("blob", `unknown ${word}`).oid;
  return { base, baseTree, start, secret, folder, secretTree, leak, unknown };
}
type Objects = ReturnType<typeof makeObjects>;

/** A repository whose main branch was forced back from the commit `leak` to its parent `start`. */
async function makeRemoved(fields: { isPrivate?: boolean } = {}) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const objects = makeObjects();
  const { base, baseTree, start, secret, folder, secretTree, leak } = objects;
  const pack = craftPack([base, baseTree, start, secret, folder, secretTree, leak]);
  const pushed = await pushCommands(owner, repo, [{ ref: MAIN, new: leak.oid }], { pack });
  const removed = await pushCommands(owner, repo, [{ ref: MAIN, old: leak.oid, new: start.oid }], {
    pack: makeEmptyPack(),
  });
  expect([pushed.body, removed.body].join()).not.toContain("ng ");
  return { owner, repo, objects };
}

interface Target extends RepositoryLocation {
  owner: string;
  name: string;
}

/** A fork by another user, who may push to it. */
async function fork(repo: { owner: string; name: string }, as: TestUser): Promise<Target> {
  const { status, body } = await call("POST", `/repos/${repo.owner}/${repo.name}/forks`, {
    as,
    json: {},
  });
  expect(status).toBe(202);
  return { owner: as.name, name: body.name, ...(await placeOf(body.id)) };
}

/** A push that refers to an object, and the error for a missing object. */
interface Attack {
  name: string;
  /** The removed object. */
  oid: (objects: Objects) => string;
  push: (oid: string, objects: Objects) => { ref: string; new: string; pack: Uint8Array };
}

/** Bytes that do not compress. */
function makeNoise(bytes: number): Uint8Array {
  const noise = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 60_000)
    crypto.getRandomValues(noise.subarray(at, at + 60_000));
  return noise;
}

const onCommit = (commit: ReturnType<typeof craft>, ...others: ReturnType<typeof craft>[]) => ({
  ref: "refs/heads/revived",
  new: commit.oid,
  pack: craftPack([...others, commit]),
});

const ATTACKS: Attack[] = [
  {
    name: "a branch on a removed commit, with an empty pack",
    oid: ({ leak }) => leak.oid,
    push: (oid) => ({ ref: "refs/heads/revived", new: oid, pack: makeEmptyPack() }),
  },
  {
    name: "a tag on a removed blob, with an empty pack",
    oid: ({ secret }) => secret.oid,
    push: (oid) => ({ ref: "refs/tags/revived", new: oid, pack: makeEmptyPack() }),
  },
  {
    name: "a note ref on a removed tree, with a pack of other objects",
    oid: ({ secretTree }) => secretTree.oid,
    push: (oid) => ({ ref: "refs/notes/revived", new: oid, pack: craftPack([craft("blob", "x")]) }),
  },
  {
    name: "a commit on a removed parent",
    oid: ({ leak }) => leak.oid,
    push: (oid, { baseTree }) => onCommit(craftCommit(baseTree.oid, [oid])),
  },
  {
    name: "a commit with a removed commit as second parent",
    oid: ({ leak }) => leak.oid,
    push: (oid, { baseTree, start }) => onCommit(craftCommit(baseTree.oid, [start.oid, oid])),
  },
  {
    name: "a commit of a removed tree",
    oid: ({ secretTree }) => secretTree.oid,
    push: (oid, { start }) => onCommit(craftCommit(oid, [start.oid])),
  },
  {
    name: "a tree with a removed folder",
    oid: ({ folder }) => folder.oid,
    push: (oid, { start }) => {
      const tree = craftTree([["40000", "folder", oid]]);
      return onCommit(craftCommit(tree.oid, [start.oid]), tree);
    },
  },
  {
    name: "a tree with a removed file",
    oid: ({ secret }) => secret.oid,
    push: (oid, { start }) => {
      const tree = craftTree([["100644", "file", oid]]);
      return onCommit(craftCommit(tree.oid, [start.oid]), tree);
    },
  },
  {
    name: "a tree with a removed file, in a commit before the last",
    oid: ({ secret }) => secret.oid,
    push: (oid, { baseTree, start }) => {
      const tree = craftTree([["100644", "file", oid]]);
      const first = craftCommit(tree.oid, [start.oid]);
      return onCommit(craftCommit(baseTree.oid, [first.oid]), tree, first);
    },
  },
  {
    name: "a tree with a removed folder that a later commit replaces",
    oid: ({ folder }) => folder.oid,
    push: (oid, { base }) => {
      const tree = craftTree([["40000", "folder", oid]]);
      const other = craftTree([["100644", "other", base.oid]]);
      const later = craftTree([["40000", "folder", other.oid]]);
      const first = craftCommit(tree.oid);
      return onCommit(craftCommit(later.oid, [first.oid]), other, later, tree, first);
    },
  },
  {
    name: "a tree with a removed file, which no commit of the pack has",
    oid: ({ secret }) => secret.oid,
    push: (oid, { start }) => ({
      ref: "refs/heads/revived",
      new: start.oid,
      pack: craftPack([craftTree([["100644", "file", oid]])]),
    }),
  },
  {
    name: "a removed file named as a folder",
    oid: ({ secret }) => secret.oid,
    push: (oid, { start }) => {
      const tree = craftTree([["40000", "file", oid]]);
      return onCommit(craftCommit(tree.oid, [start.oid]), tree);
    },
  },
  {
    name: "an annotated tag on a removed commit",
    oid: ({ leak }) => leak.oid,
    push: (oid) => {
      const tag = craftTag("commit", oid);
      return { ref: "refs/tags/v1", new: tag.oid, pack: craftPack([tag]) };
    },
  },
  {
    name: "an annotated tag on a removed blob",
    oid: ({ secret }) => secret.oid,
    push: (oid) => {
      const tag = craftTag("blob", oid);
      return { ref: "refs/tags/v1", new: tag.oid, pack: craftPack([tag]) };
    },
  },
  {
    name: "a delta on a removed blob",
    oid: ({ secret }) => secret.oid,
    push: (oid, { secret }) => {
      const length = secret.content.length;
      const text = new TextDecoder().decode(secret.content);
      const blob = craft("blob", `${text}!`);
      const tree = craftTree([["100644", "file", blob.oid]]);
      const commit = craftCommit(tree.oid);
      const pack = craftPack([tree, commit], [craftDelta(oid, length, "!")]);
      return { ref: "refs/heads/revived", new: commit.oid, pack };
    },
  },
  {
    name: "a delta that does not fit a removed blob",
    oid: ({ secret }) => secret.oid,
    push: (oid, { start }) => ({
      ref: "refs/heads/revived",
      new: start.oid,
      pack: craftPack([], [craftDelta(oid, 1, "!")]),
    }),
  },
];

// Ids are no secret: public events, feeds and RSS name them. In a fork anybody may push.
describe.each(ATTACKS)("a push of $name", ({ name, oid: oidOf, push }) => {
  it.each(
    sampleOf(
      [
        ["to a fork", "fork"],
        ["to the repository itself", "own"],
        ["to refs/for, as its readers may", "offer"],
      ],
      1,
      `${name}: ways`,
    ),
  )("%s is refused in the words of an id that never existed", async (_, way) => {
    const { owner, repo, objects } = await makeRemoved();
    const as = way === "own" ? owner : await make.user();
    const target: Target = way === "fork" ? await fork(repo, as) : repo;
    const files = await filesOf(target);
    const refs = await refsOf(target);

    const attempt = async (oid: string): Promise<string> => {
      const { pack, ...own } = push(oid, objects);
      const command = way === "offer" ? { ...own, ref: "refs/for/main/revived" } : own;
      // Sideband, so that progress messages are compared too.
      const capabilities = "side-band-64k";
      const { status, body } = await pushCommands(as, target, [command], { pack, capabilities });
      expect(status).toBe(200);
      // Ids of objects that the push itself brings contain the id in question.
      return String(body).replaceAll(oid, "the object");
    };
    const answered = await attempt(oidOf(objects));
    expect(answered).toMatch(/ng refs\/\S+ (?:missing necessary objects|unpacker error)/);
    expect(answered).toEqual(await attempt(objects.unknown));
    expect(await refsOf(target)).toEqual(refs);
    await vi.waitFor(async () => expect(await filesOf(target)).toEqual(files));
  });
});

it("names the same of two missing objects, whether one is stored or not", async () => {
  const { repo, objects } = await makeRemoved();
  const as = await make.user();
  const target = await fork(repo, as);
  const { start, secret, folder } = objects;
  const attempt = async (file: string, directory: string, isFirst: boolean): Promise<string> => {
    const unknown = "1".repeat(40);
    const tree = craftTree(
      [
        ["40000", "b", directory],
        ["100644", isFirst ? "c" : "zz", file],
        ["100644", "z", unknown],
      ].toSorted(([, a = ""], [, b = ""]) => (a < b ? -1 : 1)) as [string, string, string][],
    );
    const commit = craftCommit(tree.oid, [start.oid]);
    const pack = craftPack([tree, commit]);
    const { body } = await pushCommands(as, target, [{ ref: MAIN, new: commit.oid }], { pack });
    return String(body).replaceAll(file, "file").replaceAll(directory, "directory");
  };
  for (const isFirst of [true, false]) {
    const answered = await attempt(secret.oid, folder.oid, isFirst);
    expect(answered).toContain("is missing");
    expect(answered).toEqual(await attempt("2".repeat(40), "3".repeat(40), isFirst));
  }
});

// The limits of the check must not show what is stored either.
it("reveals nothing by a tag on trees that are nested too deep to be read", async () => {
  const { repo, objects } = await makeRemoved();
  const as = await make.user();
  const target = await fork(repo, as);
  const trees = [craftTree([["100644", "file", objects.base.oid]])];
  while (trees.length < 2200) trees.push(craftTree([["40000", "a", trees.at(-1)?.oid ?? ""]]));
  const tag = craftTag("tree", trees.at(-1)?.oid ?? "", "deep");
  const command = { ref: "refs/tags/deep", new: tag.oid };
  const tagged = await pushCommands(as, target, [command], { pack: craftPack([...trees, tag]) });
  expect(tagged.body).toContain("ok refs/tags/deep");
  const attempt = async (oid: string): Promise<string> => {
    const tree = craftTree([["100644", "file", oid]]);
    const commit = craftCommit(tree.oid, [objects.start.oid]);
    const pack = craftPack([tree, commit]);
    const { body } = await pushCommands(as, target, [{ ref: MAIN, new: commit.oid }], { pack });
    return String(body).replaceAll(oid, "the object");
  };
  const answered = await attempt(objects.secret.oid);
  expect(answered).toContain("is missing");
  expect(answered).toEqual(await attempt(objects.unknown));
});

it("accepts a removed object from somebody who has it", async () => {
  const { repo, objects } = await makeRemoved();
  const as = await make.user();
  const target = await fork(repo, as);
  const { secret, start } = objects;
  const tree = craftTree([["100644", "again", secret.oid]]);
  const commit = craftCommit(tree.oid, [start.oid]);
  const pack = craftPack([secret, tree, commit]);
  const { body } = await pushCommands(as, target, [{ ref: "refs/heads/again", new: commit.oid }], {
    pack,
  });
  expect(body).toContain("ok refs/heads/again");
  const path = `/${target.owner}/${target.name}/raw/branch/again/again`;
  expect(
    (await visit("GET", `/api/v1/repos${path.replace("/raw/branch/again", "/raw")}?ref=again`))
      .body,
  ).toContain(SECRET);
});

describe("a fork", () => {
  it("does not serve what was removed from its parent, nor what the parent reaches by other refs", async () => {
    const { owner, repo, objects } = await makeRemoved();
    const as = await make.user();
    const target = await fork(repo, as);
    // A branch of the parent that is younger than the fork.
    const later = craftCommit(objects.baseTree.oid, [objects.start.oid], "later");
    const pushed = await pushCommands(owner, repo, [{ ref: "refs/heads/later", new: later.oid }], {
      pack: craftPack([later]),
    });
    expect(pushed.body).toContain("ok ");
    for (const oid of [objects.leak.oid, later.oid]) {
      const { status } = await call(
        "GET",
        `/repos/${target.owner}/${target.name}/git/commits/${oid}`,
        {
          as,
        },
      );
      expect(status).toBe(404);
      const { body } = await pushCommands(as, target, [{ ref: "refs/heads/x", new: oid }], {
        pack: makeEmptyPack(),
      });
      expect(body).toContain("ng refs/heads/x missing necessary objects");
    }
    expect((await refsOf(target)).map(({ name }) => name)).toEqual([MAIN]);
  });

  it("does not have what only hidden refs of its parent reach, as the parent does", async () => {
    const { owner, repo, objects } = await makeRemoved();
    const ref = "refs/pull/1/head";
    await env.REPOSITORY.getByName(repo.objectName).commitPush(repo, {
      id: crypto.randomUUID(),
      actorId: owner.id,
      isConfined: false,
      at: Date.now(),
      rootUrl: "",
      visibility: { visibility: "public", isPrivate: false },
      uploadId: null,
      packs: [],
      updates: [{ ref, oldOid: null, newOid: objects.leak.oid, peeledOid: null }],
      requiredRefs: [],
      isAtomic: true,
      defaultBranch: "main",
    });
    const as = await make.user();
    const target = await fork(repo, as);
    const command = { ref: "refs/heads/x", new: objects.leak.oid };
    const pack = makeEmptyPack();
    const inFork = await pushCommands(as, target, [command], { pack });
    expect(inFork.body).toContain("ng refs/heads/x missing necessary objects");
    const inParent = await pushCommands(owner, repo, [command], { pack });
    expect(inParent.body).toContain("ok refs/heads/x");
  });

  // The fork had the commit when the parent removed it, and goes on having it.
  it("keeps what its own refs reach after its parent removed it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { base, baseTree, start, secret, folder, secretTree, leak } = makeObjects();
    const pack = craftPack([base, baseTree, start, secret, folder, secretTree, leak]);
    await pushCommands(owner, repo, [{ ref: MAIN, new: leak.oid }], { pack });
    const as = await make.user();
    const target = await fork(repo, as);
    const command = { ref: MAIN, old: leak.oid, new: start.oid };
    await pushCommands(owner, repo, [command], { pack: makeEmptyPack() });

    const topic = { ref: "refs/heads/topic", new: leak.oid };
    const inFork = await pushCommands(as, target, [topic], { pack: makeEmptyPack() });
    expect(inFork.body).toContain("ok refs/heads/topic");
    const inParent = await pushCommands(owner, repo, [topic], { pack: makeEmptyPack() });
    expect(inParent.body).toContain("ng refs/heads/topic missing necessary objects");
  });

  it("does not revive what its parent removed while it was private", async () => {
    const { owner, repo, objects } = await makeRemoved({ isPrivate: true });
    const path = `/repos/${repo.owner}/${repo.name}`;
    expect((await call("PATCH", path, { as: owner, json: { private: false } })).status).toBe(200);
    const as = await make.user();
    const target = await fork(repo, as);
    const command = { ref: "refs/heads/x", new: objects.leak.oid };
    const { body } = await pushCommands(as, target, [command], { pack: makeEmptyPack() });
    expect(body).toContain("ng refs/heads/x missing necessary objects");
    expect(await refsOf(target)).toHaveLength(1);
  });
});

describe("an API request that names a removed object", () => {
  const change = (repo: Target) => `/repos/${repo.owner}/${repo.name}`;
  const REQUESTS: [string, (path: string, oid: string) => [string, string, unknown]][] = [
    [
      "creates no branch",
      (path, oid) => ["POST", `${path}/branches`, { new_branch_name: "x", old_ref_name: oid }],
    ],
    [
      "moves no branch",
      (path, oid) => ["PUT", `${path}/branches/main`, { new_commit_id: oid, force: true }],
    ],
    ["creates no tag", (path, oid) => ["POST", `${path}/tags`, { tag_name: "x", target: oid }]],
    [
      "creates no annotated tag",
      (path, oid) => ["POST", `${path}/tags`, { tag_name: "x", message: "m", target: oid }],
    ],
    ["writes no status", (path, oid) => ["POST", `${path}/statuses/${oid}`, { state: "success" }]],
    ["writes no note", (path, oid) => ["POST", `${path}/git/notes/${oid}`, { message: "m" }]],
    [
      "commits to no such branch",
      (path, oid) => ["POST", `${path}/contents/x`, { content: "", branch: oid }],
    ],
    [
      "publishes no release",
      (path, oid) => ["POST", `${path}/releases`, { tag_name: "x", target_commitish: oid }],
    ],
    [
      "generates no notes of a release",
      (path, oid) => [
        "POST",
        `${path}/releases/generate-notes`,
        { tag_name: "x", target_commitish: oid },
      ],
    ],
    [
      "opens no pull request",
      (path, oid) => ["POST", `${path}/pulls`, { title: "x", head: oid, base: "main" }],
    ],
    ["lists no commits", (path, oid) => ["GET", `${path}/commits?sha=${oid}`, undefined]],
    ["shows no differences", (path, oid) => ["GET", `${path}/git/commits/${oid}.diff`, undefined]],
    ["compares with nothing", (path, oid) => ["GET", `${path}/compare/main...${oid}`, undefined]],
    ["reads no archive", (path, oid) => ["GET", `${path}/archive/${oid}.zip`, undefined]],
    ["reads no tree", (path, oid) => ["GET", `${path}/git/trees/${oid}`, undefined]],
    ["reads no file", (path, oid) => ["GET", `${path}/raw/folder/secret?ref=${oid}`, undefined]],
  ];
  it.each(sampleOf(REQUESTS, 6, "requests that name a removed object"))(
    "%s",
    async (_, request) => {
      const { repo, objects } = await makeRemoved();
      const as = await make.user();
      const target = await fork(repo, as);
      const withReleases = { as, json: { has_releases: true } };
      expect((await call("PATCH", change(target), withReleases)).status).toBe(200);
      const refs = await refsOf(target);
      const attempt = async (oid: string) => {
        const [method, path, json] = request(change(target), oid);
        const { status, body } = await call(method, path, { as, json });
        return { status, body: JSON.stringify(body).replaceAll(oid, "the object") };
      };
      const answered = await attempt(objects.leak.oid);
      expect([400, 404, 409, 422]).toContain(answered.status);
      expect(answered).toEqual(await attempt(objects.unknown));
      expect(await refsOf(target)).toEqual(refs);
    },
  );

  it.each(["secret", "folder", "secretTree"] as const)("reads no blob (%s)", async (name) => {
    const { repo, objects } = await makeRemoved();
    const as = await make.user();
    const target = await fork(repo, as);
    const read = (oid: string) => call("GET", `${change(target)}/git/blobs/${oid}`, { as });
    const { status, body } = await read(objects[name].oid);
    const unknown = await read(objects.unknown);
    expect([status, body]).toEqual([unknown.status, unknown.body]);
    expect([status, body.message]).toEqual([400, "sha not found"]);
  });
});

describe("a fetch", () => {
  const pkt = (line: string): string => `${(line.length + 4).toString(16).padStart(4, "0")}${line}`;

  it("acknowledges no removed object, and sends no delta on one", async () => {
    const { repo, objects } = await makeRemoved();
    const attempt = async (oid: string) => {
      const args = ["thin-pack", "no-progress", `want ${objects.start.oid}`, `have ${oid}`];
      const { status, body } = await visit("POST", `/${repo.owner}/${repo.name}/git-upload-pack`, {
        headers: {
          "Content-Type": "application/x-git-upload-pack-request",
          "Git-Protocol": "version=2",
        },
        body: `${pkt("command=fetch\n")}0001${args.map((arg) => pkt(`${arg}\n`)).join("")}0000`,
      });
      return [status, body];
    };
    expect(await attempt(objects.leak.oid)).toEqual(await attempt(objects.unknown));
    expect(await attempt(objects.start.oid)).toEqual([200, expect.stringContaining("ACK")]);
  });
});

describe("a push during which the ref that it builds on", () => {
  const FIRST_BYTES = 300_000;

  /** Pushes a branch on a commit of `topic`; `meanwhile` runs when the pack is on its way. */
  async function race(meanwhile: (state: Awaited<ReturnType<typeof start>>) => Promise<unknown>) {
    const state = await start();
    const { owner, repo, objects, topic } = state;
    const commit = craftCommit(objects.baseTree.oid, [topic.oid], "late");
    // More than the service reads before it looks at the commands.
    const noise = craft("blob", makeNoise(FIRST_BYTES));
    const pack = craftPack([noise, commit]);
    const request = pushRequest(owner, repo, commit.oid, pack, "refs/heads/late");
    const whole = new Uint8Array(await request.arrayBuffer());
    const body = new ReadableStream({
      type: "bytes",
      start: (controller) => controller.enqueue(whole.slice(0, FIRST_BYTES)),
      async pull(controller) {
        await begun(repo);
        await meanwhile(state);
        controller.enqueue(whole.slice(FIRST_BYTES));
        controller.close();
      },
    });
    const { url, headers } = request;
    const response = await answer(new Request(url, { method: "POST", headers, body }));
    return { ...state, commit, body: new TextDecoder().decode(await response.arrayBuffer()) };
  }

  /** Waits until the repository has noted an upload, and so has given its refs. */
  const begun = (repo: Target): Promise<void> =>
    vi.waitFor(async () => {
      const object = env.REPOSITORY.getByName(repo.objectName);
      const { uploadIds } = await object.listWork(Date.now() + 2 * UPLOAD_LIFE_MS);
      expect(uploadIds).toHaveLength(1);
    });

  async function start() {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const objects = makeObjects();
    const { base, baseTree, start: first } = objects;
    const topic = craftCommit(baseTree.oid, [first.oid], "topic");
    const pack = craftPack([base, baseTree, first, topic]);
    const commands = [
      { ref: MAIN, new: first.oid },
      { ref: "refs/heads/topic", new: topic.oid },
    ];
    expect((await pushCommands(owner, repo, commands, { pack })).body).not.toContain("ng ");
    return { owner, repo, objects, topic };
  }

  it("is deleted keeps nothing of it", async () => {
    const { repo, body } = await race(({ owner, repo: { owner: name, name: repoName } }) =>
      call("DELETE", `/repos/${name}/${repoName}/branches/topic`, { as: owner }),
    );
    expect(body).toContain("ng refs/heads/late a ref that the push builds on has changed");
    expect((await refsOf(repo)).map(({ name }) => name)).toEqual([MAIN]);
    await vi.waitFor(async () => expect(await filesOf(repo)).toHaveLength(3));
  });

  it("is moved forward is not disturbed", async () => {
    const { repo, commit, body } = await race(async ({ owner, repo: target, objects, topic }) => {
      const next = craftCommit(objects.baseTree.oid, [topic.oid], "next");
      const command = { ref: "refs/heads/topic", old: topic.oid, new: next.oid };
      return pushCommands(owner, target, [command], { pack: craftPack([next]) });
    });
    expect(body).toContain("ok refs/heads/late");
    expect(await refsOf(repo)).toContainEqual(expect.objectContaining({ oid: commit.oid }));
  });
});
