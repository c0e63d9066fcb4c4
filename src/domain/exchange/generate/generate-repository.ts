import { and, eq, getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";

import { isAllowed } from "../../../auth/access/permission.ts";
import { isConfined } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { newRepositoryId, type NewRepositoryRef } from "../../../db/new-repository-id.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  avatarImages,
  branchProtections,
  hooks,
  repositories,
  repositoryTopics,
  type User,
} from "../../../db/schema/index.ts";
import { eventArgument, type EventArgument, recordBy } from "../../../events/record.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { Failure, forbidden, invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { checkBranchName } from "../../code/branches/branch-name.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { commitChange, type SnapshotDraft } from "../../code/git/commit-change.ts";
import { describeFirstCommit } from "../../code/git/list-pushed-commits.ts";
import { findRef, openWholeSnapshot } from "../../code/git/open-snapshot.ts";
import { copyLabels } from "../../repos/labels/copy-labels.ts";
import { isLabelReader } from "../../repos/labels/label-owner.ts";
import { UNDELIVERED } from "../../repos/repository/copy-default-hooks.ts";
import { refuseNarrowToken } from "../../repos/repository/create-repository.ts";
import { deleteRepository } from "../../repos/repository/delete-repository.ts";
import { startFamily } from "../../repos/repository/fork-family.ts";
import { type ExpiryInput, newExpiry } from "../../repos/repository/expiry.ts";
import {
  type CreationContext,
  insertRepository,
} from "../../repos/repository/insert-repository.ts";
import { checkRepositoryName } from "../../repos/repository/repository-name.ts";
import { requireApprover } from "../webhooks/hooks/require-approver.ts";
import { copyLargeFiles, findLargeFiles } from "./copy-large-files.ts";
import { makeVariables } from "./expand-variables.ts";
import { type ContentPlan, planContent } from "./plan-content.ts";
import { makeFirstCommit, type SharedContent, shareTemplate } from "./share-template.ts";

/** A new repository, and what it takes from its template. */
export interface GenerateOptions {
  readonly name: string;
  readonly description: string;
  readonly isPrivate: boolean;
  /** "" for the template's. */
  readonly defaultBranch: string;
  /** The files of the default branch. */
  readonly hasContent: boolean;
  readonly hasTopics: boolean;
  readonly hasWebhooks: boolean;
  readonly hasAvatar: boolean;
  readonly hasLabels: boolean;
  readonly hasBranchRules: boolean;
  readonly expiry: ExpiryInput | undefined;
}

/**
 * Generates a repository from a template: a repository of its own, whose only commit has the
 * template's files.
 *
 * The files of a template without variables and large files are shared, so that their number does
 * not matter; others are copied. All input is validated, and the template read as far as it must be
 * known, before anything is written. If the content can't be stored, the repository is deleted
 * again.
 *
 * SECURITY: webhooks are copied for administrators of the template only: their addresses and
 * secrets are credentials, which the owner of the new repository could send to an address of their
 * own.
 *
 * @param template A repository whose code the caller may read.
 * @throws Failure `invalid` if it is no template, for invalid names, and if its files can't be
 * written; `forbidden` for webhooks of another's template and for labels that the caller may not
 * see, for a token that is too narrow, and above the maximum number of repositories; `conflict` for
 * a name that is taken, and for a template that is pushed to meanwhile; `not_found` if the template
 * is deleted meanwhile; `too_large` for a template that is too large to copy.
 */
