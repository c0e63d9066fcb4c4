import { asc, eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { isPackageInReach } from "../../src/auth/access/credential-reach.ts";
import { ANONYMOUS } from "../../src/auth/actor.ts";
import { accessTokens, lfsLocks } from "../../src/db/schema/index.ts";
import { encodeText, encodeUtf8 } from "../../src/git/byte-text.ts";
import { formatTree, MODE_FILE, MODE_TREE } from "../../src/git/object/tree.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { only } from "../../src/lib/only.ts";
import { codec } from "../../src/storage/codec.ts";
import { type Answer, call } from "../support/call.ts";
import { History } from "../support/commits.ts";
import { db } from "../support/db.ts";
import { eventsOf } from "../support/events.ts";
import { askLfs, makeLargeFile } from "../support/large-files.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import {
  type Command,
  filesOf,
  push,
  pushCommands,
  type PushExtras,
  refsOf,
  storeRefs,
} from "../support/push.ts";
import { sampleOf } from "../support/sample.ts";
import { logged } from "../support/usage.ts";

// Every kind of write to a repository, through each door, is made with a token that is bound to
// what it changes, and with one that is bound to something else. A refusal names the binding and
// writes nothing.

/**
 * A repository with branches `main` and `topic`, tags `v1` and `plain`, and commits that no ref has
 * yet.
 */
async function makeWorld() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const history = new History();
  const files = { "docs/a": "a\n", "docs/b": "b\n", "src/a": "a\n" };
  const base = history.commit({ files });
  const topic = history.commit({ files: { ...files, "docs/c": "c\n" }, parents: [base] });
  const foreign = history.commit({ files: { ...files, "src/a": "other\n" }, parents: [base] });
  await storeRefs(
    repo,
    [
      { ref: "refs/heads/main", oid: base },
      { ref: "refs/heads/topic", oid: topic },
      { ref: "refs/heads/foreign", oid: foreign },
      { ref: "refs/tags/v1", oid: base },
    ],
    history.build(),
  );
  return { owner, repo, history, files, base, topic, foreign };
}
type World = Awaited<ReturnType<typeof makeWorld>>;

/** What became of a write: whether it was made, and the binding that refused it. */
interface Outcome {
  isDone: boolean;
  reason: string | null;
}

const ofHttp = ({ status, headers }: Answer): Outcome => ({
  isDone: status < 300,
  reason: headers.get("X-Edgeforge-Reason"),
});

/** Pushes all objects of the world's history. */
const pushAs = (
  { owner, repo, history }: World,
  token: string,
  commands: readonly Command[],
  extras: PushExtras = {},
): Promise<Answer> =>
  pushCommands({ ...owner, token }, repo, commands, { pack: history.build(), ...extras });

/** The outcome of a push of one ref. */
async function pushOne(world: World, token: string, command: Command): Promise<Outcome> {
  const { body } = await pushAs(world, token, [command]);
  return {
    isDone: body.includes(`ok ${command.ref}`),
    reason:
      /^ng \S+ (token-[a-z]+): /m.exec(String(body).replaceAll(/^[0-9a-f]{4}/gm, ""))?.[1] ?? null,
  };
}

const askApi =
  (method: string, path: string, json?: (world: World) => object) =>
  async (world: World, token: string): Promise<Outcome> => {
    const { owner, name } = world.repo;
    const sending = { token, ...(json && { json: json(world) }) };
    return ofHttp(await call(method, `/repos/${owner}/${name}${path}`, sending));
  };

interface Write {
  door: "git" | "API" | "LFS";
  what: string;
  /**
   * The refs and the paths that it changes. No paths: a token that is bound to any paths may not do
   * it.
   */
  refs: readonly string[];
  paths?: readonly string[];
  /** True for a write that changes no path. */
  isOfNoPath?: true;
  do: (world: World, token: string) => Promise<Outcome>;
}

const blobOid = "78981922613b2afb6025042ff6bd878ac1994e85"; // of "a\n"
const PATCH = "--- a/docs/a\n+++ b/docs/a\n@@ -1 +1 @@\n-a\n+z\n";
const NOTES = "refs/notes/commits";

