import type { Ctx } from "../../../context.ts";
import { ExpiringMap } from "../../../lib/expiring-map.ts";
import { readJobSecrets } from "../secrets/read-job-secrets.ts";

/** Whose secrets a task gets. */
export interface SecretsOwner {
  readonly repoId: number;
  readonly ownerId: number;
  readonly isFromFork: boolean;
}

type Secrets = Readonly<Record<string, string>>;

/** Tasks whose secrets an isolate keeps, and for how long, in milliseconds. */
const TASKS_MAX = 200;
const KEPT_MS = 10 * 60 * 1000;

/** The secrets of tasks whose logs arrive: each piece of a log is masked. */
const kept = new ExpiringMap<Secrets>(TASKS_MAX);

/**
 * The secrets of a task by name; none for one that strangers wrote.
 *
 * SECURITY: a run of a fork gets no secret, whoever approves it.
 */
export async function readTaskSecrets(
  ctx: Ctx,
  { id }: { readonly id: number },
  { isFromFork, ...place }: SecretsOwner,
): Promise<Secrets> {
  if (isFromFork) return {};
  const key = String(id);
  const known = kept.get(key, ctx.now);
  if (known) return known;
  const secrets = await readJobSecrets(ctx, place);
  kept.set(key, secrets, ctx.now + KEPT_MS);
  return secrets;
}
