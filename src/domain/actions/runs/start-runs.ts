import { and, eq, isNotNull } from "drizzle-orm";

import { isRepositoryAllowed } from "../../../auth/access/visible-repositories.ts";
import { accountActor } from "../../../auth/actor.ts";
import { principalOf } from "../../../auth/principal.ts";
import { isUnitOn } from "../../../auth/access/unit-switches.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { flagColumn } from "../../../db/db.ts";
import {
  repositories,
  type User,
  users,
  workflowRuns,
  workflows,
} from "../../../db/schema/index.ts";
import type { RecordedEvent } from "../../../events/consequence.ts";
import {
  listWebhookEvents,
  type WebhookEvent,
} from "../../../events/webhooks/payloads/webhook-event.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import type { WorkBudget } from "../../../lib/work-budget.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { findNode } from "../../code/git/find-node.ts";
import { findRef, openSnapshot, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import {
  openPayloadSource,
  type PayloadSource,
  readPayload,
} from "../../exchange/webhooks/dispatch/read-payload.ts";
import { headRefOf } from "../../pulls/pull/open-pull.ts";
import { readJobVariables } from "../variables/read-job-variables.ts";
import { isSkipped } from "../workflow/is-skipped.ts";
import { isTriggered } from "../workflow/is-triggered.ts";
import { listChangedPaths } from "./changed-paths.ts";
import { readMessage, subjectOfMessage } from "./commit-message.ts";
import { faultyRun, planRun, type RunBase } from "./plan-run.ts";
import { storePlanned } from "./store-planned.ts";
import { type ReadFile, readAll, storeWorkflows } from "./store-workflows.ts";
import { type Trigger, triggersOf } from "./trigger.ts";
import { readWorkflowFiles } from "./workflow-files.ts";

/** Starts the workflows of one event. */
export async function startWorkflowsOf(
  ctx: Ctx,
  recorded: RecordedEvent,
  budget: WorkBudget,
): Promise<undefined> {
  const { event } = recorded;
  const repoId = event.type === "repository.forked" ? event.parentId : (event.repoId ?? 0);
  const webhookEvents = listWebhookEvents(event);
  const anchor: WebhookEvent = { event: "repository", repoId, action: "created" };
  budget.consume(4);
  const source = await openPayloadSource(ctx, [...webhookEvents, anchor], recorded.actorId);
  const repo = source.find(repoId);
  if (!repo || repo.row.isEmpty || repo.row.archivedAt !== null) return undefined;
  if (!isUnitOn(repo.row, "actions") || !isUnitOn(repo.row, "code")) return undefined;
  const number = source.pull?.rows[0]?.issue.number;
  // SECURITY: reads with the permissions of the service: runs are for those who see the code.
  const snapshot = await openSnapshot(
    source.ctx,
    repo,
    ctx.git.budget,
    number === undefined ? "none" : [number],
  );
  const start: Start = { ctx, budget, source, repo, recorded, snapshot, files: new Map() };
  if (isOfDefaultBranch(recorded, repo)) {
    const place = await placeOfRef(start, branchRef(repo.row.defaultBranch));
    await storeWorkflows(ctx, repoId, place ? await filesAt(start, place) : []);
  }
  for (const [at, webhookEvent] of webhookEvents.entries()) {
    for (const trigger of triggersOf(webhookEvent)) {
      await startTriggered(start, trigger, webhookEvent, `${recorded.id}.${at}`);
    }
  }
  return undefined;
}

/** What starting the workflows of one event takes. */
interface Start {
  readonly ctx: Ctx;
  readonly budget: WorkBudget;
  readonly source: PayloadSource;
  readonly repo: RepositoryContext;
  readonly recorded: RecordedEvent;
  readonly snapshot: RepositorySnapshot;
  /** The files of commits that were read, by node. */
  readonly files: Map<Node, Promise<ReadFile[]>>;
}

/** A ref and its commit, from which runs take their files. */
interface Place {
  readonly ref: string;
  readonly node: Node;
}

/** Whether an event may change which workflows the default branch has. */
function isOfDefaultBranch({ event }: RecordedEvent, { row }: RepositoryContext): boolean {
  if (event.type === "repository.edited") return true;
  const ref = branchRef(row.defaultBranch);
  return event.type === "repository.pushed" && event.updates.some((update) => update.ref === ref);
}

async function placeOfRef(
  { snapshot }: Start,
  ref: string,
  oid = findRef(snapshot, ref)?.oid,
): Promise<Place | undefined> {
  const node = await findNode(snapshot.repository, oid ?? null);
  return node === NO_NODE ? undefined : { ref, node };
}

function placeOf(start: Start, { source }: Trigger): Promise<Place | undefined> {
  const { repo } = start;
  const found = start.source.pull?.rows[0];
  const pull = found?.pulls[0];
  switch (source.kind) {
    case "ref":
      return placeOfRef(start, source.ref, source.oid);
    case "tag":
      return placeOfRef(start, `refs/tags/${start.source.release?.release.tagName ?? ""}`);
    case "head":
      return placeOfRef(start, headRefOf(found?.issue.number ?? 0), pull?.headOid);
    case "base":
      // SECURITY: the files of the base, which the author of the head can't change.
      return placeOfRef(start, branchRef(pull?.baseBranch ?? ""));
    case "default branch":
      return placeOfRef(start, branchRef(repo.row.defaultBranch));
    default:
      return source satisfies never;
  }
}

function filesAt(start: Start, { node }: Place): Promise<ReadFile[]> {
  let reading = start.files.get(node);
  if (!reading) {
    reading = readWorkflowFiles(start.snapshot.repository, node).then(readAll);
    start.files.set(node, reading);
  }
  return reading;
}

/** Runs that cause each other by `workflow_run`, at most. */
const CHAIN_MAX = 5;

/** Starts the workflows that a trigger names, unless its commit asks for none. */
async function startTriggered(
  start: Start,
  trigger: Trigger,
  webhookEvent: WebhookEvent,
  cause: string,
): Promise<void> {
  const { ctx, budget, snapshot, source } = start;
  if ((source.work?.run.chainLength ?? 0) >= CHAIN_MAX) return;
  const place = await placeOf(start, trigger);
  const files = place ? await filesAt(start, place) : [];
  if (!place || files.length === 0) return;
  const pull = source.pull?.rows[0];
  const changedPaths = () =>
    listChangedPaths(snapshot.repository, place.node, changeBase(start, webhookEvent));
  const triggered: ReadFile[] = [];
  for (const each of files) {
    const { read } = each;
    // What a file that can't be read is for is not known: a push says so.
    const isOne =
      read.kind === "faulty"
        ? trigger.event === "push" && place.ref.startsWith("refs/heads/")
        : await isTriggered(read.workflow, trigger.event, {
            ref: place.ref,
            ...(trigger.action !== undefined && { action: trigger.action }),
            ...(isOfPull(trigger) && { baseBranch: pull?.pulls[0]?.baseBranch ?? "" }),
            ...(source.work && {
              baseBranch: source.work.run.headBranch,
              workflowName: source.work.run.name,
            }),
            changedPaths,
          });
    if (isOne) triggered.push(each);
  }
  if (triggered.length === 0) return;
  const message = await readMessage(snapshot, place.node);
  if (isSkippable(trigger) && [message, pull?.issue.title ?? ""].some(isSkipped)) return;
  budget.consume(3);
  const [payload, facts] = await Promise.all([readPayload(source, webhookEvent), readFacts(start)]);
  if (!payload) return;
  const base = toBase(start, trigger, place, JSON.stringify(payload.body), facts);
  for (const { file, read } of triggered) {
    if (facts.disabled.has(file.file)) continue;
    const run: RunBase = { ...base, cause: `${cause}.${trigger.event}`, file: file.file };
    const title = subjectOfMessage(message);
    const planned =
      read.kind === "faulty"
        ? faultyRun({ ...run, path: file.path, name: file.file, title }, read.faults)
        : await planRun(ctx, read.workflow, run, namesOf(start), { title, vars: facts.variables });
    budget.consume(6);
    await storePlanned(ctx, planned);
  }
}

/** The names of repository and actor in expressions. */
const namesOf = ({ repo, source }: Start) => ({
  repoName: repo.row.name,
  ownerName: repo.owner.name,
  actorName: source.sender?.name ?? "",
});

const isOfPull = ({ source }: Trigger): boolean => source.kind === "head" || source.kind === "base";

/** Whether a marker in the commit's message, or the pull request's title, skips it. */
const isSkippable = ({ event, action }: Trigger): boolean =>
  event === "push" ||
  (event.startsWith("pull_request") &&
    ["opened", "reopened", "synchronize"].includes(action ?? ""));

/** The commit with which the changes of an event are compared; none for all that a tree has. */
function changeBase({ source }: Start, webhookEvent: WebhookEvent): string | undefined {
  if (webhookEvent.event === "push") return webhookEvent.before ?? undefined;
  return source.pull?.rows[0]?.pulls[0]?.mergeBaseOid || undefined;
}

/** What the database knows about who causes runs, and which workflows are switched off. */
interface Facts {
  readonly disabled: ReadonlySet<string>;
  readonly variables: Readonly<Record<string, string>>;
  /** Whether the author of a pull request may start runs without being asked. */
  readonly isTrusted: boolean;
}

async function readFacts({ ctx, repo, source }: Start): Promise<Facts> {
  const { db } = ctx;
  const { id: repoId, ownerId } = repo.row;
  const author = source.pull?.rows[0]?.issue.posterId ?? 0;
  const [variables, { disabled, people, approved }] = await Promise.all([
    readJobVariables(ctx, { repoId, ownerId }),
    batch(db, {
      disabled: db
        .select({ file: workflows.file })
        .from(workflows)
        .where(and(eq(workflows.repoId, repoId), eq(workflows.isDisabled, true))),
      people: db.select().from(users).where(eq(users.id, author)),
      approved: db
        .select({ id: workflowRuns.id })
        .from(workflowRuns)
        .where(
          and(
            eq(workflowRuns.repoId, repoId),
            eq(workflowRuns.actorId, author),
            isNotNull(workflowRuns.approverId),
          ),
        )
        .limit(1),
    }),
  ]);
  const [person] = people;
  return {
    disabled: new Set(disabled.map(({ file }) => file)),
    variables,
    isTrusted:
      person !== undefined &&
      !person.isRestricted &&
      (approved.length > 0 || (await mayWriteActions(ctx, repoId, person))),
  };
}

async function mayWriteActions({ db }: Ctx, repoId: number, user: User): Promise<boolean> {
  const requirement = { unit: "actions", mode: "write" } as const;
  const isAllowed = isRepositoryAllowed(principalOf(accountActor(user)), requirement);
  const found = await db
    .select({ isAllowed: flagColumn(isAllowed, "is_allowed") })
    .from(repositories)
    .where(eq(repositories.id, repoId));
  return found[0]?.isAllowed ?? false;
}

/** The columns that all runs of a trigger share. */
function toBase(
  { repo, source, recorded, snapshot }: Start,
  { event, source: { kind } }: Trigger,
  { ref, node }: Place,
  payload: string,
  { isTrusted }: Facts,
): Omit<RunBase, "cause" | "file"> {
  const found = source.pull?.rows[0];
  const pull = kind === "head" || kind === "base" ? found?.pulls[0] : undefined;
  const isForeign = pull !== undefined && (pull.headRepoId !== repo.row.id || pull.flow === "agit");
  const isFromFork = kind === "head" && isForeign;
  return {
    repoId: repo.row.id,
    event,
    payload,
    ref,
    headOid: snapshot.repository.graph.oid(node),
    headBranch: pull?.headBranch ?? ref.replace(/^refs\/(?:heads|tags)\//, ""),
    pullNumber: pull ? (found?.issue.number ?? null) : null,
    baseBranch: pull?.baseBranch ?? "",
    headRepoId: pull && pull.headRepoId !== repo.row.id ? pull.headRepoId : null,
    actorId: recorded.actorId,
    chainLength: (source.work?.run.chainLength ?? 0) + 1,
    isFromFork,
    needsApproval: isFromFork && !isTrusted,
  };
}
