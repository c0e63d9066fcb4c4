import { type SQL, sql } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import { repositories, type Repository, type RepositoryExpiry } from "../../../db/schema/index.ts";
import { forbidden, invalidField } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { noticeMs } from "../../code/git/extended-expiry.ts";

/** The end that is asked for a repository; what is undefined stays as it is. */
export interface ExpiryInput {
  /** In seconds from now; 0 for no end. */
  readonly expiresIn?: number | undefined;
  /** In milliseconds. */
  readonly expiresAt?: number | undefined;
  readonly action?: RepositoryExpiry["action"] | undefined;
  /** Whether a push moves the end, so that the repository has the same span again. */
  readonly extendsOnPush?: boolean | undefined;
}

/** Bounds of the time until the end: the schedule looks once a minute. */
const EXPIRES_IN_MIN = 60;
export const EXPIRES_IN_MAX = 10 * 365 * 24 * 60 * 60;

/**
 * The end of a repository after a change; null for none.
 *
 * @throws Failure `invalid` for a time out of bounds, for two times at once, and for a rule about
 *   an end that there is not.
 */
export function changeExpiry(
  current: RepositoryExpiry | null,
  { expiresIn, expiresAt, action, extendsOnPush }: ExpiryInput,
  now: number,
): RepositoryExpiry | null {
  if (expiresIn !== undefined && expiresAt !== undefined) {
    throw invalidField("expires_at", "must not be sent with expires_in");
  }
  if (expiresIn === 0) {
    if (action !== undefined || extendsOnPush === true) throw withoutEnd(action);
    return null;
  }
  const endsAt = expiresIn === undefined ? expiresAt : now + expiresIn * 1000;
  if (endsAt !== undefined) checkSpan(endsAt - now, expiresIn === undefined);
  if (endsAt === undefined && !current) {
    if (action === undefined && extendsOnPush !== true) return null;
    throw withoutEnd(action);
  }
  const end = endsAt ?? (current as RepositoryExpiry).expiresAt;
  const spanMs = Math.max(end - now, EXPIRES_IN_MIN * 1000);
  const isExtended = extendsOnPush ?? (current?.extensionMs ?? null) !== null;
  const keepsSpan = endsAt === undefined && current && extendsOnPush === undefined;
  return {
    expiresAt: end,
    action: action ?? current?.action ?? "delete",
    extensionMs: keepsSpan ? current.extensionMs : isExtended ? spanMs : null,
    checkAt: endsAt === undefined && current ? current.checkAt : end - noticeMs(spanMs),
  };
}

const withoutEnd = (action: ExpiryInput["action"]) =>
  invalidField(
    action === undefined ? "extends_on_push" : "expiry_action",
    "must be sent with expires_in or expires_at for a repository that does not end",
  );

function checkSpan(spanMs: number, isTime: boolean): void {
  if (spanMs >= EXPIRES_IN_MIN * 1000 && spanMs <= EXPIRES_IN_MAX * 1000) return;
  throw invalidField(
    isTime ? "expires_at" : "expires_in",
    `must be ${EXPIRES_IN_MIN} to ${EXPIRES_IN_MAX} seconds from now`,
  );
}

/** The end of a new repository; undefined for none. @throws Failure as `changeExpiry`. */
export const newExpiry = (input: ExpiryInput | undefined, now: number) =>
  (input && changeExpiry(null, input, now)) ?? undefined;

/**
 * Refuses an end to which the caller may not put a repository.
 *
 * SECURITY: a deletion that is near is a deletion, which is for those who own the repository. Other
 * administrators may only put it off, and let a push do so for as long as before.
 *
 * @throws Failure `forbidden`; `invalid` for the archive of a mirror, which has none.
 */
export function requireExpiryAccess(repo: RepositoryContext, next: RepositoryExpiry | null): void {
  const { row } = repo;
  if (!next) return;
  if (next.action === "archive") {
    if (row.isMirror) throw invalidField("expiry_action", "must not be archive for a mirror");
    return;
  }
  const isPutOff =
    row.expiry?.action === "delete" &&
    next.expiresAt >= row.expiry.expiresAt &&
    (next.extensionMs ?? 0) >= (row.expiry.extensionMs ?? 0);
  if (!isPutOff && !isAllowed(repo, { mode: "owner" })) {
    throw forbidden("only those who may delete the repository may let it be deleted");
  }
}

/** The condition that the end of a repository is still the one that was read. */
export const isStillEnding = ({ expiry }: Repository): SQL =>
  expiry === null
    ? sql`0`
    : sql`(
        ${repositories.expiry} ->> '$.expiresAt' = ${expiry.expiresAt}
        and ${repositories.expiry} ->> '$.action' = ${expiry.action}
      )`;
