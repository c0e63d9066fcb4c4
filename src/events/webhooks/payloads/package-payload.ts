import type { User as UserRow } from "../../../db/schema/index.ts";
import { toOrganization } from "../../../shapes/orgs/organization.ts";
import { toPackage } from "../../../shapes/packages/package.ts";
import { type RepositoryContext, toRepository } from "../../../shapes/repos/repository.ts";
import type { Viewer } from "../../../shapes/viewer.ts";
import type { PackagePayload } from "../../../shapes/webhooks/package-payload.ts";
import type { OfPackageVersion } from "../../kinds/package-event.ts";
import { toSender } from "./receiver.ts";

/** The version that a webhook event is about, as its event names it. */
export type PackageSubject = Omit<OfPackageVersion, "repoId" | "packageId">;

/** The context of the payload of a package. */
interface PackagePayloadContext {
  readonly owner: UserRow;
  /** Undefined for a deleted account. */
  readonly creator: UserRow | undefined;
  /** Undefined for a package without one, and for one that was deleted. */
  readonly repo: RepositoryContext | undefined;
  /** Undefined for a deleted account. */
  readonly sender: UserRow | undefined;
  readonly viewer: Viewer;
}

export function toPackagePayload(
  { owner, creator, repo, sender, viewer }: PackagePayloadContext,
  action: PackagePayload["action"],
  { versionId, packageType, name, version, publishedAt }: PackageSubject,
): PackagePayload {
  const entry = {
    version: { id: versionId, version, createdAt: publishedAt },
    pkg: { row: { type: packageType, name }, owner: { account: owner }, repo },
    creator,
  };
  return {
    action,
    repository: repo ? toRepository(repo, viewer) : null,
    package: toPackage(entry, viewer),
    organization: owner.kind === "organization" ? toOrganization(owner, viewer) : null,
    sender: toSender(sender, viewer),
  };
}
