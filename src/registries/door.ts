import { requireAccess } from "../auth/access/permission.ts";
import { incomingAt, type IncomingRequest } from "../entrance/door.ts";
import type { PackageDoor } from "../entrance/enter-packages.ts";
import { notFound, unauthenticated } from "../lib/failure.ts";
import type { RegistryContext } from "./env.ts";

/**
 * Refusals for clients of registries. Like Gitea's they are 401 also for a caller whose rights or
 * scopes are too few: clients then ask for another credential.
 *
 * SECURITY: anonymous callers can't distinguish a missing owner from one that they may not see:
 * both are 401, which clients also need before they send a password.
 */
const REGISTRY_DOOR: PackageDoor = {
  hasSudo: false,
  refuseAnonymous: () => unauthenticated("sign in with a user name and a password or token"),
  refuseScopes: (missing) =>
    unauthenticated(`the token does not have the scope ${missing.join(" and ")}`),
  refuseUnknown: ({ user }, reason) =>
    user
      ? notFound("the owner of the packages does not exist", reason)
      : unauthenticated("sign in with a user name and a password or token"),
  refusePackageAccess: () => unauthenticated("you may not change packages of this owner"),
  requireAccess: (_actor, repo, requirement) => requireAccess(repo, requirement),
};

const openIncoming = incomingAt(REGISTRY_DOOR);

/** A request of a registry in the form that `src/entrance` takes. */
export const incoming = (c: RegistryContext): IncomingRequest & { door: PackageDoor } => ({
  ...openIncoming(c),
  door: REGISTRY_DOOR,
});
