import { and, eq, inArray } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import { issues, pulls } from "../../../db/schema/index.ts";
import type { ByteText } from "../../../git/byte-text.ts";
import { NULL_OID, type Oid } from "../../../git/oid.ts";
import { isRefName } from "../../../git/ref-name.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { isAncestor } from "../../../git/walk/merge-bases.ts";
import { isDelete, type RefCommand } from "../../../git/wire/receive-request.ts";
import { Failure } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findNewValue, MISSING_OBJECTS, pushRefs, type RefPush } from "../../code/git/push-refs.ts";
import { type PushedRef, toCommand } from "../../code/git/ref-update-request.ts";
import { TokenRule } from "../../code/git/token-rule.ts";
import { loadRules } from "../../code/protections/select-rules.ts";
import { headStatements } from "../reviews/follow-head.ts";
import { findSameChanges } from "../reviews/same-changes.ts";
import { selectPulls, toPullContext } from "../pull/find-pull.ts";
import { headRefOf } from "../pull/open-pull.ts";
import { findHeadPush, headMoveStatements } from "../sync/move-heads.ts";
import { openPushedPull } from "./open-pushed-pull.ts";
import { parsePullTarget, type PullOptions } from "./parse-target.ts";

/** Maximum pull requests of one push. */
const PULLS_MAX = 20;
/** Maximum characters of a topic. */
const TOPIC_MAX = 250;

/** A push whose commands all name `refs/for/…`. */
export type PullPush = Omit<RefPush, "cause" | "adopted" | "headMove">;

/** The result of one command, with the pull request that it opened or updated. */
export type PushedPull = PushedRef & { readonly number?: number };

/**
 * Opens or updates pull requests by a push to `refs/for/<base>/<topic>`, for users who may open
 * pull requests here. The head is not a branch: it is kept as `refs/pull/N/head` alone, and a later
 * push of the same topic by the same user moves it.
 *
 * The refs are stored before the rows: a pull request that exists has its commits.
 *
 * @returns The result of each command, in their order. Refusals are in Gitea's words.
 */
export async function pushPulls(
  ctx: Ctx,
  repo: RepositoryContext,
  push: PullPush,
  options: PullOptions,
): Promise<PushedPull[]> {
  const refusal = findRefusal(repo, push);
  const plans =
    refusal === undefined
      ? await planAll(ctx, repo, push, options)
      : push.commands.map(({ ref }) => refuse(ref, refusal));
  const isUndone = push.isAtomic && plans.some((plan) => "kind" in plan);
  const planned = plans.flatMap((plan) => (isUndone || "kind" in plan ? [] : [plan]));
  // Called without commands as well: it removes the pack then.
  const stored = await pushRefs(ctx, repo, {
    ...push,
    cause: "service",
    commands: planned.map(({ number, from, command }) =>
      toCommand({
        ref: headRefOf(number),
        to: command.newOid,
        ...(from !== undefined && { from }),
      }),
    ),
  });
  const results = new Map<RefCommand, PushedPull>();
  for (const [at, plan] of planned.entries()) {
    const result = stored[at];
    const { ref } = plan.command;
    if (result?.kind !== "ok") {
      results.set(plan.command, refuse(ref, result?.reason ?? "it was not stored"));
      continue;
    }
    results.set(plan.command, await recordPlan(ctx, repo, push, plan, options));
  }
  return plans.map((plan) => {
    if ("kind" in plan) return plan;
    const { command } = plan;
    return results.get(command) ?? refuse(command.ref, "atomic push failure");
  });
}

const refuse = (ref: ByteText, reason: string): PushedPull => ({ kind: "refused", ref, reason });

function findRefusal(repo: RepositoryContext, { commands, reachable }: PullPush) {
  if (!isUnitOn(repo.row, "pulls") || !isAllowed(repo, { unit: "pulls", mode: "read" })) {
    return "User permission denied for creating pull-request.";
  }
  const hasBranch = reachable.refs.some(({ name }) => name.startsWith("refs/heads/"));
  if (!hasBranch) return "Can't create pull request for an empty repository.";
  return commands.length > PULLS_MAX
    ? `one push may open ${PULLS_MAX} pull requests at most`
    : undefined;
}

/** The change that a command makes. */
interface Plan {
  readonly command: RefCommand;
  readonly head: Node;
  readonly base: string;
  readonly baseOid: Oid;
  /** `<user>/<topic>`. */
  readonly topic: string;
  /** The pull request that it updates; undefined if it opens one. */
  readonly pull: PullContext | undefined;
  /** The number of the pull request; of a new one the number that it should get. */
  readonly number: number;
  /** The present value of its ref. */
  readonly from: Oid | undefined;
}