const WRITES: Write[] = [
  {
    door: "git",
    what: "an update of a branch",
    refs: ["refs/heads/main"],
    paths: ["docs/*"],
    do: (world, token) =>
      pushOne(world, token, {
        ref: "refs/heads/main",
        old: world.base,
        new: world.history.commit({
          files: { ...world.files, "docs/a": "changed\n" },
          parents: [world.base],
        }),
      }),
  },
  {
    door: "git",
    what: "a new branch",
    refs: ["refs/heads/new"],
    paths: ["docs/*"],
    do: (world, token) =>
      pushOne(world, token, {
        ref: "refs/heads/new",
        new: world.history.commit({
          files: { ...world.files, "docs/a": "changed\n" },
          parents: [world.base],
        }),
      }),
  },
  {
    door: "git",
    what: "a forced update",
    refs: ["refs/heads/topic"],
    paths: ["docs/*"],
    do: (world, token) =>
      pushOne(world, token, { ref: "refs/heads/topic", old: world.topic, new: world.base }),
  },
  {
    door: "git",
    what: "a deletion",
    refs: ["refs/heads/topic"],
    do: (world, token) => pushOne(world, token, { ref: "refs/heads/topic", old: world.topic }),
  },
  {
    door: "git",
    what: "an annotated tag",
    refs: ["refs/tags/v2"],
    paths: ["docs/*"],
    do: (world, token) => {
      const files = { ...world.files, "docs/a": "changed\n" };
      const oid = world.history.commit({ files, parents: [world.base] });
      return pushOne(world, token, { ref: "refs/tags/v2", new: world.history.tag(oid, "v2") });
    },
  },
  {
    door: "API",
    what: "a new file",
    refs: ["refs/heads/main"],
    paths: ["docs/new"],
    do: askApi("POST", "/contents/docs/new", () => ({ content: "YQ==", branch: "main" })),
  },
  {
    door: "API",
    what: "a new file on a new branch",
    refs: ["refs/heads/made"],
    paths: ["docs/new"],
    do: askApi("POST", "/contents/docs/new", () => ({ content: "YQ==", new_branch: "made" })),
  },
  {
    door: "API",
    what: "an update of a file",
    refs: ["refs/heads/main"],
    paths: ["docs/a"],
    do: askApi("PUT", "/contents/docs/a", () => ({ content: "YQ==", sha: blobOid })),
  },
  {
    door: "API",
    what: "a rename of a file",
    refs: ["refs/heads/main"],
    paths: ["docs/a", "docs/moved"],
    do: askApi("PUT", "/contents/docs/moved", () => ({
      content: "YQ==",
      sha: blobOid,
      from_path: "docs/a",
    })),
  },
  {
    door: "API",
    what: "a deletion of a file",
    refs: ["refs/heads/main"],
    paths: ["docs/a"],
    do: askApi("DELETE", "/contents/docs/a", () => ({ sha: blobOid })),
  },
  {
    door: "API",
    what: "changes of several files",
    refs: ["refs/heads/main"],
    paths: ["docs/*"],
    do: askApi("POST", "/contents", () => ({
      files: [
        { operation: "create", path: "docs/x", content: "YQ==" },
        { operation: "delete", path: "docs/a", sha: blobOid },
      ],
    })),
  },
  {
    door: "API",
    what: "a patch",
    refs: ["refs/heads/main"],
    paths: ["docs/a"],
    do: askApi("POST", "/diffpatch", () => ({ content: PATCH })),
  },
  {
    door: "API",
    what: "a new branch",
    refs: ["refs/heads/made"],
    isOfNoPath: true,
    do: askApi("POST", "/branches", () => ({ new_branch_name: "made", old_ref_name: "main" })),
  },
  {
    door: "API",
    what: "an update of a branch",
    refs: ["refs/heads/main"],
    paths: ["docs/c"],
    do: askApi("PUT", "/branches/main", ({ topic }) => ({ new_commit_id: topic })),
  },
  {
    door: "API",
    what: "a rename of a branch",
    refs: ["refs/heads/topic", "refs/heads/renamed"],
    do: askApi("PATCH", "/branches/topic", () => ({ name: "renamed" })),
  },
  {
    door: "API",
    what: "a deletion of a branch",
    refs: ["refs/heads/topic"],
    do: askApi("DELETE", "/branches/topic"),
  },
  {
    door: "API",
    what: "a tag",
    refs: ["refs/tags/v2"],
    isOfNoPath: true,
    do: askApi("POST", "/tags", () => ({ tag_name: "v2", target: "main" })),
  },
  {
    door: "API",
    what: "an annotated tag",
    refs: ["refs/tags/v2"],
    isOfNoPath: true,
    do: askApi("POST", "/tags", () => ({ tag_name: "v2", target: "main", message: "two" })),
  },
  {
    door: "API",
    what: "a deletion of a tag",
    refs: ["refs/tags/v1"],
    do: askApi("DELETE", "/tags/v1"),
  },
  {
    door: "API",
    what: "a note",
    refs: [NOTES],
    // A note is a file in the tree of the notes, called after the commit.
    paths: ["[0-9a-f]*"],
    do: askApi("POST", "/git/notes/main", () => ({ message: "a word" })),
  },
  {
    door: "LFS",
    what: "the upload of a file for a branch",
    refs: ["refs/heads/main"],
    isOfNoPath: true,
    do: async ({ repo }, token) => {
      const { oid, size } = makeLargeFile("large");
      const json = {
        operation: "upload",
        objects: [{ oid, size }],
        ref: { name: "refs/heads/main" },
      };
      return ofHttp(await askLfs("POST", repo, "objects/batch", { token, json }));
    },
  },
  {
    door: "LFS",
    what: "a lock for a branch",
    refs: ["refs/heads/main"],
    paths: ["docs/*"],
    do: async ({ repo }, token) => {
      const json = { path: "/docs//a.psd", ref: { name: "refs/heads/main" } };
      return ofHttp(await askLfs("POST", repo, "locks", { token, json }));
    },
  },
  {
    door: "LFS",
    what: "the end of a lock",
    refs: ["refs/heads/main"],
    paths: ["docs/*"],
    do: async ({ repo, owner }, token) => {
      await db.insert(lfsLocks).values({
        repoId: repo.id,
        path: "docs/a.psd",
        ownerId: owner.id,
        lockedAt: 1,
      });
      const [lock] = await locksOf(repo);
      const json = { ref: { name: "refs/heads/main" } };
      const answer = await askLfs("POST", repo, `locks/${lock?.id}/unlock`, { token, json });
      if (answer.status >= 300) expect(await locksOf(repo)).toHaveLength(1);
      await db.delete(lfsLocks).where(eq(lfsLocks.repoId, repo.id));
      return ofHttp(answer);
    },
  },
];

