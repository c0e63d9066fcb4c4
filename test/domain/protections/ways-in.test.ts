import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  type BranchProtection,
  branchProtections,
  type ProtectionSettings,
  repositories,
  timelineEntries,
} from "../../../src/db/schema/index.ts";
import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { formatBase64 } from "../../../src/lib/base64.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { quietly } from "../../support/merge-queues.ts";
import { makePull } from "../../support/pulls.ts";
import { makeRule, makeRuleset, makeTagRule } from "../../support/protections.ts";
import { makeEmptyPack, pushCommands, refsOf, storeRefs } from "../../support/push.ts";
import { drawConsequences } from "../../support/consequences.ts";

// Generated rules, judged through each way in and by a model that shares no code with the service: patterns as regular
// expressions, and the rules as sentences of the documentation.

const CASES = env.TEST_ALL ? 60 : 10;

/** Numbers that repeat for a seed. */
function randomOf(seed: number) {
  let state = seed * 2_654_435_761 + 12_345;
  const next = (bound: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % bound;
  };
  return {
    next,
    chance: (percent: number): boolean => next(100) < percent,
    pick: <T>(all: readonly T[]): T => all[next(all.length)] as T,
  };
}
type Random = ReturnType<typeof randomOf>;

/** A pattern as a regular expression. */
function expressionOf(pattern: string, separators: string): RegExp {
  const within = separators === "" ? "[^]" : `[^${separators}]`;
  const source = pattern.replaceAll(/\*\*|[*?{},.]|\[!/g, (part) => {
    const parts: Record<string, string> = {
      "**": "[^]*",
      "*": `${within}*`,
      "?": within,
      "{": "(?:",
      "}": ")",
      ",": "|",
      ".": "\\.",
      "[!": "[^",
    };
    return parts[part] ?? part;
  });
  return new RegExp(`^(?:${source})$`);
}

const RULES = [
  "main",
  "MAIN",
  "dev",
  "rel/1",
  "rel/*",
  "rel/**",
  "*",
  "**",
  "{main,dev}",
  "[!m]??",
];
const BRANCHES = ["main", "dev", "rel/1", "rel/a/b"];
const FILES = ["", "", "*.lock", "docs/**", "*.txt;*.LOCK"];

interface Actor {
  user: TestUser;
  isAdmin: boolean;
  teamId: number;
}

function makeSettings(random: Random, { user, teamId }: Actor): Partial<ProtectionSettings> {
  const list = () => ({
    isRestricted: random.chance(50),
    userIds: random.chance(40) ? [user.id] : [0],
    teamIds: random.chance(30) ? [teamId] : [],
    deployKeys: random.chance(50),
  });
  return {
    isPushEnabled: random.chance(70),
    push: list(),
    isForcePushEnabled: random.chance(70),
    forcePush: list(),
    requireSignedCommits: random.chance(10),
    protectedFilePatterns: random.pick(FILES),
    unprotectedFilePatterns: random.pick(FILES),
  };
}

/** The rule of one level that is for a branch. */
function chosen(rules: readonly BranchProtection[], branch: string): BranchProtection | undefined {
  const isPlain = (rule: BranchProtection) => /^[a-z/0-9]+$/i.test(rule.name);
  const matching = rules
    .filter((rule) =>
      isPlain(rule)
        ? new RegExp(`^${rule.name}$`, "i").test(branch)
        : expressionOf(rule.name, "/").test(branch),
    )
    .toSorted(
      (a, b) => a.priority * 2 - Number(isPlain(a)) - (b.priority * 2 - Number(isPlain(b))),
    );
  const nobodyChose = matching[0]?.isPriorityExplicit === false;
  const plain = matching.find((rule) => isPlain(rule) && !rule.isPriorityExplicit);
  return nobodyChose && plain ? plain : matching[0];
}

/** An update of a branch, as the model sees it. */
interface Attempt {
  kind: "create" | "update" | "delete";
  isForced?: boolean;
  /** The files that it changes, and whether it brings commits, none of which is signed. */
  changed?: readonly string[];
  hasCommits?: boolean;
}

/** What a rule says to an update, in one word. */
function sentence({ settings }: BranchProtection, attempt: Attempt, { user, teamId }: Actor) {
  const { kind, isForced = false, changed = [], hasCommits = false } = attempt;
  const names = ({ userIds, teamIds }: ProtectionSettings["push"]) =>
    userIds.includes(user.id) || teamIds.includes(teamId);
  const isIn = (list: string, path: string) =>
    list
      .split(";")
      .some((each) => each !== "" && expressionOf(each.toLowerCase(), "./").test(path));
  if (kind === "delete") return "deletion";
  if (isForced && !settings.isForcePushEnabled) return "force push";
  if (settings.requireSignedCommits && hasCommits) return "unverified";
  const guarded = changed.find((path) => isIn(settings.protectedFilePatterns, path));
  if (guarded !== undefined) return `file ${guarded}`;
  const isPusher = settings.isPushEnabled && (!settings.push.isRestricted || names(settings.push));
  const isForcer = !isForced || !settings.forcePush.isRestricted || names(settings.forcePush);
  if (isPusher && isForcer) return undefined;
  const isFree =
    settings.unprotectedFilePatterns !== "" &&
    changed.every((path) => isIn(settings.unprotectedFilePatterns, path));
  if (isFree) return undefined;
  return isForced ? "force-push to" : "push to";
}

/** Commits to which branches are moved: each changes one file of `base`, and the forced ones leave it. */
function makeCommits() {
  const history = new History();
  const files = { "a.txt": "2", "b.lock": "1", "docs/x.md": "1" };
  const root = history.commit({ files: { ...files, "a.txt": "1" } });
  const base = history.commit({ files, parents: [root] });
  const moved = (path: string) => ({
    path,
    forward: history.commit({ files: { ...files, [path]: "3" }, parents: [base] }),
    forced: history.commit({ files: { ...files, [path]: "4" }, parents: [root] }),
  });
  const moves = Object.keys(files).map(moved);
  return { base, moves, pack: history.build() };
}
const commits = makeCommits();

/** A repository of an organization with generated rules, and somebody who writes to it. */
async function makeWorld(seed: number, exists: (branch: string) => boolean = () => true) {
  const random = randomOf(seed);
  const owner = await make.user();
  const org = await make.org([owner]);
  const repo = await make.repo(org);
  const team = await make.team(org, { access: 2 });
  const isAdmin = random.chance(50);
  const user = isAdmin ? owner : await make.user();
  await make.member(org, team, user);
  const actor: Actor = { user, isAdmin, teamId: team.id };
  const makeSome = async <T>(count: number, makeOne: (name: string, at: number) => Promise<T>) => {
    const names = new Set(Array.from({ length: count }, () => random.pick(RULES)));
    const made: T[] = [];
    for (const name of names) made.push(await makeOne(name, made.length + 1));
    return made;
  };
  const fields = (name: string, at: number) => {
    const isPriorityExplicit = random.chance(20);
    const priority = isPriorityExplicit ? 1 + random.next(4) : at;
    return { name, priority, isPriorityExplicit, settings: makeSettings(random, actor) };
  };
  const own = await makeSome(1 + random.next(3), (name, at) => makeRule(repo, fields(name, at)));
  const rulesets = await makeSome(random.chance(30) ? 1 : 0, (name, at) =>
    makeRuleset(org, { ...fields(name, at), repositoryPatterns: random.pick(["", "repo-*", "x"]) }),
  );
  const branch = random.pick(BRANCHES);
  const branches = new Set(["main", ...BRANCHES.filter((name) => name === branch && exists(name))]);
  await storeRefs(
    repo,
    [
      ...Array.from(branches, (name) => ({ ref: `refs/heads/${name}`, oid: commits.base })),
      ...commits.moves.flatMap(({ forward, forced }, at) => [
        { ref: `refs/kept/forward-${at}`, oid: forward },
        { ref: `refs/kept/forced-${at}`, oid: forced },
      ]),
    ],
    commits.pack,
  );
  const appliedTo = (name: string) =>
    [
      chosen(own, name),
      chosen(
        rulesets.filter((rule) => rule.repositoryPatterns !== "x"),
        name,
      ),
    ].filter((rule) => rule !== undefined);
  const expected = (name: string, attempt: Attempt) =>
    appliedTo(name)
      .map((rule) => sentence(rule, attempt, actor))
      .find((refusal) => refusal !== undefined);
  return { random, repo, actor, branch, own, appliedTo, expected };
}
type World = Awaited<ReturnType<typeof makeWorld>>;

const oidOf = async (repo: TestRepo, ref: string) =>
  (await refsOf(repo)).find(({ name }) => name === ref)?.oid;
const apiOf = ({ owner, name }: TestRepo, rest: string) => `/repos/${owner}/${name}/${rest}`;

/** Asserts that a ref has moved where the model allows it, and that it stayed where the model does not. */
async function compare(
  { repo }: World,
  ref: string,
  expected: string | undefined,
  words: string,
  before: string | undefined,
): Promise<string | undefined> {
  const after = await oidOf(repo, ref);
  if (expected === undefined) expect(after, words).not.toBe(before);
  else expect(after, words).toBe(before);
  if (expected !== undefined) expect(words).toContain(expected);
  return expected;
}

/** Pushes one command and compares the result with the model. */
async function pushOne(
  world: World,
  ref: string,
  command: { old?: string; new?: string },
  expected?: string,
) {
  const before = await oidOf(world.repo, ref);
  // The service has the commits already, so that a client sends an empty pack.
  const pack = command.new === undefined ? {} : { pack: makeEmptyPack() };
  const { body } = await pushCommands(world.actor.user, world.repo, [{ ref, ...command }], pack);
  return compare(world, ref, expected, body, before);
}

/** The result of a way in for a seed: what the model refuses it for, if it does. */
type WayIn = (seed: number) => Promise<string | undefined>;

const pickMove = (random: Random) => random.pick(commits.moves);

const WAYS: Record<string, WayIn> = {
  async "a push"(seed) {
    const world = await makeWorld(seed);
    const { path, forward } = pickMove(world.random);
    const attempt = { kind: "update", changed: [path], hasCommits: true } as const;
    const ref = `refs/heads/${world.branch}`;
    return pushOne(
      world,
      ref,
      { old: commits.base, new: forward },
      world.expected(world.branch, attempt),
    );
  },

  async "a forced push"(seed) {
    const world = await makeWorld(seed);
    const { path, forced } = pickMove(world.random);
    const attempt = { kind: "update", isForced: true, changed: [path], hasCommits: true } as const;
    const ref = `refs/heads/${world.branch}`;
    return pushOne(
      world,
      ref,
      { old: commits.base, new: forced },
      world.expected(world.branch, attempt),
    );
  },

  async "a push that creates a branch"(seed) {
    const world = await makeWorld(seed, () => false);
    const name = `${world.random.pick(["rel", "new"])}/${world.random.pick(["1", "2/3"])}`;
    const move = pickMove(world.random);
    const isNew = world.random.chance(50);
    const attempt = {
      kind: "create",
      changed: isNew ? [move.path] : [],
      hasCommits: isNew,
    } as const;
    const oid = isNew ? move.forward : commits.base;
    return pushOne(world, `refs/heads/${name}`, { new: oid }, world.expected(name, attempt));
  },

  async "a push that deletes a branch"(seed) {
    const world = await makeWorld(seed);
    const isDefault = world.branch === "main";
    const expected = isDefault
      ? "default branch"
      : world.expected(world.branch, { kind: "delete" });
    return pushOne(world, `refs/heads/${world.branch}`, { old: commits.base }, expected);
  },

  async "a change of a file"(seed) {
    const world = await makeWorld(seed);
    const { path } = pickMove(world.random);
    const { user } = world.actor;
    const url = apiOf(world.repo, `contents/${path}`);
    const got = await call("GET", url, { as: user });
    const json = {
      content: formatBase64(encodeUtf8("new")),
      sha: got.body.sha,
      branch: world.branch,
    };
    const answer = await call("PUT", url, { as: user, json });
    const attempt = { kind: "update", changed: [path], hasCommits: true } as const;
    const found = world.expected(world.branch, attempt);
    const words: Record<string, string> = {
      "push to": `user cannot commit to repo [user: ${user.name}]`,
      [`file ${path}`]: `path is protected and can not be changed [path: ${path}]`,
    };
    expect(answer.status).toBe(found === undefined ? 200 : 403);
    const expected = found && (words[found] ?? found);
    const ref = `refs/heads/${world.branch}`;
    return compare(world, ref, expected, JSON.stringify(answer.body), commits.base);
  },

  async "POST /branches"(seed) {
    const world = await makeWorld(seed, () => false);
    const name = world.random.pick(["rel/1", "rel/x", "new", "rel/a/b"]);
    const json = { new_branch_name: name, old_ref_name: "main" };
    const answer = await call("POST", apiOf(world.repo, "branches"), {
      as: world.actor.user,
      json,
    });
    const expected = world.expected(name, { kind: "create" });
    expect(answer.status).toBe(expected === undefined ? 201 : 403);
    const words = JSON.stringify(answer.body);
    return compare(world, `refs/heads/${name}`, expected, words, undefined);
  },

  async "PUT /branches/{branch}"(seed) {
    const world = await makeWorld(seed);
    const move = pickMove(world.random);
    const isForced = world.random.chance(50);
    const attempt = { kind: "update", isForced, changed: [move.path], hasCommits: true } as const;
    const expected = world.expected(world.branch, attempt);
    const answer = await call("PUT", apiOf(world.repo, `branches/${world.branch}`), {
      as: world.actor.user,
      json: { new_commit_id: isForced ? move.forced : move.forward, force: true },
    });
    expect(answer.status).toBe(expected === undefined ? 204 : 403);
    const words = JSON.stringify(answer.body);
    return compare(world, `refs/heads/${world.branch}`, expected, words, commits.base);
  },

  async "DELETE /branches/{branch}"(seed) {
    const world = await makeWorld(seed);
    const isDefault = world.branch === "main";
    const isRefused = isDefault || world.appliedTo(world.branch).length > 0;
    const answer = await call("DELETE", apiOf(world.repo, `branches/${world.branch}`), {
      as: world.actor.user,
    });
    expect(answer.status).toBe(isRefused ? 403 : 204);
    const expected = isRefused ? (isDefault ? "default branch" : "branch protected") : undefined;
    const words = JSON.stringify(answer.body);
    return compare(world, `refs/heads/${world.branch}`, expected, words, commits.base);
  },

  async "PATCH /branches/{branch}"(seed) {
    const world = await makeWorld(seed);
    const { branch, own, actor, repo } = world;
    const to = world.random.pick(["new", "rel/9", "trunk/1"]);
    const applied = world.appliedTo(branch);
    const isFixed = applied.some(
      (rule) => rule.name.toLowerCase() !== branch || rule.ownerId !== null,
    );
    const isGuarded = applied.length > 0 || branch === "main";
    const expected =
      isGuarded && !actor.isAdmin
        ? "must be a repo or site admin"
        : isFixed
          ? "glob-based"
          : world.expected(to, { kind: "create" });
    const answer = await call("PATCH", apiOf(repo, `branches/${branch}`), {
      as: actor.user,
      json: { name: to },
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(expected === undefined ? 204 : 403);
    await compare(
      world,
      `refs/heads/${branch}`,
      expected,
      JSON.stringify(answer.body),
      commits.base,
    );
    expect(await oidOf(repo, `refs/heads/${to}`)).toBe(
      expected === undefined ? commits.base : undefined,
    );
    const rows = await db
      .select()
      .from(branchProtections)
      .where(eq(branchProtections.repoId, repo.id))
      .orderBy(branchProtections.id);
    const [moved] = applied;
    // The rule follows, and no copy of it stays.
    const names = own.map((rule) =>
      expected === undefined && rule.id === moved?.id ? to : rule.name,
    );
    expect(rows.map(({ name }) => name)).toEqual(names);
    return expected;
  },

  async "a merge queue"(seed) {
    const world = await makeWorld(seed);
    const { actor, branch, random, repo } = world;
    const { forward } = pickMove(random);
    const lands = random.chance(60);
    // Every rule for the branch gets a queue that requires nothing of checks, and a list of those who merge.
    const merge = {
      isRestricted: true,
      userIds: lands ? [actor.user.id] : [0],
      teamIds: [],
      deployKeys: false,
    };
    const queue = { isMergeQueueEnabled: true, mergeQueueStyle: "", mergeQueueBatchSize: 5 };
    for (const rule of world.appliedTo(branch)) {
      const settings = { ...rule.settings, ...queue, merge } as ProtectionSettings;
      await db.update(branchProtections).set({ settings }).where(eq(branchProtections.id, rule.id));
    }
    const pull = await makePull(repo, {
      headOid: forward,
      headBranch: "topic",
      baseBranch: branch,
      mergeBaseOid: commits.base,
      judgedBaseOid: commits.base,
    });
    await storeRefs(repo, [{ ref: `refs/pull/${pull.number}/head`, oid: forward }], commits.pack);
    const path = apiOf(repo, `pulls/${pull.number}/queue`);
    const answer = await quietly("POST", path, { as: actor.user, json: { Do: "merge" } });
    await drawConsequences();
    const applied = world.appliedTo(branch);
    const { path: changed } = commits.moves.find((move) => move.forward === forward) ?? {
      path: "",
    };
    const isGuarded = applied.some(({ settings }) =>
      settings.protectedFilePatterns
        .split(";")
        .some((each) => each !== "" && expressionOf(each.toLowerCase(), "./").test(changed)),
    );
    const isUnsigned = applied.some(({ settings }) => settings.requireSignedCommits);
    const expected =
      applied.length === 0
        ? "no merge queue"
        : !lands
          ? "User not allowed to merge PR"
          : isGuarded
            ? "Changed protected files"
            : isUnsigned
              ? "unverified"
              : undefined;
    const entries = await db
      .select()
      .from(timelineEntries)
      .where(eq(timelineEntries.issueId, pull.id));
    const words = JSON.stringify([answer.body, entries.map(({ body }) => body)]);
    return compare(world, `refs/heads/${branch}`, expected, words, commits.base);
  },

  async "a merge of the upstream"(seed) {
    const world = await makeWorld(seed);
    const { repo, branch, actor } = world;
    const { path, forward } = pickMove(world.random);
    const upstream = await make.repo(actor.user, { networkName: repo.networkName });
    await storeRefs(upstream, [{ ref: `refs/heads/${branch}`, oid: forward }], commits.pack);
    await db
      .update(repositories)
      .set({ parentId: upstream.id, isFork: true })
      .where(eq(repositories.id, repo.id));
    const answer = await call("POST", apiOf(repo, "merge-upstream"), {
      as: actor.user,
      json: { branch },
    });
    const attempt = { kind: "update", changed: [path], hasCommits: true } as const;
    const expected = world.expected(branch, attempt);
    expect(answer.status, JSON.stringify(answer.body)).toBe(expected === undefined ? 200 : 403);
    const words = JSON.stringify(answer.body);
    return compare(world, `refs/heads/${branch}`, expected, words, commits.base);
  },
};

/** Tags: a rule that names the caller among those that match is enough. */
async function makeTagWorld(seed: number) {
  const random = randomOf(seed);
  const world = await makeWorld(seed);
  const { user, teamId } = world.actor;
  const patterns = random.chance(50) ? ["v*", "/^v[0-9]$/"] : ["*1", "/x/", "v?"];
  const rules = [];
  for (const namePattern of patterns) {
    rules.push(
      await makeTagRule(world.repo, {
        namePattern,
        userIds: random.chance(30) ? [user.id] : [0],
        teamIds: random.chance(30) ? [teamId] : [],
      }),
    );
  }
  const name = random.pick(["v1", "v12", "release/1", "xy", "other"]);
  const matching = rules.filter(({ namePattern }) =>
    namePattern.startsWith("/")
      ? new RegExp(namePattern.slice(1, -1)).test(name)
      : expressionOf(namePattern, "").test(name),
  );
  const isAllowed =
    matching.length === 0 ||
    matching.some(({ userIds, teamIds }) => userIds[0] === user.id || teamIds.length > 0);
  const ref = `refs/tags/${name}`;
  const exists = async () => storeRefs(world.repo, [{ ref, oid: commits.base }], commits.pack);
  const url = apiOf(world.repo, "tags");
  return { world, random, name, ref, exists, url, refused: isAllowed ? undefined : "protected" };
}

const TAG_WAYS: Record<string, WayIn> = {
  async "a push of a tag"(seed) {
    const { world, name, ref, exists, random, refused } = await makeTagWorld(seed);
    const way = random.pick(["create", "move", "delete"]);
    if (way !== "create") await exists();
    const command = {
      ...(way !== "create" && { old: commits.base }),
      ...(way !== "delete" && { new: commits.moves[0]?.forward ?? "" }),
    };
    return pushOne(world, ref, command, refused && `Tag ${name} is protected`);
  },
  async "POST /tags"(seed) {
    const { world, name, ref, url, random, refused } = await makeTagWorld(seed);
    const json = { tag_name: name, message: random.chance(50) ? "annotated" : "" };
    const answer = await call("POST", url, { as: world.actor.user, json });
    expect(answer.status).toBe(refused ? 422 : 201);
    return compare(world, ref, refused, JSON.stringify(answer.body), undefined);
  },
  async "DELETE /tags/{tag}"(seed) {
    const { world, name, ref, exists, url, refused } = await makeTagWorld(seed);
    await exists();
    const answer = await call("DELETE", `${url}/${name}`, { as: world.actor.user });
    expect(answer.status).toBe(refused ? 422 : 204);
    return compare(world, ref, refused, JSON.stringify(answer.body), commits.base);
  },
};

describe("generated rules and a model agree", () => {
  it.each(Object.entries({ ...WAYS, ...TAG_WAYS }))("on %s", async (name, way) => {
    const results: (string | undefined)[] = [];
    for (let seed = 1; seed <= CASES; seed++) results.push(await way(seed * 31 + name.length));
    // A way in that always or never succeeds would compare nothing.
    expect(results).toContain(undefined);
    expect(
      results.some((result) => result !== undefined),
      results.join(),
    ).toBe(true);
  });
});