async function planAll(
  ctx: Ctx,
  repo: RepositoryContext,
  push: PullPush,
  options: PullOptions,
): Promise<(Plan | PushedPull)[]> {
  const { graph } = push.repository;
  const values = new Map(push.reachable.refs.map(({ name, oid }) => [name, oid]));
  const tokenRule = new TokenRule(ctx, push);
  const named = push.commands.map((command) => nameOf(ctx, command, values, options));
  const found = await findOpen(
    ctx,
    repo,
    named.flatMap((each) => (typeof each === "string" ? [] : [each.topic])),
  );
  const taken = new Set<string>();
  let next = repo.row.lastIssueNumber;
  const plans: (Plan | PushedPull)[] = [];
  for (const [at, command] of push.commands.entries()) {
    const name = named[at] as ReturnType<typeof nameOf>;
    const plan = await planOne(command, name);
    plans.push(typeof plan === "string" ? refuse(command.ref, plan) : plan);
  }
  return plans;

  async function planOne(
    command: RefCommand,
    name: ReturnType<typeof nameOf>,
  ): Promise<Plan | string> {
    if (typeof name === "string") return name;
    const { base, topic } = name;
    const key = `${base} ${topic}`;
    if (taken.has(key)) return "topic-branch is named twice";
    taken.add(key);
    const { ref, newOid } = command;
    // SECURITY: the refusal is the same for a removed object and one that never existed.
    if (!(await findNewValue(push, newOid))) return MISSING_OBJECTS;
    const head = graph.find(newOid);
    if (head === NO_NODE) return "a pull request must lead to a commit";
    const update = { ref, oldOid: null, newOid, peeledOid: null };
    const failure = await tokenRule.findRefusal(update);
    if (failure) return failure.message;
    const pull = found.find(
      ({ pull: { baseBranch, headBranch } }) => baseBranch === base && headBranch === topic,
    );
    const refusal = pull && findUpdateRefusal(ctx, push, pull, newOid, options);
    if (refusal !== undefined) return refusal;
    const number = pull?.row.number ?? ++next;
    const baseOid = values.get(branchRef(name.baseRef)) ?? "";
    const from = values.get(headRefOf(number));
    return { command, head, base, baseOid, topic, pull, number, from };
  }
}

/** The base and topic of a command, or a refusal. */
function nameOf(
  { actor }: Ctx,
  command: RefCommand,
  values: ReadonlyMap<string, Oid>,
  { topic: topicOption }: PullOptions,
): { base: string; baseRef: string; topic: string } | string {
  if (isDelete(command)) return "Can't delete not exist branch";
  if (!isRefName(command.ref)) return "funny refname";
  const target = parsePullTarget(command.ref, (name) => values.has(branchRef(name)));
  if (!target) return "base-branch does not exist";
  const topic = target.topic || topicOption;
  if (topic === "") return "topic-branch is not set";
  // eslint-disable-next-line no-control-regex
  if (topic.length > TOPIC_MAX || /[\0-\x1f\x7f]/.test(topic)) return "topic-branch is not valid";
  const prefix = `${actor.user?.lowerName ?? ""}/`;
  const { base, baseRef } = target;
  return { base, baseRef, topic: topic.startsWith(prefix) ? topic : `${prefix}${topic}` };
}

/** Finds the open pull requests of topics. */
async function findOpen(
  ctx: Ctx,
  repo: RepositoryContext,
  topics: readonly string[],
): Promise<PullContext[]> {
  if (topics.length === 0) return [];
  const rows = await selectPulls(ctx.db)
    .where(
      and(
        eq(pulls.headRepoId, repo.row.id),
        inArray(pulls.headBranch, [...new Set(topics)]),
        eq(pulls.isClosed, false),
        eq(pulls.repoId, repo.row.id),
        eq(pulls.flow, "agit"),
      ),
    )
    .orderBy(issues.id);
  return rows.map((row) => toPullContext(repo, row, []));
}

function findUpdateRefusal(
  { actor }: Ctx,
  { repository: { graph } }: PullPush,
  { row, pull }: PullContext,
  newOid: Oid,
  { isForced }: PullOptions,
): string | undefined {
  // SECURITY: a topic begins with the name of its user, which another account may have taken since.
  if (row.posterId !== actor.user?.id) return "User permission denied for writing.";
  if (pull.headOid === newOid) return "new commit is same with old commit";
  const former = graph.find(pull.headOid);
  const isForward = former !== NO_NODE && isAncestor(graph, former, graph.find(newOid));
  return isForward || isForced ? undefined : "request `force-push` push option";
}

/** Stores the rows of a pull request whose ref is stored. */
async function recordPlan(
  ctx: Ctx,
  repo: RepositoryContext,
  { repository }: PullPush,
  plan: Plan,
  options: PullOptions,
): Promise<PushedPull> {
  const { command, pull, head, baseOid } = plan;
  const { ref, newOid } = command;
  const { graph } = repository;
  try {
    let { number } = plan;
    let isForced = false;
    if (pull) {
      const known = [pull.pull.headOid, baseOid].map((oid) => graph.find(oid));
      const pushed = findHeadPush(
        graph,
        pull,
        head,
        known.filter((node) => node !== NO_NODE),
      );
      isForced = pushed.isForced;
      const [rules, same] = await Promise.all([
        loadRules(ctx, repo),
        findSameChanges(ctx, repository, [pull], newOid, () => baseOid),
      ]);
      const isSameChange = same.has(pull.row.id);
      const [first, ...rest] = [
        ...headStatements(ctx, pull, rules, { headOid: newOid, isSameChange }),
        ...headMoveStatements(ctx, pull, newOid, pushed),
      ];
      if (first) await ctx.db.batch([first, ...rest]);
    } else {
      number = await openPushedPull(ctx, repo, repository, { ...plan, headOid: newOid }, options);
    }
    const oldOid = pull?.pull.headOid ?? NULL_OID;
    const rewritten = { ref: headRefOf(number) as ByteText, oldOid, newOid, isForced };
    return { kind: "ok", ref, rewritten, number };
  } catch (error) {
    if (error instanceof Failure) return refuse(ref, error.message);
    throw error;
  }
}