const locksOf = (repo: TestRepo) =>
  db.select().from(lfsLocks).where(eq(lfsLocks.repoId, repo.id)).orderBy(asc(lfsLocks.id));

/** All that a write could leave behind. */
const stateOf = async (repo: TestRepo) => ({
  refs: await refsOf(repo),
  locks: await locksOf(repo),
  events: await eventsOf(repo),
  files: await filesOf(repo),
});

/** The outcome of a write that leaves nothing behind. */
async function tryInVain({ do: write }: Write, world: World, token: string): Promise<Outcome> {
  const before = await stateOf(world.repo);
  const outcome = await write(world, token);
  // Uploaded packs are removed after the response.
  await vi.waitFor(async () => expect(await stateOf(world.repo)).toEqual(before));
  return outcome;
}

const refusedBy = (reason: string): Outcome => ({ isDone: false, reason });

const named = (writes: readonly Write[]) =>
  writes.map((write) => [`${write.what} through ${write.door}`, write] as const);

describe("a token bound to refs", () => {
  it.each(sampleOf(named(WRITES), 8, "bound to these refs"))(
    "makes %s where it is bound to these refs",
    async (_, write) => {
      const world = await makeWorld();
      const token = await make.token(world.owner, { refs: write.refs });
      expect(await write.do(world, token)).toEqual({ isDone: true, reason: null });
    },
  );

  it.each(sampleOf(named(WRITES), 8, "bound to other refs"))(
    "is refused %s where it is bound to others",
    async (_, write) => {
      const world = await makeWorld();
      // All but one of the refs, or none.
      for (const refs of [["refs/heads/elsewhere"], ["refs/*"], write.refs.slice(1)]) {
        if (refs.length === 0) continue;
        const token = await make.token(world.owner, { refs });
        expect(await tryInVain(write, world, token)).toEqual(refusedBy("token-refs"));
      }
    },
  );

  it("is refused for each ref of a push, and the others are updated", async () => {
    const world = await makeWorld();
    const token = await make.token(world.owner, { refs: ["refs/heads/free/**"] });
    const commands = [
      { ref: "refs/heads/free/a/b", new: world.topic },
      { ref: "refs/heads/bound", new: world.topic },
    ];
    const { body } = await pushAs(world, token, commands);
    expect(body).toContain("ok refs/heads/free/a/b\n");
    expect(body).toContain("ng refs/heads/bound token-refs: the token is bound to other refs\n");
    const names = (await refsOf(world.repo)).map(({ name }) => name);
    expect(names).toContain("refs/heads/free/a/b");
    expect(names).not.toContain("refs/heads/bound");
  });

  it("updates no ref of an atomic push that names another", async () => {
    const world = await makeWorld();
    const token = await make.token(world.owner, { refs: ["refs/heads/free"] });
    const before = await stateOf(world.repo);
    const commands = [
      { ref: "refs/heads/free", new: world.topic },
      { ref: "refs/heads/bound", new: world.topic },
    ];
    const { body } = await pushAs(world, token, commands, { capabilities: "atomic" });
    expect(body).toContain("ng refs/heads/free atomic push failure\n");
    expect(body).toContain("ng refs/heads/bound token-refs: ");
    await vi.waitFor(async () => expect(await stateOf(world.repo)).toEqual(before));
  });
});