export async function generateRepository(
  ctx: Ctx,
  template: RepositoryContext,
  creation: CreationContext,
  options: GenerateOptions,
): Promise<RepositoryContext> {
  const { row: source } = template;
  if (!source.isTemplate) throw invalid("this is not a template repo");
  checkRepositoryName(options.name);
  const defaultBranch = options.defaultBranch || source.defaultBranch;
  checkBranchName(defaultBranch, "default_branch");
  refuseNarrowToken(ctx, options.isPrivate || creation.owner.visibility !== "public");
  if (options.hasWebhooks) requireHookAccess(ctx, template);
  if (options.hasLabels && !isLabelReader(template)) {
    throw forbidden("you may not see the labels of the template");
  }

  const expiry = newExpiry(options.expiry, ctx.now);
  const base = {
    name: options.name,
    description: options.description,
    isPrivate: options.isPrivate,
    defaultBranch,
    expiry,
  };
  const insert = (
    columns: Parameters<typeof insertRepository>[2],
    shared?: SharedContent,
  ): Promise<RepositoryContext> =>
    insertRepository(ctx, creation, columns, {
      ...(shared && { packSourceId: source.id }),
      toMore: (repo) => [
        ...copyStatements(ctx, source.id, newRepositoryId(repo), options),
        ...(shared
          ? [
              startFamily(ctx.db, { repo, rootName: shared.location.objectName }),
              recordFirstCommit(ctx, repo, shared),
            ]
          : []),
      ],
    });
  const shared = options.hasContent
    ? await shareTemplate(ctx, template, creation.creator, defaultBranch)
    : undefined;
  if (shared) {
    const { location, sizeBytes } = shared;
    const columns = { ...base, ...location, sizeBytes, isEmpty: false };
    try {
      return withCopied(await insert(columns, shared), template, options);
    } catch (error) {
      // A refused row was certainly not written, so nothing refers to the object.
      if (error instanceof Failure) ctx.defer(ctx.git.repository(source).cancelFork(location));
      throw error;
    }
  }

  const content = options.hasContent
    ? await readTemplate(ctx, template, creation, options)
    : undefined;
  const objectName = crypto.randomUUID();
  const created = await insert({ ...base, objectName, networkName: objectName });
  const repo = withCopied(created, template, options);
  if (!content) return repo;
  try {
    await copyLargeFiles(ctx, source, repo.row, content.largeFiles);
    const sizeBytes = await writeContent(ctx, repo, creation.creator, content.plan);
    const lfsSizeBytes = content.largeFiles.reduce((sum, file) => sum + file.sizeBytes, 0);
    return { ...repo, row: { ...repo.row, isEmpty: false, sizeBytes, lfsSizeBytes } };
  } catch (error) {
    await deleteRepository(ctx, repo);
    throw error;
  }
}

/** The statement that records the push of the commit with which a repository begins. */
function recordFirstCommit(ctx: Ctx, repo: NewRepositoryRef, { seed, commit }: SharedContent) {
  const pushed = describeFirstCommit(seed.oid, commit);
  const event = eventArgument(ctx, {
    type: "repository.pushed",
    repoId: COMPUTED,
    ownerId: repo.ownerId,
    ...(isConfined(ctx.actor) && { isConfined: true }),
    pushId: seed.uploadId,
    part: 0,
    refCount: 1,
    updates: [{ ref: decodeText(seed.ref as ByteText), before: null, after: seed.oid, ...pushed }],
  });
  return recordOnNew(ctx.db, { repo, event });
}

interface EventOnNew {
  readonly repo: NewRepositoryRef;
  readonly event: EventArgument;
}

const recordOnNew = prepare((db, { repo, event }: Params<EventOnNew>) =>
  recordBy(db, event, { repoId: newRepositoryId(repo) }),
);

function requireHookAccess(ctx: Ctx, template: RepositoryContext): void {
  if (!isAllowed(template, { mode: "admin" })) {
    throw forbidden("webhooks are copied by administrators of the template only");
  }
  requireApprover(ctx.actor, { level: "repository", repo: template.row });
}

/** Plans the files; undefined for an empty template. */
async function readTemplate(
  ctx: Ctx,
  template: RepositoryContext,
  { owner }: CreationContext,
  { name, description }: GenerateOptions,
) {
  const { row } = template;
  const snapshot = await openWholeSnapshot(ctx, template, ctx.git.budget);
  const head = findRef(snapshot, branchRef(row.defaultBranch));
  if (!head) return undefined;
  const { repository } = snapshot;
  const { graph } = repository;
  const rootOid = graph.rootOid(graph.find(head.oid));
  if (rootOid === undefined) throw new Error("a branch without a tree");
  const variables = makeVariables(
    { ownerName: owner.name, name, description },
    { ownerName: template.owner.name, name: row.name, description: row.description },
    ctx.publicUrl,
    ctx.now,
  );
  const hasLargeFiles = row.lfsSizeBytes > 0;
  const plan = await planContent(repository, rootOid, variables, ctx.git.budget, hasLargeFiles);
  return { plan, largeFiles: await findLargeFiles(ctx, row, plan.pointers) };
}

