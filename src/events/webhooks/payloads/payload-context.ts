import type { User as UserRow } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Viewer } from "../../../shapes/viewer.ts";

/** The repository of a webhook event, its sender, and the viewer that its payload is built for. */
export interface PayloadContext {
  /** The repository, with the permission that its hooks are shown it with. */
  readonly repo: RepositoryContext;
  /** Undefined for a deleted account. */
  readonly sender: UserRow | undefined;
  readonly viewer: Viewer;
}