/**
 * The writes that a token may make if it is bound to fitting paths, and those that none may make.
 */
const WITH_PATHS = WRITES.filter(({ paths }) => paths !== undefined);
const WITHOUT = WRITES.filter(({ paths, isOfNoPath }) => paths === undefined && !isOfNoPath);

describe("a token bound to paths", () => {
  it.each(sampleOf(named(WITH_PATHS), 6, "bound to these paths"))(
    "makes %s where it is bound to these paths",
    async (_, write) => {
      const world = await makeWorld();
      const token = await make.token(world.owner, { paths: write.paths ?? [] });
      expect(await write.do(world, token)).toEqual({ isDone: true, reason: null });
    },
  );

  it.each(sampleOf(named(WITH_PATHS), 6, "bound to other paths"))(
    "is refused %s where it is bound to others",
    async (_, write) => {
      const world = await makeWorld();
      for (const paths of [["src/**"], ["docs"], write.paths?.slice(1) ?? []]) {
        if (paths.length === 0) continue;
        const token = await make.token(world.owner, { paths });
        expect(await tryInVain(write, world, token)).toEqual(refusedBy("token-paths"));
      }
    },
  );

  it.each(named(WITHOUT))("is refused %s, whatever its paths are", async (_, write) => {
    const world = await makeWorld();
    const token = await make.token(world.owner, { paths: ["**"] });
    expect(await tryInVain(write, world, token)).toEqual(refusedBy("token-paths"));
  });

  it.each(named(WRITES.filter(({ isOfNoPath }) => isOfNoPath)))(
    "makes %s, which changes no path",
    async (_, write) => {
      const world = await makeWorld();
      const token = await make.token(world.owner, { paths: ["elsewhere"] });
      expect(await write.do(world, token)).toEqual({ isDone: true, reason: null });
    },
  );
});