/** Writes the first commit. @returns The size of its pack, in bytes. */
async function writeContent(
  ctx: Ctx,
  repo: RepositoryContext,
  author: User,
  plan: ContentPlan,
): Promise<number> {
  const commit = await makeFirstCommit(ctx, author, plan.rootOid);
  const makeChange = async ({ pack }: SnapshotDraft) => ({
    updates: [{ ref: branchRef(repo.row.defaultBranch), to: pack.add("commit", commit) }],
    packPieces: ctx.git.repository(repo.row).packObjects(plan.count + 1, withCommit(plan, commit)),
  });
  // No rule of an organization is about how its repositories begin.
  const { packBytes } = await commitChange(ctx, repo, makeChange, { cause: "service" });
  return packBytes;
}

async function* withCommit(plan: ContentPlan, content: Uint8Array) {
  yield { kind: "commit", content } as const;
  yield* plan.objects();
}

/** The statements that copy what is in D1, for the batch that inserts the repository. */
function copyStatements(
  ctx: Ctx,
  templateId: number,
  repoId: SQL<number>,
  { hasTopics, hasWebhooks, hasAvatar, hasLabels, hasBranchRules }: GenerateOptions,
) {
  const { db, now } = ctx;
  const template = alias(repositories, "template");
  const ofTemplate = (column: SQLiteColumn): SQL => sql`(
    select ${column} from ${repositories} ${template} where ${template.id} = ${templateId}
  )`;
  const isThis = sql`${repositories.id} = ${repoId}`;
  const topics = [
    insertSelect(
      db,
      repositoryTopics,
      { repoId, topicId: repositoryTopics.topicId, visibility: repositories.visibility },
      sql`
        from ${repositoryTopics}
        join ${repositories} on ${repositories.id} = ${repoId}
        where ${repositoryTopics.repoId} = ${templateId}`,
    ),
    db
      .update(repositories)
      .set({ topics: ofTemplate(template.topics) })
      .where(isThis),
  ];
  const isInUse = and(
    sql`${avatarImages.hash} = ${ofTemplate(template.avatarHash)}`,
    isNull(avatarImages.expiresAt),
  );
  // The template may just have lost its avatar: then there is no image to refer to.
  const avatar = db
    .update(repositories)
    .set({
      avatarHash: sql`coalesce((
        select ${avatarImages.hash}
        from ${avatarImages}
        where ${isInUse}
      ), '')`,
    })
    .where(isThis);
  const webhooks = insertSelect(
    db,
    hooks,
    {
      ...getTableColumns(hooks),
      id: sql`null`,
      repoId,
      approverId: ctx.actor.user?.id ?? 0,
      ...UNDELIVERED,
      createdAt: now,
      updatedAt: now,
    },
    sql`
      from ${hooks}
      where ${eq(hooks.repoId, templateId)}
      order by ${hooks.id}`,
  );
  // Users and teams on their lists who have no access to the new repository are neither shown nor
  // admitted there.
  const branchRules = insertSelect(
    db,
    branchProtections,
    {
      ...getTableColumns(branchProtections),
      id: sql`null`,
      repoId,
      createdAt: now,
      updatedAt: now,
    },
    sql`
      from ${branchProtections}
      where ${eq(branchProtections.repoId, templateId)}
      order by ${branchProtections.id}`,
  );
  return [
    ...(hasTopics ? topics : []),
    ...(hasAvatar ? [avatar] : []),
    ...(hasWebhooks ? [webhooks] : []),
    ...(hasLabels ? [copyLabels(ctx, templateId, repoId)] : []),
    ...(hasBranchRules ? [branchRules] : []),
  ];
}

/** The inserted row was returned before topics and avatar were copied. */
function withCopied(
  repo: RepositoryContext,
  { row: { topics, avatarHash } }: RepositoryContext,
  { hasTopics, hasAvatar }: GenerateOptions,
): RepositoryContext {
  return {
    ...repo,
    row: { ...repo.row, ...(hasTopics && { topics }), ...(hasAvatar && { avatarHash }) },
  };
}
