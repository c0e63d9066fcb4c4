import { isAllowed } from "../auth/access/permission.ts";
import { type Actor, isOfJob } from "../auth/actor.ts";
import { type Door, incomingAt } from "../entrance/door.ts";
import {
  type Failure,
  type NotFoundReason,
  forbidden,
  notFound,
  unauthenticated,
} from "../lib/failure.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";

/** The message for anonymous callers that must sign in. */
export const SIGN_IN = "sign in with a user name and a password or token";

/**
 * SECURITY: anonymous callers can't distinguish a missing repository from a private one: both
 * respond with 401, which git also needs before it sends a password.
 */
const refuseUnknown = ({ user }: Actor, reason?: NotFoundReason): Failure =>
  user ? notFound("Repository not found", reason) : unauthenticated(SIGN_IN);

/** Refusals for git clients, with the one for readers that may not write. */
const gitDoor = (refuseWriting: () => Failure): Door => ({
  hasSudo: false,
  refuseAnonymous: () => unauthenticated(SIGN_IN),
  refuseScopes: () => forbidden("Forbidden"),
  refuseUnknown,
  requireAccess(actor, repo, requirement) {
    // A repository without readable code does not exist for git, nor does a wiki.
    const unit = requirement.unit ?? "code";
    if (!isAllowed(repo, { unit, mode: "read" })) throw refuseUnknown(actor);
    if (!isAllowed(repo, requirement)) throw refuseWriting();
    // Before the client sends a pack that would be refused.
    if (requirement.mode !== "read") refuseReadOnly(repo);
  },
});

/** Refuses writes to a repository that is read-only for everybody: archived, or a mirror. */
function refuseReadOnly({ row }: RepositoryContext): void {
  if (row.archivedAt !== null) {
    throw forbidden("this repository is archived: it can be read, not pushed to");
  }
  if (row.isMirror) throw forbidden("mirror repository is read-only");
}

const readDoor = gitDoor(() => forbidden("you may not push to this repository"));

/** A git request in the form that `src/entrance` takes. */
export const incoming = incomingAt(readDoor);

/** A push: it may begin with reading, and is refused where everybody may only read. */
export const incomingPush = incomingAt({
  ...readDoor,
  requireAccess(actor, repo, requirement) {
    readDoor.requireAccess(actor, repo, requirement);
    // People who read propose changes by a push; a job that was granted no writing does not.
    const { unit = "code" } = requirement;
    if (isOfJob(actor)) readDoor.requireAccess(actor, repo, { unit, mode: "write" });
    refuseReadOnly(repo);
  },
});

/** A Git LFS request. 401 as in Gitea: clients prompt for another name and password then. */
export const lfsIncoming = incomingAt(
  gitDoor(() => unauthenticated("you may not write to this repository")),
);