describe("a push with a token bound to docs/**", () => {
  const paths = ["docs/**"];

  /** Commits that a push brings to `main` or to a new branch, by what is tried. */
  const REFUSED: [string, (world: World) => Command, RegExp][] = [
    [
      "a commit between that changes another path, which the last one takes back",
      ({ history, files, base }) => {
        const middle = history.commit({ files: { ...files, "src/a": "x" }, parents: [base] });
        return updateMain(base, history.commit({ files, parents: [middle] }));
      },
      /commit [0-9a-f]{10} changes src\/a/,
    ],
    [
      "a deletion of another path",
      ({ history, base }) =>
        updateMain(base, history.commit({ files: { "docs/a": "a\n" }, parents: [base] })),
      /changes src\/a/,
    ],
    [
      "a rename from another path",
      ({ history, base, files: { "src/a": text, ...files } }) =>
        updateMain(
          base,
          history.commit({ files: { ...files, "docs/moved": text }, parents: [base] }),
        ),
      /changes src\/a/,
    ],
    [
      "a rename to another path",
      ({ history, base, files: { "docs/a": text, ...files } }) =>
        updateMain(
          base,
          history.commit({ files: { ...files, "src/moved": text }, parents: [base] }),
        ),
      /changes src\/moved/,
    ],
    [
      "a file in place of the directory",
      ({ history, base, files }) =>
        updateMain(
          base,
          history.commit({ files: { "src/a": files["src/a"], docs: "x" }, parents: [base] }),
        ),
      /changes docs$/m,
    ],
    [
      "another branch, with other people's commits",
      ({ base, foreign }) => updateMain(base, foreign),
      /changes src\/a/,
    ],
    [
      "a merge that takes another path back to an older state",
      ({ history, base, foreign, files }) => ({
        ref: "refs/heads/foreign",
        old: foreign,
        new: history.commit({ files, parents: [base, foreign] }),
      }),
      /the update of refs\/heads\/foreign changes src\/a/,
    ],
    [
      "a merge that differs in another path from each parent",
      ({ history, base, topic, files }) =>
        updateMain(
          base,
          history.commit({ files: { ...files, "src/a": "evil" }, parents: [base, topic] }),
        ),
      /changes src\/a/,
    ],
    [
      "a forced update to an older commit",
      ({ base, foreign }) => ({ ref: "refs/heads/foreign", old: foreign, new: base }),
      /the update of refs\/heads\/foreign changes src\/a/,
    ],
    [
      "a history of its own",
      ({ history, base, files }) => updateMain(base, history.commit({ files })),
      /changes src\/a/,
    ],
    [
      "a new branch with such a commit",
      ({ history, base, files }) => ({
        ref: "refs/heads/new",
        new: history.commit({ files: { ...files, "src/b": "" }, parents: [base] }),
      }),
      /changes src\/b/,
    ],
    [
      "a tag with such a commit",
      ({ history, base, files }) => ({
        ref: "refs/tags/new",
        new: history.tag(
          history.commit({ files: { ...files, "src/b": "" }, parents: [base] }),
          "new",
        ),
      }),
      /changes src\/b/,
    ],
    [
      "a path whose name is no plain text",
      ({ history, base, files }) =>
        updateMain(base, history.commit({ files: { ...files, "src/ä\n": "" }, parents: [base] })),
      /changes "src\/\\303\\244\\n"/,
    ],
  ];

  const updateMain = (base: string, tip: string): Command => ({
    ref: "refs/heads/main",
    old: base,
    new: tip,
  });

  it.each(sampleOf(REFUSED, 5, "refused pushes"))("is refused %s", async (_, make_, message) => {
    const world = await makeWorld();
    const token = await make.token(world.owner, { paths });
    const before = await stateOf(world.repo);
    const { body } = await pushAs(world, token, [make_(world)]);
    expect(body).toMatch(/ng refs\/\S+ token-paths: /);
    expect(body).toMatch(message);
    await vi.waitFor(async () => expect(await stateOf(world.repo)).toEqual(before));
  });

  it.each<[string, (world: World) => Command]>([
    [
      "a merge of a topic into a branch that went on elsewhere",
      ({ history, foreign, topic, files }) => ({
        ref: "refs/heads/foreign",
        old: foreign,
        new: history.commit({
          files: { ...files, "src/a": "other\n", "docs/c": "c\n" },
          parents: [foreign, topic],
        }),
      }),
    ],
    [
      "a new branch from a commit that other people made",
      ({ foreign }) => ({ ref: "refs/heads/new", new: foreign }),
    ],
    ["an update to the value that a ref has", ({ base }) => updateMain(base, base)],
    [
      "a new directory below, and the end of one",
      ({ history, base, files }) =>
        updateMain(
          base,
          history.commit({ files: { "src/a": files["src/a"], "docs/x/y/z": "" }, parents: [base] }),
        ),
    ],
  ])("makes %s", async (_, make_) => {
    const world = await makeWorld();
    const token = await make.token(world.owner, { paths });
    const command = make_(world);
    const { body } = await pushAs(world, token, [command]);
    expect(body).toContain(`ok ${command.ref}\n`);
    expect(await refsOf(world.repo)).toContainEqual(
      expect.objectContaining({ name: command.ref, oid: command.new }),
    );
  });

  // Its cost would else be the number of commits times the size of their trees.
  it("is refused what takes too much work to compare, and nothing is stored", async () => {
    const world = await makeWorld();
    const { owner, repo, topic } = world;
    const token = await make.token(owner, { paths: ["docs/**", "src/*"] });
    const builder = new PackBuilder(codec);
    const blob = builder.add("blob", encodeUtf8("x"));
    const entryOf = (name: string) => ({ mode: MODE_FILE, name: encodeText(name), oid: blob });
    const treeOf = (count: number) => {
      const below = Array.from({ length: count }, (_, at) => entryOf(`${at}`)).toSorted((a, b) =>
        a.name < b.name ? -1 : 1,
      );
      const docs = builder.add("tree", formatTree(below));
      return builder.add("tree", formatTree([{ ...entryOf("docs"), mode: MODE_TREE, oid: docs }]));
    };
    const [wide, narrow] = [treeOf(2000), treeOf(1)];
    const who = "A <a@example.com> 1700000000 +0000";
    let tip = topic;
    for (let round = 0; round < 60; round++) {
      const lines = [`tree ${round % 2 ? narrow : wide}`, `parent ${tip}`, `author ${who}`];
      const text = [...lines, `committer ${who}`, "", "wide"].join("\n");
      tip = builder.add("commit", encodeUtf8(`${text}\n`));
    }
    const before = await stateOf(repo);
    const command = { ref: "refs/heads/topic", old: topic, new: tip };
    const { body } = await pushAs(world, token, [command], { pack: builder.build() });
    expect(body).toContain("ng refs/heads/topic token-paths: the push changes too much");
    await vi.waitFor(async () => expect(await stateOf(repo)).toEqual(before));
  });
});

