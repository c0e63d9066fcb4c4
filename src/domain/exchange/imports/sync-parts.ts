import { and, eq, inArray } from "drizzle-orm";

import { unseal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import { type ImportOptions, imports, type PullMirror } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { SEALED_FOR_MIRRORS } from "../mirrors/open-mirror.ts";
import { sealImportPassword } from "./open-import.ts";
import { hasUnreadPacks } from "./stages/large-files-stage.ts";

/**
 * How far two clocks may differ, in milliseconds: what changed at the last reading is read again.
 */
const CLOCKS_DIFFER_MS = 10 * 60_000;

type FollowingMirror = Pick<
  PullMirror,
  "parts" | "withLargeFiles" | "address" | "username" | "sealedPassword" | "approverId"
>;

/**
 * Synchronizes the parts of a mirror besides git: restarts its import, as a job of its own, for the
 * large files of new packs and for items that changed since the last run. Does nothing for a mirror
 * of git alone, and while the import is running.
 */
export async function syncParts(
  ctx: Ctx,
  repo: RepositoryContext,
  mirror: FollowingMirror,
): Promise<void> {
  if (mirror.parts.length === 0 && !mirror.withLargeFiles) return;
  const [before] = await ctx.db.select().from(imports).where(eq(imports.repoId, repo.row.id));
  // An import that ended before its end is for people to continue: what it lacks has not changed
  // since.
  const isFirstDone =
    before !== undefined && (before.state === "done" || before.options.since !== undefined);
  if (!isFirstDone || !["done", "failed"].includes(before.state)) return;
  const now = Date.now();
  const { options } = before;
  const readsFiles = mirror.withLargeFiles && (await hasUnread(ctx, repo, options));
  if (mirror.parts.length === 0 && !readsFiles) return;
  const read = options.readAt ?? before.createdAt;
  const since =
    before.state === "done" ? Math.max(0, read - CLOCKS_DIFFER_MS) : (options.since ?? 0);
  // SECURITY: an administrator of the service mapped these names for the former address. The
  // mirror's administrator may have changed it to a server of their own since.
  const authors = mirror.address === before.address ? options.authors : {};
  const next: ImportOptions = {
    ...options,
    authors,
    parts: mirror.parts,
    withLargeFiles: mirror.withLargeFiles,
    since,
    readAt: now,
  };
  const [row] = await ctx.db
    .update(imports)
    .set({
      address: mirror.address,
      username: mirror.username,
      sealedPassword: await resealed(ctx, mirror),
      doerId: mirror.approverId,
      state: "running",
      stage: readsFiles ? "large_files" : "labels",
      cursor: null,
      progress: {},
      notes: [],
      options: next,
      failureCount: 0,
      lastError: "",
      dueAt: now,
      leasedUntil: 0,
      finishedAt: null,
    })
    .where(and(eq(imports.id, before.id), inArray(imports.state, ["done", "failed"])))
    .returning({ id: imports.id });
  if (row) await ctx.remoteJobs.send([{ kind: "import", importId: row.id }]);
}

async function hasUnread(
  { git }: Ctx,
  { row }: RepositoryContext,
  options: ImportOptions,
): Promise<boolean> {
  const snapshot = await git.repository(row).snapshot("none");
  return hasUnreadPacks(snapshot, options);
}

/** The mirror's password as the import has it: an edit of the mirror may have changed it. */
async function resealed(
  ctx: Ctx,
  { sealedPassword }: Pick<PullMirror, "sealedPassword">,
): Promise<string | null> {
  if (sealedPassword === null) return null;
  const opened = await unseal(ctx.config.sealingKeys, sealedPassword, SEALED_FOR_MIRRORS);
  return opened.kind === "open" ? sealImportPassword(ctx, opened.text) : null;
}
