import { and, eq, gt, inArray } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import {
  hooks,
  mails,
  repositories,
  users,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
import { recordAudit } from "../../people/audit/record-audit.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { continueImport } from "../../exchange/imports/continue-import.ts";
import { requestSync } from "../../exchange/mirrors/pull/request-sync.ts";
import { requestPushes } from "../../exchange/mirrors/push/request-push.ts";
import { redeliverFailed } from "../../exchange/webhooks/delivery/redeliver.ts";
import type { HookOwner } from "../../exchange/webhooks/hooks/hook-owner.ts";
import { findRepositoryById } from "../../repos/repository/find-repository.ts";
import { sendDueMails } from "../mail-delivery/send-due-mails.ts";

/** The credentials of an import stay. */
const SAME_CREDENTIALS = { username: "", password: "", token: "" };

/** What an administrator tries again, by the word that a form sends. */
const RETRIES: Readonly<Record<string, (ctx: Ctx, user: User, id: number) => Promise<unknown>>> = {
  hook: retryHook,
  "pull mirror": async (ctx, _, id) => requestSync(ctx, await findRepository(ctx, id)),
  "push mirror": async (ctx, _, id) => requestPushes(ctx, await findRepository(ctx, id)),
  import: async (ctx, user, id) =>
    continueImport(ctx, await findRepository(ctx, id), user, SAME_CREDENTIALS),
  mail: retryMail,
};

/**
 * Tries a job again that fails or has given up: all failed deliveries of a webhook since it fails,
 * the mirrors or the import of a repository, or a mail.
 *
 * @param id Of the webhook, the repository or the mail.
 * @throws Failure `not_found` for an unknown kind or id, and as the verbs of the kinds.
 */
export async function retryFailing(ctx: Ctx, user: User, kind: string, id: number): Promise<void> {
  const retry = Object.hasOwn(RETRIES, kind) ? RETRIES[kind] : undefined;
  if (!retry) throw notFound();
  await retry(ctx, user, id);
  await recordAudit(ctx, { kind: "job.retried", ownerId: 0, target: `${kind} ${id}` });
}

async function findRepository(ctx: Ctx, id: number): Promise<RepositoryContext> {
  const repo = await findRepositoryById(ctx, id);
  if (!repo) throw notFound();
  return repo;
}

async function retryHook(ctx: Ctx, _: User, id: number): Promise<void> {
  const { db } = ctx;
  const of = (column: typeof hooks.repoId | typeof hooks.ownerId) =>
    db.select({ id: column }).from(hooks).where(eq(hooks.id, id));
  const { found, repo, owner } = await batch(db, {
    found: db.select().from(hooks).where(eq(hooks.id, id)),
    repo: db
      .select()
      .from(repositories)
      .where(inArray(repositories.id, of(hooks.repoId))),
    owner: db
      .select()
      .from(users)
      .where(inArray(users.id, of(hooks.ownerId))),
  });
  const [hook] = found;
  if (!hook) throw notFound();
  const since = hook.failingSince ?? ctx.now;
  await redeliverFailed(ctx, toHookOwner(repo[0], owner[0]), id, since);
}

function toHookOwner(repo: Repository | undefined, owner: User | undefined): HookOwner {
  if (repo) return { level: "repository", repo };
  return owner ? { level: owner.kind, owner } : { level: "site" };
}

async function retryMail(ctx: Ctx, _: User, id: number): Promise<void> {
  const [made] = await ctx.db
    .update(mails)
    .set({ dueAt: ctx.now })
    .where(and(eq(mails.id, id), gt(mails.attempts, 0)))
    .returning({ id: mails.id });
  if (!made) throw notFound();
  ctx.defer(sendDueMails(ctx));
}