describe("the administration of a repository", () => {
  const CHANGES: [string, string, string, object?][] = [
    ["its settings", "PATCH", "", { description: "changed" }],
    ["its default branch", "PATCH", "", { default_branch: "topic" }],
    ["the name of its default branch", "PATCH", "/branches/main", { name: "renamed" }],
    ["itself", "DELETE", ""],
    [
      "its webhooks",
      "POST",
      "/hooks",
      { type: "gitea", config: { url: "https://hooks.example/", content_type: "json" } },
    ],
    ["its keys", "POST", "/keys", { title: "x", key: "ssh-ed25519 AAAA", read_only: false }],
  ];

  it.each(
    CHANGES.flatMap((change) => [
      [...change.slice(0, 1), "refs", ["refs/**"], ...change.slice(1)] as const,
      [...change.slice(0, 1), "paths", ["**"], ...change.slice(1)] as const,
    ]),
  )("is no way around: %s is not changed by a token bound to %s", async (...row) => {
    const [, binding, patterns, method, path, json] = row as unknown as [
      string,
      "refs" | "paths",
      string[],
      string,
      string,
      object?,
    ];
    const { owner, repo } = await makeWorld();
    const token = await make.token(owner, { [binding]: patterns });
    const before = await stateOf(repo);
    const answer = await call(method, `/repos/${repo.owner}/${repo.name}${path}`, { token, json });
    expect(ofHttp(answer)).toEqual({ isDone: false, reason: `token-${binding}` });
    expect(answer.status).toBe(403);
    expect(await stateOf(repo)).toEqual(before);
  });

  it("is read as its scopes say", async () => {
    const { owner, repo } = await makeWorld();
    const token = await make.token(owner, { refs: ["refs/heads/x"], paths: ["x"] });
    const path = `/repos/${repo.owner}/${repo.name}/hooks`;
    expect(await call("GET", path, { token })).toMatchObject({ status: 200, body: [] });
  });

  it("is not changed by the options of a push", async () => {
    const world = await makeWorld();
    const token = await make.token(world.owner, { refs: ["refs/heads/**"] });
    const commands = [{ ref: "refs/heads/new", new: world.topic }];
    const extras = {
      capabilities: "side-band-64k push-options",
      options: ["repo.private=true"],
    };
    const { body } = await pushAs(world, token, commands, extras);
    expect(body).toContain("ok refs/heads/new");
    expect(body).toContain("push options were not applied: token-refs: ");
    expect(await call("GET", `/repos/${world.repo.owner}/${world.repo.name}`)).toMatchObject({
      body: { private: false },
    });
  });
});

