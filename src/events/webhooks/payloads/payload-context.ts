import type { User as UserRow } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Viewer } from "../../../shapes/viewer.ts";

/** Where something happened, by whom, and who is told. */
export interface PayloadContext {
  /** The repository, with what its hooks may be shown of it. */
  readonly where: RepositoryContext;
  /** Undefined for an account that is gone. */
  readonly sender: UserRow | undefined;
  readonly viewer: Viewer;
}
