import { type BranchProtection, type ProtectionSettings } from "../../src/db/schema/index.ts";
import { expect } from "vitest";

import { History } from "./commits.ts";
import { make, type TestRepo, type TestUser } from "./make.ts";
import { makeRule, makeRuleset } from "./protections.ts";
import { makeEmptyPack, pushCommands, refsOf, storeRefs } from "./push.ts";
import { caseCount } from "./sample.ts";

// Generated rules, judged through each way in and by a model that shares no code with the service:
// patterns as regular expressions, and the rules as sentences of the documentation.

/** Numbers that repeat for a seed. */
export function randomOf(seed: number) {
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
export type Random = ReturnType<typeof randomOf>;

/** A pattern as a regular expression. */
export function expressionOf(pattern: string, separators: string): RegExp {
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
export const BRANCHES = ["main", "dev", "rel/1", "rel/a/b"];
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

/**
 * Commits to which branches are moved: each changes one file of `base`, and the forced ones leave
 * it.
 */
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
export const commits = makeCommits();

/** A repository of an organization with generated rules, and somebody who writes to it. */
export async function makeWorld(seed: number, exists: (branch: string) => boolean = () => true) {
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
export type World = Awaited<ReturnType<typeof makeWorld>>;

export const oidOf = async (repo: TestRepo, ref: string) =>
  (await refsOf(repo)).find(({ name }) => name === ref)?.oid;
export const apiOf = ({ owner, name }: TestRepo, rest: string) => `/repos/${owner}/${name}/${rest}`;

/**
 * Asserts that a ref has moved where the model allows it, and that it stayed where the model does
 * not.
 */
export async function compare(
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
export async function pushOne(
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
export type WayIn = (seed: number) => Promise<string | undefined>;

export const pickMove = (random: Random) => random.pick(commits.moves);

const CASES = caseCount(8, 20);

/** The results of a way in for many seeds. */
export async function runSeeds(name: string, way: WayIn): Promise<(string | undefined)[]> {
  const results: (string | undefined)[] = [];
  for (let seed = 1; seed <= CASES; seed++) results.push(await way(seed * 31 + name.length));
  return results;
}