describe("a token bound to repositories", () => {
  // SECURITY: the word is the same whether or not there is such a repository.
  it.each(["another", "none"])(
    "is refused with that reason where it names %s, through each door",
    async (which) => {
      const { owner, repo } = await makeWorld();
      const token = await make.token(owner, { repos: [await make.repo(owner)] });
      const { name } = which === "another" ? repo : { name: "no-such-repo" };
      const at = { owner: owner.name, name };
      const as: TestUser = { ...owner, token };
      const json = { operation: "download", objects: [] };
      const answers = [
        await call("GET", `/repos/${at.owner}/${at.name}`, { token }),
        await pushCommands(as, at, [{ ref: "refs/heads/x" }]),
        await askLfs("POST", at, "objects/batch", { token, json }),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(404);
        expect(ofHttp(answer)).toEqual({ isDone: false, reason: "token-repositories" });
      }
    },
  );
});

describe("a token bound to packages", () => {
  const actorOf = async (packages: readonly string[]) => {
    const user = await make.user();
    await make.token(user, { packages });
    const rows = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    const token = only(rows.filter(({ boundPackages }) => boundPackages !== null));
    return { ...ANONYMOUS, user, token };
  };

  it.each([
    ["alice/npm/*", { owner: "alice", type: "npm", name: "left" }, true],
    ["alice/npm/*", { owner: "Alice", type: "npm", name: "Left" }, true],
    ["Alice/npm/Left", { owner: "alice", type: "npm", name: "left" }, true],
    ["alice/npm/*", { owner: "alice", type: "npm", name: "@alice/left" }, false],
    ["alice/npm/**", { owner: "alice", type: "npm", name: "@alice/left" }, true],
    ["alice/npm/*", { owner: "alice", type: "pypi", name: "left" }, false],
    ["alice/npm/*", { owner: "bob", type: "npm", name: "left" }, false],
    ["alice/*/left", { owner: "alice", type: "pypi", name: "left" }, true],
  ])("to %s reaches %j: %s", async (pattern, name, isReached) => {
    expect(isPackageInReach(await actorOf(["x/y/z", pattern]), name)).toBe(isReached);
  });

  it("differs from an unbound one, which reaches every package", () => {
    const name = { owner: "alice", type: "npm", name: "left" };
    expect(isPackageInReach(ANONYMOUS, name)).toBe(true);
  });
});

describe("a push with an unbound token", () => {
  it("costs no call for bindings, and neither does one with a token that is bound to refs", async () => {
    const costs = [];
    for (const fields of [{}, { refs: ["refs/heads/*"] }, { paths: ["file"] }]) {
      const world = await makeWorld();
      const token = await make.token(world.owner, fields);
      const oid = world.history.commit({
        files: { ...world.files, file: "x" },
        parents: [world.base],
      });
      const pack = world.history.build();
      const send = () => push({ ...world.owner, token }, world.repo, oid, pack, "refs/heads/new");
      const { answer, line, sent } = await logged(send);
      expect(answer.body).toContain("ok refs/heads/new");
      costs.push({
        d1Rounds: line.d1Rounds,
        objectCalls: sent?.objectCalls,
        r2Calls: sent?.r2Calls,
      });
    }
    // One batch for caller and repository; the upload's beginning, the push, its settlement; three
    // writes.
    const unbound = { d1Rounds: 1, objectCalls: 3, r2Calls: 3 };
    // The trees that the repository had are in a small pack, which the isolate that stored it has
    // open.
    expect(costs).toEqual([unbound, unbound, unbound]);
  });
});
